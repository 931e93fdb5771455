"""A whole training run that is small enough to be killed: one weight, a sampler over HTTP, the kiosk in Chromium.

At each step the pupil says GO, and does what the oracle would do, or STOP, and gives up. The one weight is the logit of
GO. What is sampled depends on the weight and the episode alone, so that two runs can be compared to the last bit.

python pupil.py serve                        the sampler; prints its port, ends with its standard input
python pupil.py kiosk --port N --workdir W   the kiosk as a process of its own
python pupil.py train FOLDER --updates N     trains, or goes on with it; says what it is doing
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import random
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from uigym import registry
from uigym.env import Env
from uigym.errors import PolicyError
from uigym.harness import Harness, Split
from uigym.policy.oracle import OraclePolicy
from uigym.policy.sampler import Reply, Sampling, Weights
from uigym.rollout import Pool
from uigym.train.data import Curriculum, choose_tasks
from uigym.train.loop import Loop, forget, newest
from uigym.train.stream import Flow, Stream
from uigym.train.windows import Picture, Turn, Window
from uigym.types import Decision, Done, History, Observation

GO, STOP = 1, 2
TASKS = ("item_price", "large_price", "table_owes")
"""Questions: who gives up at any step has not answered."""
FLOW = Flow(group_size=4, groups=2, max_staleness=0, rest_s=0.2)


def chance(weight: float, reply: int) -> float:
    """Of GO or STOP."""
    return 1 / (1 + math.exp(-weight if reply == GO else weight))


# --- the sampler ---


class Handler(BaseHTTPRequestHandler):
    """Its state is the server's: weight, version, and whether it may sample."""

    server: Any

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        body = json.dumps(getattr(self, f"do_{self.path.strip('/')}")(**asked)).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_sample(self, ids: list[int]) -> Any:
        self.server.goes.wait()
        weight, version = self.server.weights
        reply = GO if random.Random(str(ids)).random() < chance(weight, GO) else STOP
        return {"ids": [reply], "logprobs": [math.log(chance(weight, reply))], "version": version}

    def do_pause(self) -> Any:
        self.server.goes.clear()

    def do_resume(self) -> Any:
        self.server.goes.set()

    def do_update(self, weight: float, version: int) -> Any:
        self.server.weights = (weight, version)

    def do_weights(self) -> Any:
        return self.server.weights

    def log_message(self, *_: Any) -> None:
        pass


def serve() -> None:
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads, server.goes, server.weights = True, threading.Event(), (0.0, 0)
    server.goes.set()
    print(server.server_port, flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
    os._exit(0)


class Client:
    """A `Sampler` that starts its server, and starts it again when it is gone."""

    def __init__(self) -> None:
        self.version = self.starts = 0
        self.process: asyncio.subprocess.Process | None = None
        self._http = httpx.AsyncClient(trust_env=False, timeout=20)
        self._starting = asyncio.Lock()

    async def sample(
        self, ids: Sequence[int], pictures: Sequence[Picture], pngs: Mapping[str, bytes], sampling: Sampling
    ) -> Reply:
        told = await self.ask("sample", ids=list(ids))
        return Reply(tuple(told["ids"]), tuple(told["logprobs"]), told["version"], told["version"])

    async def pause(self) -> None:
        await self.ask("pause")

    async def resume(self) -> None:
        await self.ask("resume")

    async def update(self, weights: Weights, version: int) -> None:
        await self.ask("update", weight=dict(weights.named())["weight"], version=version)
        self.version = version

    async def close(self) -> None:
        await self._http.aclose()
        if self.process is not None and self.process.returncode is None:
            self.process.kill()
            await self.process.wait()

    async def ask(self, what: str, **said: Any) -> Any:
        url = await self._url()
        try:
            return (await self._http.post(f"{url}/{what}", json=said)).json()
        except httpx.HTTPError as exc:
            raise PolicyError(f"the sampler broke off: {type(exc).__name__}") from exc

    async def _url(self) -> str:
        async with self._starting:
            if self.process is None or self.process.returncode is not None:
                self.starts, self.version = self.starts + 1, 0
                pipe = asyncio.subprocess.PIPE
                command = (sys.executable, __file__, "serve")
                self.process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
                assert self.process.stdout is not None
                self._port = int(await self.process.stdout.readline())
            return f"http://127.0.0.1:{self._port}"


# --- the policy ---


class Pupil:
    """Does what the oracle would, for as long as the sampler says GO."""

    name = "pupil"

    def __init__(self, sampler: Client, seen: Callable[[Env], None] = lambda env: None):
        self.sampler, self.seen = sampler, seen

    def for_episode(self, env: Env) -> Lesson:
        return Lesson(self, env)


class Lesson:
    """One episode."""

    def __init__(self, pupil: Pupil, env: Env):
        self.pupil, self.env, self.script = pupil, env, OraclePolicy().for_episode(env)
        self.ids = [int.from_bytes(env.episode_id.encode()[-6:])]
        self.replied = 0

    async def act(self, observation: Observation, history: History) -> Decision:
        self.pupil.seen(self.env)
        picture = Picture(observation.image_hash, observation.width, observation.height, 1)
        self.ids.append(9)
        prompt, pngs = tuple(self.ids[self.replied :]), {observation.image_hash: observation.png}
        reply = await self.pupil.sampler.sample(self.ids, [picture], pngs, Sampling())
        self.ids += reply.ids
        self.replied = len(self.ids)
        turn = Turn(not history, prompt, (picture,), reply.ids, reply.logprobs, reply.version)
        action = await self.script.act(observation, history) if reply.ids[0] == GO else Done()
        return Decision(action, "GO" if reply.ids[0] == GO else "STOP", turn)

    async def close(self) -> None:
        await self.script.close()


# --- the trainer ---


class Logit:
    """Trains the one weight by its policy gradient."""

    def __init__(self, say: Callable[[str], None] = lambda word: None) -> None:
        self.weight, self.say = 0.0, say
        self.history: list[float] = []

    def train(
        self,
        windows: Sequence[Window],
        advantages: Sequence[Sequence[float]],
        pngs: Mapping[str, bytes],
        *,
        denominator: float,
    ) -> dict[str, float]:
        self.say("learning")
        change = 0.0
        for window, given in zip(windows, advantages, strict=True):
            for (start, _), advantage in zip(window.replies, given, strict=True):
                go = window.ids[start] == GO
                change += advantage * ((1 - chance(self.weight, GO)) if go else -chance(self.weight, GO))
        self.weight += change / len(windows)
        self.history.append(self.weight)
        return {"loss": -change}

    def named(self) -> Iterable[tuple[str, Any]]:
        return [("weight", self.weight)]

    def save(self, folder: Path) -> None:
        raise AssertionError("nobody asks for files")

    def checkpoint(self, folder: Path, progress: dict[str, Any] | None = None) -> None:
        draft = folder.with_name(".draft")
        shutil.rmtree(draft, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
        draft.mkdir(parents=True)
        (draft / "progress.json").write_text(json.dumps({"history": self.history, **(progress or {})}))
        draft.replace(folder)
        self.say("keeping")

    def resume(self, folder: Path) -> dict[str, Any]:
        told: dict[str, Any] = json.loads((folder / "progress.json").read_text())
        self.history = told["history"]
        self.weight = self.history[-1] if self.history else 0.0
        return told


def slowly(word: str) -> None:
    """Say it, and give whoever listens time to kill."""
    print(word, flush=True)
    time.sleep(0.3)


def practice(harness: Harness) -> Curriculum:
    return Curriculum(choose_tasks(harness, names=TASKS), Split.TRAIN, 0)


async def train(folder: Path, updates: int, flow: Flow = FLOW) -> None:
    harness, sampler, trainer = registry.load("kiosk"), Client(), Logit(slowly)
    try:
        async with Pool(harness, slots=3, browsers=1) as pool:
            loop = Loop(Stream(pool, Pupil(sampler), practice(harness), flow), sampler, trainer)
            if kept := newest(folder):
                loop.restore(kept)
            if loop.stream.version < updates:
                async with aclosing(loop.updates()) as running:
                    async for update in running:
                        print("update", update.number, flush=True)
                        forget(folder, await loop.keep(folder / f"checkpoint-{update.number}"))
                        if update.number == updates:
                            break
    finally:
        await sampler.close()
    print("weights", json.dumps(trainer.history), flush=True)


def kiosk(port: int, workdir: Path) -> None:
    import uvicorn

    from uigym.apps.kiosk.app import create_app

    (workdir / "pid").write_text(str(os.getpid()))
    uvicorn.run(create_app(workdir), host="127.0.0.1", port=port, log_level="warning")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["serve", "kiosk", "train"])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--updates", type=int, default=1)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--workdir", type=Path)
    told = parser.parse_args()
    if told.what == "serve":
        serve()
    elif told.what == "kiosk":
        kiosk(told.port, told.workdir)
    else:
        asyncio.run(train(told.folder, told.updates))


if __name__ == "__main__":
    main()
