"""A stand-in for `vllm serve`: the same routes over a model in this process, with its habits that a client must know.

It forgets pictures on a pause, fails where one is named that it was not sent, leaves out exactly the ids that a request
biases away, and answers with vLLM's shapes. As a program it serves until it is ended:

    python tests/fake_vllm.py FOLDER PORT
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import io
import json
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import torch
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from PIL import Image
from safetensors.torch import load_file

from uigym.errors import PolicyError
from uigym.models import families
from uigym.policy.local import LocalSampler
from uigym.policy.sampler import Sampling
from uigym.train.windows import Picture


class Folder:
    """Weights of a checkpoint folder."""

    def __init__(self, folder: str):
        self.folder = Path(folder)

    def named(self) -> Any:
        return load_file(self.folder / "model.safetensors").items()

    def save(self, folder: Path) -> None:
        raise AssertionError("never asked for")


class FakeVLLM:
    """The server's state and routes.

    Args:
        folder: The checkpoint.
        longest: Of a context with its reply, tokens.
    """

    def __init__(self, folder: str | Path, *, longest: int = 4096):
        self.family = families.open(folder)
        self.model = self.family.load(Path(folder), torch.float32, "cpu")
        self.sampler = LocalSampler(self.family, self.model, seed=0)
        self.longest = longest
        self.pictures: dict[str, bytes] = {}
        """What the server remembers: processed pictures by the name that a request gave them."""
        self.asked: list[tuple[str, Any]] = []
        """(path, body) of every request."""
        self.faults: dict[str, int] = {}
        """How many requests to a path are still to be answered with 500."""
        self.app = FastAPI()
        for path, answer in {
            "/v1/chat/completions/render": self.render,
            "/v1/chat/completions": self.chat,
            "/inference/v1/generate": self.generate,
            "/pause": self.pause,
            "/resume": self.resume,
            "/collective_rpc": self.rpc,
            "/reset_prefix_cache": self.nothing,
            "/reset_mm_cache": self.forget,
            "/reset_encoder_cache": self.nothing,
        }.items():
            self.app.post(path)(self._guarded(path, answer))
        self.app.get("/health")(lambda: JSONResponse(None))
        self.models = ["policy"]
        self.app.get("/v1/models")(lambda: JSONResponse({"data": [{"id": name} for name in self.models]}))

    def _guarded(self, path: str, answer: Any) -> Any:
        async def guarded(request: Request) -> JSONResponse:
            content = await request.body()
            body = json.loads(content) if content else {}
            self.asked.append((path, body))
            if self.faults.get(path, 0):
                self.faults[path] -= 1
                return _error(500, "Internal server error")
            return await answer(body, request.query_params)

        return guarded

    async def render(self, body: Any, query: Any) -> JSONResponse:
        (part,) = body["messages"][0]["content"]
        png = base64.b64decode(part["image_url"]["url"].partition(",")[2])
        with Image.open(io.BytesIO(png)) as image:
            picture = self.family.picture(hashlib.sha256(png).hexdigest(), *image.size)
        ids = self.family.asking("", [picture])
        placeholder = max(set(ids), key=ids.count)
        place = {"offset": ids.index(placeholder), "length": picture.tokens}
        features = {
            "mm_hashes": {"image": [picture.hash[:16]]},
            "mm_placeholders": {"image": [place]},
            "kwargs_data": {"image": [base64.b64encode(png).decode()]},
        }
        return JSONResponse({"request_id": "chatcmpl-0", "token_ids": ids, "features": features})

    async def generate(self, body: Any, query: Any) -> JSONResponse:
        ids, said = body["token_ids"], body["sampling_params"]
        if len(ids) + said["max_tokens"] > self.longest:
            return _error(400, f"The decoder prompt (length {len(ids)}) is longer than the maximum model length")
        assert said["logprobs"] == 0 and said["ignore_eos"] and said["stop_token_ids"] == [self.family.end]
        try:
            pictures, pngs = self._seen(body["features"])
        except KeyError:
            return _error(500, "Internal server error")
        sampling = Sampling(**{name: said[name] for name in ("temperature", "max_tokens", "top_p", "top_k")}, seed=said.get("seed"))  # fmt: skip
        banned = [int(name) for name, bias in said.get("logit_bias", {}).items() if bias <= -1e8]
        try:
            reply = await self.sampler.sample_without(banned, ids, pictures, pngs, sampling)
        except PolicyError as exc:
            return _error(500, str(exc))
        content = [{"token": f"token_id:{i}", "logprob": value} for i, value in zip(reply.ids, reply.logprobs, strict=True)]  # fmt: skip
        how = "stop" if reply.ids[-1] == self.family.end else "length"
        choice = {"index": 0, "token_ids": list(reply.ids), "logprobs": {"content": content}, "finish_reason": how}
        return JSONResponse({"request_id": "generate-0", "choices": [choice]})

    def _seen(self, features: Any) -> tuple[list[Picture], dict[str, bytes]]:
        """The pictures that a request names, as vLLM finds them: those that it sends, and those that it sent before.

        Raises:
            KeyError: One was never sent.
        """
        if features is None:
            return [], {}
        names, data = features["mm_hashes"]["image"], features["kwargs_data"]["image"]
        for name, each in zip(names, data, strict=True):
            if each is not None:
                self.pictures[name] = base64.b64decode(each)
        pictures = []
        for name in names:
            with Image.open(io.BytesIO(self.pictures[name])) as image:
                pictures.append(self.family.picture(name, *image.size))
        lengths = [place["length"] for place in features["mm_placeholders"]["image"]]
        assert lengths == [picture.tokens for picture in pictures]
        return pictures, {name: self.pictures[name] for name in names}

    async def chat(self, body: Any, query: Any) -> JSONResponse:
        """As every OpenAI-compatible server: text in, text out."""
        pictures, pngs, text = [], {}, []
        for message in body["messages"]:
            content = message["content"]
            for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
                if part["type"] == "text":
                    text.append(part["text"])
                    continue
                png = base64.b64decode(part["image_url"]["url"].partition(",")[2])
                with Image.open(io.BytesIO(png)) as image:
                    pictures.append(self.family.picture(hashlib.sha256(png).hexdigest(), *image.size))
                pngs[pictures[-1].hash] = png
        ids = [*self.family.opening(""), *self.family.asking("\n".join(text), pictures)]
        sampling = Sampling(temperature=body["temperature"], max_tokens=body["max_tokens"])
        reply = await self.sampler.sample(ids, pictures, pngs, sampling)
        message = {"role": "assistant", "content": self.family.text(reply.ids)}
        return JSONResponse({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})

    async def pause(self, body: Any, query: Any) -> JSONResponse:
        assert query["mode"] == "keep"
        await self.sampler.pause()
        if query["clear_cache"] == "true":
            self.pictures.clear()
        return JSONResponse({"status": "paused"})

    async def resume(self, body: Any, query: Any) -> JSONResponse:
        await self.sampler.resume()
        return JSONResponse({"status": "resumed"})

    async def rpc(self, body: Any, query: Any) -> JSONResponse:
        assert body["method"] == "reload_weights"
        await self.sampler.update(Folder(body["kwargs"]["weights_path"]), self.sampler.version + 1)
        return JSONResponse({"results": [None]})

    async def forget(self, body: Any, query: Any) -> JSONResponse:
        self.pictures.clear()
        return JSONResponse(None)

    async def nothing(self, body: Any, query: Any) -> JSONResponse:
        return JSONResponse(None)


def _error(status: int, message: str) -> JSONResponse:
    return JSONResponse({"error": {"message": message, "type": "Error", "param": None, "code": status}}, status)


@asynccontextmanager
async def serving(fake: FakeVLLM) -> Any:
    """Its address, while it serves on the loopback in this process."""
    server = uvicorn.Server(uvicorn.Config(fake.app, host="127.0.0.1", port=0, log_level="error", lifespan="off"))
    task = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        await fake.sampler.close()
        server.should_exit = True
        await task


def main() -> None:
    """Serve a checkpoint until the process is ended; with DIE=n in the environment, die at the n-th reply."""
    torch.set_num_threads(1)
    folder, port = sys.argv[1:]
    fake, left = FakeVLLM(folder), int(os.environ.get("DIE", "0"))
    sample = fake.sampler.sample_without

    async def dying(*asked: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 0:
            print("out of memory, as it were", flush=True)
            os._exit(3)
        return await sample(*asked)

    fake.sampler.sample_without = dying  # type: ignore[method-assign]
    uvicorn.run(fake.app, host="127.0.0.1", port=int(port), log_level="error", lifespan="off")


if __name__ == "__main__":
    main()
