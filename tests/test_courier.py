"""Processes that ask a server: pictures go to each of them once, and one that dies loses nothing."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from uigym.errors import PolicyError
from uigym.policy.asking import Question
from uigym.policy.courier import Courier, Couriers
from uigym.policy.endpoint import Endpoint, Unreachable
from uigym.product.command import free_port
from uigym.train.windows import Picture

PICTURE = Picture("aa", 32, 32, 2)


class Server:
    """Renders each picture to two placeholders; answers with how many ids it was sent, or as it is told."""

    def __init__(self) -> None:
        self.rendered: list[str] = []
        self.asked: list[Any] = []
        self.holds = asyncio.Event()
        self.holds.set()
        self.left = 0
        """Requests that were given up by who asked."""
        self.app = FastAPI()
        self.app.post("/v1/chat/completions/render")(self.render)
        self.app.post("/inference/v1/generate")(self.generate)

    async def render(self, request: Request) -> JSONResponse:
        body = await request.json()
        self.rendered.append(body["messages"][0]["content"][0]["image_url"]["url"])
        place = {"offset": 1, "length": 2}
        features = {"mm_placeholders": {"image": [place]}, "kwargs_data": {"image": ["tensors"]}}
        return JSONResponse({"features": features, "token_ids": [1, 9, 9]})

    async def generate(self, request: Request) -> JSONResponse:
        body = await request.json()
        self.asked.append(body)
        if body["sampling_params"].get("refuse"):
            return JSONResponse({"detail": "no such id"}, 400)
        while not self.holds.is_set():
            await asyncio.sleep(0.02)
            if await request.is_disconnected():
                self.left += 1
                self.holds.set()
        count = len(body["token_ids"])
        return JSONResponse({"choices": [{"finish_reason": "stop", "token_ids": [count], "logprobs": {"content": []}}]})


@pytest.fixture
async def server() -> AsyncIterator[tuple[Server, Endpoint]]:
    made, port = Server(), free_port()
    running = uvicorn.Server(uvicorn.Config(made.app, host="127.0.0.1", port=port, log_level="error"))
    task = asyncio.create_task(running.serve())
    await until(lambda: running.started)
    yield made, Endpoint(f"http://127.0.0.1:{port}")
    running.should_exit = True
    await task


@pytest.fixture
async def couriers() -> AsyncIterator[Couriers]:
    made = Couriers(2)
    yield made
    await made.close()


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)


def question(**sampling: Any) -> Question:
    return Question((1, 9, 9, 4), (PICTURE,), sampling, salt="version-0")


async def test_a_picture_goes_the_way_once(server: tuple[Server, Endpoint], couriers: Couriers) -> None:
    made, endpoint = server
    for _ in range(3):
        answer = await couriers.answer(endpoint, question(), {"aa": b"png"})
        assert answer["choices"][0]["token_ids"] == [4]
    assert len(made.rendered) == 1
    data = [body["features"]["kwargs_data"]["image"] for body in made.asked]
    assert data == [["tensors"], [None], [None]]
    couriers.forget()  # the server, not what was processed for it
    await couriers.answer(endpoint, question(), {"aa": b"png"})
    assert made.asked[-1]["features"]["kwargs_data"]["image"] == ["tensors"]
    assert len(made.rendered) == 1


async def test_many_at_once_get_their_own_answers(server: tuple[Server, Endpoint], couriers: Couriers) -> None:
    _, endpoint = server
    questions = [Question((1,) * n, (), {}, salt="v") for n in range(1, 21)]
    answers = await asyncio.gather(*(couriers.answer(endpoint, each, {}) for each in questions))
    assert [answer["choices"][0]["token_ids"][0] for answer in answers] == list(range(1, 21))
    assert len(couriers.all) == 2


async def test_a_refusal_is_no_reason_to_ask_again(server: tuple[Server, Endpoint], couriers: Couriers) -> None:
    _, endpoint = server
    with pytest.raises(PolicyError, match=r"400.*no such id") as refused:
        await couriers.answer(endpoint, question(refuse=True), {"aa": b"png"})
    assert not isinstance(refused.value, Unreachable)
    with pytest.raises(Unreachable, match="cannot be reached"):
        await couriers.answer(Endpoint("http://127.0.0.1:9"), question(), {"aa": b"png"})


async def test_one_that_is_killed_is_replaced(server: tuple[Server, Endpoint], couriers: Couriers) -> None:
    made, endpoint = server
    await couriers.answer(endpoint, question(), {"aa": b"png"})
    made.holds.clear()
    waiting = asyncio.create_task(couriers.answer(endpoint, question(), {"aa": b"png"}))
    await until(lambda: len(made.asked) == 2)
    (holder,) = (courier for courier in couriers.all if courier.waiting)
    os.kill(holder.pid, signal.SIGKILL)
    with pytest.raises(Unreachable, match=rf"pid {holder.pid}\) has ended"):
        await waiting
    made.holds.set()
    answer = await couriers.answer(endpoint, question(), {"aa": b"png"})
    assert answer["choices"][0]["token_ids"] == [4]
    assert holder not in couriers.all


async def test_what_is_cancelled_here_is_given_up_there(server: tuple[Server, Endpoint], couriers: Couriers) -> None:
    made, endpoint = server
    made.holds.clear()
    waiting = asyncio.create_task(couriers.answer(endpoint, question(), {"aa": b"png"}))
    await until(lambda: bool(made.asked))
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await asyncio.wait_for(made.holds.wait(), 20)
    assert made.left == 1


async def test_it_asks_for_what_it_does_not_have(server: tuple[Server, Endpoint]) -> None:
    _, endpoint = server
    courier = Courier()
    try:
        courier.has.add("aa")  # as if it had been dropped to make room
        answer = await courier.answer(endpoint, question(), {"aa": b"png"})
        assert answer["choices"][0]["token_ids"] == [4]
    finally:
        courier.close()
