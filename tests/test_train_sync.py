"""Weights to a running server: what it is told, in which order, and what happens where it does not listen."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from torch import Tensor

from uigym.errors import MissingExtra, PolicyError
from uigym.policy.endpoint import Endpoint
from uigym.train import sync


class Held:
    """Weights that are simply there."""

    def __init__(self) -> None:
        self.tensors = {"a.weight": torch.arange(6.0).view(2, 3), "b.bias": torch.ones(2, dtype=torch.bfloat16)}

    def named(self) -> Iterator[tuple[str, Tensor]]:
        yield from self.tensors.items()

    def save(self, folder: Path) -> None:
        raise AssertionError("nothing is to be saved")


class Pipe:
    """The way between a trainer and a server in one process."""

    def __init__(self) -> None:
        self.met: queue.Queue[tuple[int, int]] = queue.Queue()
        self.tensors: queue.Queue[tuple[str, Tensor]] = queue.Queue()

    def open(self, port: int, world: int) -> None:
        self.met.put((port, world))

    def send(self, tensors: Iterator[tuple[str, Tensor]]) -> None:
        for item in tensors:
            self.tensors.put(item)


class Server:
    """Takes weights as vLLM's server does: told of them first, then they come."""

    def __init__(self, pipe: Pipe):
        self.pipe, self.calls, self.received, self.ready = pipe, list[str](), dict[str, Tensor](), False
        self.refuses = ""
        self.app = FastAPI()
        self.app.add_api_route("/get_world_size", lambda: {"world_size": 1}, methods=["GET"])
        self.app.add_api_route("/{path}", self.called, methods=["POST"])

    async def called(self, path: str, request: Request) -> Any:
        self.calls.append(path + (f"?{request.url.query}" if request.url.query else ""))
        body = await request.json() if await request.body() else {}
        if path == self.refuses or (path == "update_weights" and not self.ready):
            return JSONResponse({"detail": f"no {path}"}, status_code=500)
        if path == "init_weight_transfer_engine":
            place = body["init_info"]
            port, world = await asyncio.to_thread(self.pipe.met.get, timeout=20)
            assert (port, world) == (place["master_port"], place["world_size"]) and place["rank_offset"] == 1
            self.ready = True
        if path == "update_weights":
            info = body["update_info"]
            for name, dtype, shape in zip(info["names"], info["dtype_names"], info["shapes"], strict=True):
                got, value = await asyncio.to_thread(self.pipe.tensors.get, timeout=20)
                assert (got, str(value.dtype), list(value.shape)) == (name, f"torch.{dtype}", shape)
                self.received[name] = value
        return {"message": "done"}


@asynccontextmanager
async def serving(server: Server) -> AsyncIterator[Endpoint]:
    config = uvicorn.Config(server.app, host="127.0.0.1", port=0, log_level="error", lifespan="off")
    process = uvicorn.Server(config)
    begun = asyncio.Event()
    start = process.startup

    async def startup(sockets: Any = None) -> None:
        await start(sockets)
        begun.set()

    process.startup = startup  # type: ignore[method-assign]
    task = asyncio.create_task(process.serve())
    await begun.wait()
    endpoint = Endpoint(f"http://127.0.0.1:{process.servers[0].sockets[0].getsockname()[1]}")
    try:
        yield endpoint
    finally:
        await endpoint.close()
        process.should_exit = True
        await task


UPDATE = ["start_weight_update", "update_weights", "finish_weight_update"]


async def test_weights_arrive_and_the_server_is_met_once() -> None:
    pipe, held = Pipe(), Held()
    server, nccl = Server(pipe), sync.Nccl(pipe)
    async with serving(server) as endpoint:
        await nccl.send(held, endpoint, 1)
        held.tensors["a.weight"] = held.tensors["a.weight"] + 1
        await nccl.send(held, endpoint, 2)
    assert server.calls == ["init_weight_transfer_engine", *UPDATE, *UPDATE]
    assert all(torch.equal(server.received[name], value) for name, value in held.tensors.items())


async def test_a_server_that_began_anew_is_met_again() -> None:
    pipe, held = Pipe(), Held()
    server, nccl = Server(pipe), sync.Nccl(pipe)
    async with serving(server) as endpoint:
        await nccl.send(held, endpoint, 1)
        server.ready, server.received = False, {}
        await nccl.send(held, endpoint, 2)
    assert server.calls.count("init_weight_transfer_engine") == 2 and server.received.keys() == held.tensors.keys()


@pytest.mark.parametrize("refused", ["init_weight_transfer_engine", "start_weight_update", "finish_weight_update"])
async def test_a_server_that_refuses_is_an_error_of_the_machinery(refused: str) -> None:
    pipe = Pipe()
    server, nccl = Server(pipe), sync.Nccl(pipe)
    server.refuses = refused
    async with serving(server) as endpoint:
        with pytest.raises(PolicyError, match=refused):
            await nccl.send(Held(), endpoint, 1)
        server.refuses, pipe.met = "", queue.Queue()
        await nccl.send(Held(), endpoint, 2)
    assert server.received


async def test_a_way_that_breaks_is_not_waited_for() -> None:
    class Broken(Pipe):
        def send(self, tensors: Iterator[tuple[str, Tensor]]) -> None:
            for item in Held().named():  # the server is to go on, so that the test ends
                self.tensors.put(item)
            raise OSError("the cable is cut")

    pipe = Broken()
    async with serving(Server(pipe)) as endpoint:
        with pytest.raises(PolicyError, match="the cable is cut"):
            await sync.Nccl(pipe).send(Held(), endpoint, 1)
    assert not [thread for thread in threading.enumerate() if thread.name == "weights"]


async def test_a_server_sleeps_and_wakes_in_two_steps() -> None:
    server = Server(Pipe())
    async with serving(server) as endpoint:
        await sync.sleep(endpoint)
        await sync.wake_weights(endpoint)
        await sync.wake_cache(endpoint)
    assert server.calls == ["sleep?level=1&mode=wait", "wake_up?tags=weights", "wake_up?tags=kv_cache"]


@pytest.mark.parametrize("way", [sync.Broadcast, sync.Ipc])
def test_without_vllm_it_says_what_to_install(way: Any) -> None:
    with pytest.raises(MissingExtra, match="vllm"):
        way()
