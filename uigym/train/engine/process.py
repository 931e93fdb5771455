"""The process of `uigym.train.engine.apart`: makes an engine, and does what it is asked until nobody asks any more."""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch

from uigym.models import families
from uigym.policy.endpoint import Endpoint
from uigym.policy.vllm import Transfer
from uigym.train import sync
from uigym.train.engine import wire
from uigym.train.engine.engine import Engine
from uigym.train.engine.settings import EngineSettings
from uigym.train.engine.work import Work
from uigym.train.losses import LossSettings


class Desk:
    """Does for an engine what messages ask."""

    def __init__(self, engine: Engine):
        self.engine = engine
        self._ways: dict[str, Transfer] = {}

    def do(self, asked: dict[str, Any], blobs: list[bytes]) -> Any:
        """One message; returns JSON values."""
        if "work" in asked:
            return self._learn(asked["do"], Work.from_json(asked["work"]), dict(zip(asked["pngs"], blobs, strict=True)))
        kinds: dict[str, Callable[[], Any]] = {
            "save": lambda: self.engine.save(Path(asked["folder"])),
            "checkpoint": lambda: self.engine.checkpoint(Path(asked["folder"]), asked["progress"]),
            "resume": lambda: self.engine.resume(Path(asked["folder"])),
            "send": lambda: asyncio.run(self._send(asked["way"], asked["url"], asked["version"])),
        }
        return kinds[asked["do"]]()

    def _learn(self, name: str, work: Work, pngs: dict[str, bytes]) -> Any:
        if name == "imitate":
            return self.engine.imitate(work.windows, pngs, rate=work.rate)
        if name == "score":
            return self.engine.score(work.windows, pngs)
        return self.engine.train(
            work.windows,
            work.advantages,
            pngs,
            denominator=work.denominator,
            old=work.old,
            reference=work.reference,
            rate=work.rate,
        )

    async def _send(self, way: str, url: str, version: int) -> None:
        if way not in self._ways:
            self._ways[way] = sync.WAYS[way]()
        endpoint = Endpoint(url)
        try:
            await self._ways[way].send(self.engine, endpoint, version)
        finally:
            await endpoint.close()


def made(asked: dict[str, Any]) -> Engine:
    """The engine that a run asks for."""
    torch.set_num_threads(asked["threads"])
    torch.manual_seed(asked["seed"])
    folder = Path(asked["folder"])
    settings, loss = EngineSettings.from_json(asked["settings"]), LossSettings(**asked["loss"])
    return Engine(families.open(folder), folder, settings, loss=loss, device=asked["device"])


def answered(line: Connection, work: Callable[[], Any]) -> bool:
    """Do something and say what came of it; whether it worked."""
    try:
        wire.put(line, {"said": work()})
    except Exception as error:
        traceback.print_exc()
        wire.put(line, {"error": wire.told(error)})
        return False
    return True


def serve(line: Connection) -> None:
    """Until it is asked to close, or whoever asks is gone."""
    asked, _ = wire.take(line)
    engines: list[Engine] = []

    def begin() -> dict[str, Any]:
        engines.append(made(asked))
        ranks = engines[0].ranks
        return {"count": ranks.count, "device": str(ranks.device)}

    if not answered(line, begin):
        return
    desk = Desk(engines[0])
    while True:
        try:
            asked, blobs = wire.take(line)
        except (EOFError, OSError):
            return  # the run has died: the other ranks, if any, end with it
        if asked["do"] == "close":
            break
        answered(line, partial(desk.do, asked, blobs))
    desk.engine.close()


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))
