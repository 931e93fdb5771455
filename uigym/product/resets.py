"""Resets that the product does itself: by a control URL, or by a command."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Mapping
from typing import Any

from uigym.errors import ProductError
from uigym.harness import Running
from uigym.product import strays
from uigym.product.command import parts, spawn
from uigym.product.http import Control
from uigym.product.output import Output

TAIL = 2_000
"""Characters of a failed command's output that a message quotes."""


class HttpReset(Control):
    """A reset by a request: POST of {"seed": 7, "appearance": {"theme": "dark"}} to a control URL.

    The product must have the data of the seed when it answers, and answer 2xx only then.

    Example:
        >>> HttpReset("/test/reset")  # doctest: +SKIP
    """

    def __init__(self, url: str, *, method: str = "POST", **access: Any):
        """Where to send it.

        Args:
            url: A path of the product, or a whole URL.
            method: Of the request.
            access: `header`, `secret` and `timeout_s`, as `Control` has them.
        """
        super().__init__(url, **access)
        self.method = method.upper()

    async def __call__(self, product: Running, seed: int, appearance: Mapping[str, str]) -> None:
        """Send the request.

        Raises:
            ProductError: Nobody answered in time, or the answer is no 2xx.
        """
        await self.ask(product, self.method, {"seed": seed, "appearance": dict(appearance)})


class CommandReset:
    """A reset by a command, which ends with status 0 once the product has the data of the seed.

    Besides what the harness's other strings may name, the command may name {seed}, {appearance} (a JSON object) and
    each part of the appearance, such as {theme}. No shell reads it; write sh -c '...' for one.

    Example:
        >>> CommandReset("{python} manage.py reset --seed {seed} --data {workdir}")  # doctest: +SKIP
    """

    def __init__(self, command: str):
        """
        Args:
            command: The command line.

        Raises:
            HarnessError: It cannot be read, names no program, or needs a shell.
        """
        parts(command, {}, "reset")
        self.command = command

    async def __call__(self, product: Running, seed: int, appearance: Mapping[str, str]) -> None:
        """Run the command to its end. Whatever it started ends with it.

        Raises:
            ProductError: It cannot be run, or ends with another status than 0; the text has its last lines.
        """
        told = {**appearance, "seed": str(seed), "appearance": json.dumps(dict(appearance), sort_keys=True)}
        settings, arguments = parts(self.command, {**product.values, **told}, "reset")
        token, output = strays.token(), Output()
        try:
            process = spawn(arguments, {**settings, strays.VARIABLE: token}, output)
        except OSError as exc:
            output.end()
            hint = f" Is {arguments[0]!r} installed?" if isinstance(exc, FileNotFoundError) else ""
            raise ProductError(f"the reset command could not be run: {exc}.{hint}") from exc
        try:
            await _until_ended(process)
        finally:
            await _end(process, token)
            output.end()
        if process.returncode:
            tail = output.tail()[-TAIL:].strip()
            quoted = f"\nThe end of its output:\n{tail}" if tail else ""
            raise ProductError(f"the reset command {self.command!r} ended with status {process.returncode}{quoted}")


async def _until_ended(process: subprocess.Popen[bytes]) -> None:
    pause_s = 0.001
    while process.poll() is None:
        await asyncio.sleep(pause_s)
        pause_s = min(1.5 * pause_s, 0.02)


async def _end(process: subprocess.Popen[bytes], token: str) -> None:
    """End it, if it still runs, and whatever it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()  # a killed process is gone at once
    await asyncio.to_thread(strays.end, token)
