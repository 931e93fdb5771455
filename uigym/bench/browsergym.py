"""BrowserGym as a side: a worker in its own environment, on the same pages with the same clicks and the same Chromium."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path
from typing import Any

from uigym.bench.pages import BUTTON
from uigym.bench.processes import tree
from uigym.browser import find_chromium
from uigym.errors import BrowserError, ConfigError

ANSWER_S = 120.0
"""How long a start, a reset or a step may take."""
_WORKER = Path(__file__).with_name("browsergym_worker.py")
_HOW = """BrowserGym wants an environment of its own:
  python -m venv browsergym-venv
  browsergym-venv/bin/pip install browsergym-core
then: uigym bench env --against browsergym --browsergym-python browsergym-venv/bin/python"""


class BrowserGymSide:
    """One BrowserGym environment, at its defaults or with everything off that can be."""

    def __init__(self, python: Path | None, viewport: tuple[int, int], stripped: bool, worker: Path = _WORKER):
        """
        Args:
            python: Of an environment that has browsergym-core.
            viewport: CSS px.
            stripped: No delays, no DOM and accessibility tree; only the action and a screenshot.
            worker: The script that answers.

        Raises:
            ConfigError: There is no such Python; the text says how to make one.
        """
        if python is None or not python.exists():
            raise ConfigError(f"--browsergym-python {python or ''}: no such file. {_HOW}")
        self._python, self._worker = python.absolute(), worker
        width, height = viewport
        self._config = {"width": width, "height": height, "stripped": stripped}
        self._process: asyncio.subprocess.Process | None = None
        self.version = ""
        """BrowserGym's, once a page is open."""

    async def start(self) -> None:
        """Start the worker."""
        config = json.dumps({**self._config, "executable": str(find_chromium())})
        self._process = await asyncio.create_subprocess_exec(
            *(self._python, "-I", self._worker, config), stdin=PIPE, stdout=PIPE, stderr=DEVNULL, start_new_session=True
        )

    async def open(self, slot: int, url: str) -> None:
        """Reset the environment to a page.

        Raises:
            ConfigError: The Python has no BrowserGym.
            BrowserError: BrowserGym failed.
        """
        self.version = (await self._ask(do="open", url=url))["version"]

    async def click(self, slot: int) -> None:
        """One step of the environment.

        Raises:
            BrowserError: BrowserGym failed.
        """
        x, y = BUTTON
        await self._ask(do="click", x=x, y=y)

    def pids(self) -> set[int]:
        """The worker's, and those of its browsers and its driver."""
        assert self._process is not None
        return tree(self._process.pid)

    async def close(self) -> None:
        """End the worker and what it started."""
        if self._process is None:
            return
        pids = self.pids()
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), 10)
        except TimeoutError:
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            await self._process.wait()

    async def _ask(self, **message: Any) -> dict[str, Any]:
        assert self._process is not None and self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            await self._process.stdin.drain()
            line = await asyncio.wait_for(self._process.stdout.readline(), ANSWER_S)
        except TimeoutError as exc:
            raise BrowserError(f"BrowserGym did not {message['do']} within {ANSWER_S:g} s") from exc
        except OSError:
            line = b""
        if not line:
            raise ConfigError(f"{self._python} runs no BrowserGym: its worker ended. {_HOW}")
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise BrowserError(f"BrowserGym: {reply['error']}")
        return reply
