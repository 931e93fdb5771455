"""The viewer's side: questions to running processes, one after another on one connection each."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from uigym.live.place import Place

PATIENCE_S = 2.0
_MAX_LINE = 2_000_000
_MAX_BODY = 100_000_000


class Gone(Exception):
    """Nobody answers there any more."""


class Line:
    """A connection to one process, made when it is first needed."""

    def __init__(self, place: Place):
        self.place = place
        self._turn = asyncio.Lock()
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, question: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
        """The answer and its bytes.

        Raises:
            Gone: The process has ended, or does not answer.
            ValueError: It refuses; why.
        """
        try:
            async with self._turn, asyncio.timeout(PATIENCE_S):
                head, body = await self._asked(question)
        except (OSError, ValueError, asyncio.IncompleteReadError, TimeoutError) as exc:
            self.close()
            raise Gone(f"{self.place.name} does not answer") from exc
        if "error" in head:
            raise ValueError(str(head["error"]))
        return head, body

    async def _asked(self, question: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
        if self._streams is None:
            self._streams = await asyncio.open_unix_connection(self.place.socket, limit=_MAX_LINE)
        reader, writer = self._streams
        writer.write(json.dumps(question).encode() + b"\n")
        await writer.drain()
        head = json.loads(await reader.readuntil(b"\n"))
        if not isinstance(head, dict) or not isinstance(head.get("bytes"), int) or not 0 <= head["bytes"] <= _MAX_BODY:
            raise ValueError("no answer of this protocol")
        return head, await reader.readexactly(head["bytes"])

    def close(self) -> None:
        """Hang up."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None
