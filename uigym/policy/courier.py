"""Processes that ask a vLLM server: the JSON of pictures is read and written there, and not where the episodes run.

run     question and new PNGs  -- pipe -->  courier  -- HTTP -->  server
        ids and probabilities  <-- pipe --           <-- HTTP --
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from uigym import pipe
from uigym.errors import PolicyError
from uigym.policy.asking import Here, Question
from uigym.policy.endpoint import Endpoint, Unreachable

_ENDS_S = 5.0


class Courier:
    """One such process.

    Args:
        remembers: Whether the server keeps what it was sent.
    """

    def __init__(self, *, remembers: bool = True):
        self.has: set[str] = set()
        """Hashes of the pictures that it was given."""
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._asked = 0
        self._gone = False
        self._one = threading.Lock()
        self._process, self._line = pipe.start("uigym.policy.courier")
        self._put({"do": "begin", "remembers": remembers})
        threading.Thread(target=self._listen, name="courier", daemon=True).start()

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return not self._gone and self._process.poll() is None

    @property
    def waiting(self) -> int:
        """Questions without an answer."""
        return len(self._waiting)

    async def answer(self, endpoint: Endpoint, question: Question, pngs: Mapping[str, bytes]) -> Any:
        """See `Asking.answer`."""
        server = {"url": endpoint.url, "headers": endpoint.headers, "timeout_s": endpoint.timeout_s}
        asked = {"do": "answer", "server": server, "question": question.to_json()}
        for _ in range(3):  # it keeps what there is room for
            new = [key for key in pngs if key not in self.has]
            self.has.update(new)
            said = await self._ask({**asked, "pngs": new}, [pngs[key] for key in new])
            if "missing" not in said:
                return _meant(said)
            self.has.difference_update(said["missing"])
        raise Unreachable("the process that asks the server does not keep its pictures")

    def forget(self) -> None:
        """See `Asking.forget`."""
        if self.alive:
            self._put({"do": "forget"})

    def close(self) -> None:
        """End it."""
        try:
            self._put({"do": "close"})
            self._process.wait(_ENDS_S)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()

    async def _ask(self, message: dict[str, Any], blobs: list[bytes]) -> Any:
        self._asked += 1
        number, future = self._asked, asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            await asyncio.to_thread(self._put, {**message, "number": number}, blobs)
            return await future
        except asyncio.CancelledError:
            with suppress(OSError):
                self._put({"do": "cancel", "number": number})
            raise
        except OSError as exc:
            raise Unreachable(f"the process that asks the server (pid {self.pid}) has ended") from exc
        finally:
            self._waiting.pop(number, None)

    def _put(self, message: dict[str, Any], blobs: list[bytes] | None = None) -> None:
        with self._one:
            pipe.put(self._line, message, blobs or [])

    def _listen(self) -> None:
        """Hand out answers until there are no more."""
        while True:
            try:
                said, _ = pipe.take(self._line)
            except (EOFError, OSError):
                break
            self._settle(said["number"], said)
        self._gone = True  # the process may yet be a moment in ending
        gone = {"unreachable": f"the process that asks the server (pid {self.pid}) has ended"}
        for number in list(self._waiting):
            self._settle(number, gone)

    def _settle(self, number: int, said: Any) -> None:
        future = self._waiting.get(number)
        if future is not None and not future.get_loop().is_closed():
            future.get_loop().call_soon_threadsafe(_settle, future, said)


class Couriers:
    """Several of them; one that dies is replaced.

    Args:
        count: How many.
        remembers: Whether the server keeps what it was sent.
    """

    def __init__(self, count: int, *, remembers: bool = True):
        self.count, self.remembers = count, remembers
        self.all: list[Courier] = []

    async def answer(self, endpoint: Endpoint, question: Question, pngs: Mapping[str, bytes]) -> Any:
        """See `Asking.answer`: by the one that has most of the pictures, and of those the one with least to do."""
        self.all = [courier for courier in self.all if courier.alive]
        while len(self.all) < self.count:
            self.all.append(Courier(remembers=self.remembers))
        chosen = max(self.all, key=lambda courier: (len(courier.has & pngs.keys()), -courier.waiting))
        return await chosen.answer(endpoint, question, pngs)

    def forget(self) -> None:
        """See `Asking.forget`."""
        for courier in self.all:
            courier.forget()

    async def close(self) -> None:
        """End all."""
        for courier in self.all:
            await asyncio.to_thread(courier.close)
        self.all = []


def _settle(future: asyncio.Future[Any], said: Any) -> None:
    if not future.done():
        future.set_result(said)


def _meant(said: Mapping[str, Any]) -> Any:
    if "unreachable" in said:
        raise Unreachable(said["unreachable"])
    if "error" in said:
        raise pipe.meant(said["error"])
    return said["answer"]


# --- the process ---


class Desk:
    """Answers messages, many at once."""

    def __init__(self, line: Connection, remembers: bool):
        self._line, self._one = line, threading.Lock()
        self._here = Here(remembers=remembers)
        self._endpoint: Endpoint | None = None
        self._running: dict[int, asyncio.Task[None]] = {}

    async def serve(self) -> None:
        """Until it is asked to close, or whoever asks is gone."""
        while True:
            try:
                message, blobs = await asyncio.to_thread(pipe.take, self._line)
            except (EOFError, OSError):
                return
            if message["do"] == "close":
                return
            self._do(message, blobs)

    def _do(self, message: dict[str, Any], blobs: list[bytes]) -> None:
        if message["do"] == "forget":
            self._here.forget()
        elif message["do"] == "answer":
            task = asyncio.create_task(self._answer(message, blobs))
            self._running[message["number"]] = task
            task.add_done_callback(lambda _: self._running.pop(message["number"], None))
        elif message["number"] in self._running:
            self._running[message["number"]].cancel()  # the server then ends it as well

    async def _answer(self, message: dict[str, Any], blobs: list[bytes]) -> None:
        said: dict[str, Any]
        try:
            said = await self._asked(message, dict(zip(message["pngs"], blobs, strict=True)))
        except Unreachable as exc:
            said = {"unreachable": str(exc)}
        except Exception as exc:
            said = {"error": pipe.told(exc if isinstance(exc, PolicyError) else PolicyError(repr(exc)))}
        await asyncio.to_thread(self._put, {**said, "number": message["number"]})

    async def _asked(self, message: dict[str, Any], pngs: dict[str, bytes]) -> dict[str, Any]:
        question = Question.from_json(message["question"])
        lost = {p.hash for p in question.pictures if p.hash not in pngs and not self._here.features.kept(p.hash)}
        if lost:
            return {"missing": sorted({*lost, *pngs})}
        return {"answer": await self._here.answer(self._at(message["server"]), question, pngs)}

    def _at(self, server: dict[str, Any]) -> Endpoint:
        if self._endpoint is None or self._endpoint.url != server["url"]:
            self._endpoint = Endpoint(**server)
        return self._endpoint

    def _put(self, said: dict[str, Any]) -> None:
        with self._one:
            pipe.put(self._line, said)


async def _main(line: Connection) -> None:
    message, _ = pipe.take(line)
    await Desk(line, message["remembers"]).serve()


if __name__ == "__main__":
    asyncio.run(_main(Connection(int(sys.argv[1]))))
