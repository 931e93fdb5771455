"""A server as a process of ours: started, asked, killed, started again, ended; and what it is asked exactly."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import torch
from fake_vllm import FakeVLLM, serving
from PIL import Image

from uigym.errors import ConfigError, PolicyError
from uigym.models import families
from uigym.models.families.random import random_checkpoint
from uigym.policy.endpoint import Endpoint, Unreachable
from uigym.policy.features import spans
from uigym.policy.openai import OpenAIPolicy
from uigym.policy.sampler import Reply, Sampling
from uigym.policy.vllm import VLLMPolicy, VLLMSampler
from uigym.policy.vllm_server import Given, Serving, VLLMServer
from uigym.train.windows import Picture
from uigym.types import Done, Invalid, Observation

QUICK = Serving(start_s=60)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    return random_checkpoint(tmp_path_factory.mktemp("model"), "qwen3_vl")


@pytest.fixture
async def fake(folder: Path) -> AsyncIterator[tuple[FakeVLLM, str]]:
    server = FakeVLLM(folder, longest=2048)
    async with serving(server) as url:
        yield server, url


def png(number: int = 0, size: tuple[int, int] = (64, 64)) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, (number, 40, 90)).save(out, "PNG")
    return out.getvalue()


async def ask(sampler: VLLMSampler, *numbers: int, **more: Any) -> Reply:
    family = sampler.family
    pictures = [family.picture(f"p{number}", 64, 64) for number in numbers]
    pngs = {f"p{number}": png(number) for number in numbers}
    ids = family.fresh("Do it.", [], "", pictures)
    return await sampler.sample(ids, pictures, pngs, Sampling(**{"max_tokens": 3, **more}))


def bodies(fake: FakeVLLM, path: str = "/inference/v1/generate") -> list[Any]:
    return [body for asked, body in fake.asked if asked == path]


# --- what is asked -----------------------------------------------------------------------------------------


async def test_a_request_leaves_nothing_to_the_server(fake: tuple[FakeVLLM, str]) -> None:
    server, url = fake
    sampler = VLLMSampler(server.family, url)
    await ask(sampler, 1, temperature=0.7, seed=9)
    (body,) = bodies(server)
    said = body["sampling_params"]
    assert {name: said[name] for name in ("temperature", "top_p", "top_k", "max_tokens", "seed", "logprobs")} == {
        "temperature": 0.7, "top_p": 1.0, "top_k": 0, "max_tokens": 3, "seed": 9, "logprobs": 0,
    }  # fmt: skip
    assert said["logit_bias"] == {str(i): -1e9 for i in server.family.banned}
    assert said["stop_token_ids"] == [server.family.end] and said["ignore_eos"] is True
    assert body["cache_salt"] == "version-0"
    (place,) = body["features"]["mm_placeholders"]["image"]
    run = body["token_ids"][place["offset"] : place["offset"] + place["length"]]
    assert run == [server.family.placeholder] * 4  # type: ignore[attr-defined]
    await sampler.close()


async def test_a_picture_is_processed_once_and_sent_once(fake: tuple[FakeVLLM, str]) -> None:
    server, url = fake
    sampler = VLLMSampler(server.family, url, remembers=True)
    await asyncio.gather(ask(sampler, 1), ask(sampler, 1))
    await ask(sampler, 1, 2, 2)
    assert len(bodies(server, "/v1/chat/completions/render")) == 2
    data = bodies(server)[-1]["features"]["kwargs_data"]["image"]
    assert [each is None for each in data] == [True, False, True]
    await sampler.close()


async def test_a_server_that_has_forgotten_a_picture_is_sent_it_again(fake: tuple[FakeVLLM, str]) -> None:
    server, url = fake
    sampler = VLLMSampler(server.family, url, remembers=True)
    await ask(sampler, 1)
    server.pictures.clear()
    assert (await ask(sampler, 1)).ids
    sent = [body["features"]["kwargs_data"]["image"][0] is not None for body in bodies(server)]
    assert sent == [True, False, True]
    assert len(bodies(server, "/v1/chat/completions/render")) == 1
    await sampler.close()


async def test_a_server_that_is_not_said_to_remember_is_sent_every_picture(fake: tuple[FakeVLLM, str]) -> None:
    server, url = fake
    sampler = VLLMSampler(server.family, url)
    await ask(sampler, 1)
    await ask(sampler, 1)
    assert all(body["features"]["kwargs_data"]["image"][0] for body in bodies(server))
    await sampler.close()


@pytest.mark.parametrize(("trained", "names"), [(False, ["p1", "p1"]), (True, ["p1-0", "p1-4"])])
async def test_pictures_have_another_name_when_the_vision_tower_has_changed(
    fake: tuple[FakeVLLM, str], trained: bool, names: list[str]
) -> None:
    server, url = fake
    given = Given(url)

    class Sent:
        async def send(self, weights: Any, endpoint: Endpoint, version: int) -> None:
            assert endpoint.url == url and weights == "weights"

    sampler = VLLMSampler(server.family, given, trains_vision=trained, remembers=True, transfer=Sent())
    await ask(sampler, 1)
    await sampler.pause()
    await sampler.update("weights", 4)  # type: ignore[arg-type]
    await sampler.resume()
    reply = await ask(sampler, 1)
    assert (reply.version, reply.last_version) == (4, 4)
    assert [body["features"]["mm_hashes"]["image"][0] for body in bodies(server)] == names
    assert [body["cache_salt"] for body in bodies(server)] == ["version-0", "version-4"]
    assert bodies(server)[-1]["features"]["kwargs_data"]["image"][0]  # a pause forgets what was sent
    await sampler.close()


def test_placeholders_that_do_not_fit_the_pictures() -> None:
    picture = Picture("p", 64, 64, 4)
    assert spans([1, 9, 9, 9, 9, 1, 9, 9, 9, 9], [picture, picture], 9) == [(1, 4), (6, 4)]
    for ids in ([1, 9, 9, 9, 1], [9, 9, 9, 9, 1, 9], [9, 9, 1, 9, 9], [1]):
        with pytest.raises(PolicyError, match="runs of placeholders"):
            spans(ids, [picture], 9)


async def test_a_server_that_cuts_pictures_otherwise_is_told(fake: tuple[FakeVLLM, str]) -> None:
    server, url = fake
    sampler = VLLMSampler(server.family, url)
    wrong = Picture("p", 64, 64, 5)
    with pytest.raises(PolicyError, match="5 placeholders here and 4 in the server"):
        await sampler.sample([1], [wrong], {"p": png()}, Sampling())
    await sampler.close()


# --- what goes wrong ---------------------------------------------------------------------------------------


async def test_a_server_that_fails_is_asked_again_and_then_no_more(fake: tuple[FakeVLLM, str]) -> None:
    server, url = fake
    sampler = VLLMSampler(server.family, url)
    server.faults["/inference/v1/generate"] = 2
    assert (await ask(sampler, 1)).ids
    server.faults["/inference/v1/generate"] = 99
    with pytest.raises(PolicyError, match=r"failed 3 times at one reply; the last time: .*500"):
        await ask(sampler, 1)
    await sampler.close()


async def test_no_server_at_all() -> None:
    given = Given("http://127.0.0.1:9", patience_s=0.3)
    with pytest.raises(PolicyError, match=r"no server at http://127.0.0.1:9 within 0.3 s.*Is it running"):
        await given.ready()
    with pytest.raises(ConfigError, match="is no server's address"):
        Given("localhost:8000")


async def test_an_answer_that_takes_too_long() -> None:
    over = asyncio.Event()

    async def never(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await over.wait()
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(never, "127.0.0.1", 0) as server:
        endpoint = Endpoint(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", timeout_s=0.2)
        with pytest.raises(Unreachable, match=r"no answer within 0\.2 s"):
            await endpoint.post("/pause", mode="keep")
        await endpoint.close()
        over.set()
        await asyncio.sleep(0.05)


# --- a process of ours -------------------------------------------------------------------------------------


# A server that says to everybody the id that stands in its checkpoint, and in its first life dies at its second reply.
BRIEF = """
import http.server, json, os, sys
from pathlib import Path
life, folder, port = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
first = not life.exists()
life.touch()

class Handler(http.server.BaseHTTPRequestHandler):
    said = 0
    def log_message(self, *args): pass
    def do_GET(self): self.say({})
    def do_POST(self):
        global folder
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or "{}")
        if self.path == "/collective_rpc": folder = Path(body["kwargs"]["weights_path"])
        if self.path != "/inference/v1/generate": return self.say({})
        Handler.said += 1
        if first and Handler.said == 2:
            print("out of memory, as it were", flush=True)
            os._exit(3)
        id = int((folder / "id").read_text())
        self.say({"choices": [{"token_ids": [id], "logprobs": {"content": [{"logprob": -1.0}]}, "finish_reason": "stop"}]})
    def say(self, answer):
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


class Saved:
    """Weights that are a file with an id in it."""

    def __init__(self, id: int):
        self.id = id

    def named(self) -> Any:
        raise AssertionError("never asked for")

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text("{}")
        (folder / "id").write_text(str(self.id))


def started(folder: Path, *words: str) -> VLLMServer:
    return VLLMServer(folder, QUICK, command=[sys.executable, *words, "{folder}", "{port}"])


def is_there(path: Path) -> bool:
    return path.exists()


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def brief(tmp_path: Path) -> Path:
    Saved(7).save(tmp_path / "model")
    return tmp_path / "model"


async def test_a_server_that_dies_while_it_is_asked_is_started_again_and_asked_again(brief: Path, folder: Path) -> None:
    server = started(brief, "-c", BRIEF, str(brief / "life"))
    sampler = VLLMSampler(families.open(folder), server)
    assert server.pid is None
    assert (await ask(sampler)).ids == (7,)
    first = server.pid
    assert first is not None and is_alive(first)
    assert (await ask(sampler)).ids == (7,)
    second = server.pid
    assert server.starts == 2 and second is not None and is_alive(second) and not is_alive(first)
    await sampler.close()
    assert not is_alive(second)


async def test_a_killed_server_comes_back_with_the_weights_that_it_was_given_last(brief: Path, folder: Path) -> None:
    (brief / "life").touch()
    server = started(brief, "-c", BRIEF, str(brief / "life"))
    sampler = VLLMSampler(families.open(folder), server)
    assert (await ask(sampler)).ids == (7,)
    for version in (4, 5):
        await sampler.pause()
        await sampler.update(Saved(version + 10), version)
        await sampler.resume()
        assert await ask(sampler) == Reply((version + 10,), (-1.0,), version, version)
    assert server.pid is not None and server.folder is not None
    assert [each.name for each in server.folder.parent.iterdir()] == ["version-5"]
    os.kill(server.pid, signal.SIGKILL)
    assert await ask(sampler) == Reply((15,), (-1.0,), 5, 5)
    assert server.starts == 2
    await sampler.close()
    assert not is_there(server.folder)  # what was saved for it is gone


async def test_a_server_that_dies_in_a_pause_goes_on_after_it(brief: Path, folder: Path) -> None:
    (brief / "life").touch()
    server = started(brief, "-c", BRIEF, str(brief / "life"))
    sampler = VLLMSampler(families.open(folder), server)
    await sampler.start()
    await sampler.pause()
    waiting = asyncio.create_task(ask(sampler))
    assert server.pid is not None
    os.kill(server.pid, signal.SIGKILL)
    await sampler.update(Saved(21), 1)
    await asyncio.sleep(0.05)
    assert not waiting.done()
    await sampler.resume()
    assert await waiting == Reply((21,), (-1.0,), 1, 1)
    await sampler.close()


async def test_a_server_that_never_comes_up_is_told_with_its_last_words(folder: Path) -> None:
    words = [sys.executable, "-c", "print('{port} is not to my liking'); raise SystemExit(4)"]
    server = VLLMServer(folder, QUICK, command=words)
    with pytest.raises(PolicyError, match=r"did not come up: its command ended with status 4(.|\n)*not to my liking"):
        await server.ready()
    for _ in range(3):
        with pytest.raises(PolicyError, match="did not come up"):
            await server.ready()
    with pytest.raises(PolicyError, match="died 4 times within 600 s"):
        await server.ready()


def test_a_folder_without_a_checkpoint_and_a_python_without_vllm(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(ConfigError, match="no checkpoint in"):
        VLLMServer(tmp_path)
    with pytest.raises(ConfigError, match="cannot be run"):
        asyncio.run(VLLMServer(folder, Serving(python=str(tmp_path / "python"))).ready())
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S -I "$@"\n')
    bare.chmod(0o755)
    with pytest.raises(ConfigError, match="no vLLM beside"):
        asyncio.run(VLLMServer(folder, Serving(python=str(bare))).ready())


def test_how_a_server_is_started() -> None:
    words = Serving(transfer="nccl", sleep=True, more=("--enforce-eager",)).arguments(Path("/models/m"))
    said = dict(zip(words[::2], words[1::2], strict=False))
    assert said["--host"] == "127.0.0.1" and said["--model"] == "/models/m"
    assert said["--logprobs-mode"] == "processed_logprobs"
    assert said["--limit-mm-per-prompt"] == '{"image":8,"video":0}'
    assert said["--weight-transfer-config"] == '{"backend":"nccl"}'
    assert words[-3:] == ["--skip-mm-profiling", "--enable-sleep-mode", "--enforce-eager"]


# --- policies ----------------------------------------------------------------------------------------------


def screen() -> Observation:
    return Observation(png(size=(128, 96)), 128, 96, "Open the shop.")


async def test_a_checkpoint_and_a_servers_address_make_a_policy(fake: tuple[FakeVLLM, str], folder: Path) -> None:
    policy = VLLMPolicy(folder, sampling=Sampling(max_tokens=4), url=fake[1], training=True)
    decision = await policy.for_episode(None).act(screen(), [])  # type: ignore[arg-type]
    assert policy.name == folder.name and isinstance(decision.action, Invalid)
    assert len(decision.sample.reply) == 4
    await policy.close()


async def test_any_openai_compatible_server_is_asked_in_text(fake: tuple[FakeVLLM, str]) -> None:
    server, url = fake
    policy = OpenAIPolicy(f"{url}/v1/", "policy", "qwen3", sampling=Sampling(max_tokens=5))
    talk = policy.for_episode(None)  # type: ignore[arg-type]
    for _ in range(7):
        decision = await talk.act(screen(), [])
    assert isinstance(decision.action, Invalid) and decision.sample is None
    asked = bodies(server, "/v1/chat/completions")
    assert [len(body["messages"]) for body in asked] == [2, 4, 6, 8, 10, 12, 2]
    system, question = asked[-1]["messages"]
    assert "computer_use" in system["content"] and system["content"].endswith("The task: Open the shop.")
    assert [part["type"] for part in question["content"]] == ["image_url", "text"]
    assert question["content"][1]["text"].startswith("Your earlier replies:")
    assert asked[0]["model"] == "policy" and asked[0]["max_tokens"] == 5
    await policy.close()


async def test_what_an_openai_compatible_server_says_is_an_action(fake: tuple[FakeVLLM, str]) -> None:
    policy = OpenAIPolicy(fake[1], "policy", "pyautogui")

    async def said(messages: Any) -> tuple[str, str]:
        return "computer.terminate(status='success')", "stop"

    policy.say = said  # type: ignore[method-assign]
    assert (await policy.for_episode(None).act(screen(), [])).action == Done()  # type: ignore[arg-type]
    await policy.close()


async def test_an_openai_compatible_server_that_fails(fake: tuple[FakeVLLM, str]) -> None:
    server, url = fake
    policy = OpenAIPolicy(url, "policy", "qwen3", sampling=Sampling(max_tokens=2), retries=2)
    policy.pause_s = 0.01
    server.faults["/v1/chat/completions"] = 2
    assert (await policy.for_episode(None).act(screen(), [])).text is not None  # type: ignore[arg-type]
    server.faults["/v1/chat/completions"] = 99
    with pytest.raises(PolicyError, match="policy gave no reply on 3 tries"):
        await policy.for_episode(None).act(screen(), [])  # type: ignore[arg-type]
    await policy.close()
    with pytest.raises(ConfigError, match="qwen9"):
        OpenAIPolicy(url, "policy", "qwen9")
