"""`uigym eval` of a model behind an OpenAI-compatible server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from fake_vllm import FakeVLLM, serving
from fastapi.responses import JSONResponse
from typer.testing import CliRunner

from uigym.cli.app import app
from uigym.errors import ConfigError
from uigym.models.tiny import tiny_checkpoint
from uigym.policy.openai import Served, codec_of
from uigym.store import RunStore

RENTAL = Path(__file__).parent / "third_party" / "rental.py"
DONE = '<tool_call>\n{"name": "computer_use", "arguments": {"action": "terminate", "status": "success"}}\n</tool_call>'


class Talks(FakeVLLM):
    """Says always the same."""

    async def chat(self, body: Any, query: Any) -> JSONResponse:
        message = {"role": "assistant", "content": DONE}
        return JSONResponse({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})


@pytest.fixture
async def fake() -> AsyncIterator[tuple[FakeVLLM, str]]:
    server = Talks(tiny_checkpoint())
    async with serving(server) as url:
        yield server, url


async def uigym(*words: str | Path) -> Result:
    """The command, beside the server's loop."""
    return await asyncio.to_thread(CliRunner().invoke, app, [str(word) for word in words])


@pytest.mark.browser
async def test_a_model_behind_a_server_is_measured(fake: tuple[FakeVLLM, str], tmp_path: Path) -> None:
    server, url = fake
    server.models = ["lab/Qwen3-VL-tiny"]
    words = ("--episodes", "2", "--slots", "1", "--greedy", "--context", "window(1)", "--out", tmp_path / "e", "--json")
    done = await uigym("eval", RENTAL, "--server", f"{url}/v1", *words)
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["valid"], told["success_rate"], told["stops"]) == (2, 0.0, {"done": 2})
    assert {episode.policy for episode in RunStore(tmp_path / "e").episodes()} == {"lab/Qwen3-VL-tiny"}
    bodies = [body for path, body in server.asked if path == "/v1/chat/completions"]
    assert len(bodies) == 2 and {(body["model"], body["temperature"]) for body in bodies} == {
        ("lab/Qwen3-VL-tiny", 0.0)
    }


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "Give one of --checkpoint DIR and --server URL"),
        (("--checkpoint", "noop", "--server", "URL"), "Give one of --checkpoint DIR and --server URL"),
        (("--checkpoint", "noop", "--model", "m"), "--model is said of a model behind a server; name that too"),
        (("--server", "nowhere"), "'nowhere' is no server's address: expected one such as http://127.0.0.1:8000"),
        (("--server", "URL"), "has 2 models: a, qwen3-b. Name one: --model NAME"),
        (("--server", "URL", "--model", "a"), 'the name "a" does not say what language the model speaks'),
        (("--server", "URL", "--model", "a", "--codec", "qwen9"), 'no codec "qwen9". Did you mean "qwen3"'),
        (("--server", "URL", "--model", "a", "--codec", "qwen3", "--context", "last"), "no context 'last': expected"),
        (("--server", "URL", "--key-from", "NO_SUCH_KEY"), "there is no environment variable of that name"),
        (("--server", "http://127.0.0.1:9"), "http://127.0.0.1:9/v1/models cannot be reached"),
    ],
)
async def test_what_is_not_clear_is_told(
    fake: tuple[FakeVLLM, str], words: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    fake[0].models = ["a", "qwen3-b"]
    told = [fake[1] if word == "URL" else word for word in words]
    done = await uigym("eval", RENTAL, *told, "--out", tmp_path / "never")
    assert done.exit_code and says in " ".join(done.stderr.split())
    assert not list(tmp_path.iterdir())  # noqa: ASYNC240


def test_the_name_says_the_language() -> None:
    names = {"Qwen/Qwen2.5-VL-7B-Instruct": "qwen2.5", "HuggingFaceTB/SmolVLM2-2.2B": "smolvlm", "qwen3.5-9b": "qwen3"}
    assert {name: codec_of(name) for name in names} == names
    with pytest.raises(ConfigError, match=r"one of qwen3, qwen2\.5"):
        codec_of("gpt")


async def test_a_key_is_sent(fake: tuple[FakeVLLM, str]) -> None:
    policy = await Served(url=fake[1], codec="qwen3", key="secret").policy()
    assert policy._endpoint.headers == {"Authorization": "Bearer secret"} and policy.name == "policy"
    await policy.close()
