"""A product that a command starts: its own process group, its output read along, its end guaranteed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any

from uigym.errors import HarnessError, ProductError
from uigym.product import strays
from uigym.product.output import Output

_log = logging.getLogger(__name__)
GRACE_S = 3.0
"""How long a product may take to end after SIGTERM before SIGKILL."""
OUTPUT_LINES = 20
_OPERATORS = {"&&", "||", "|", ";", "&", ">", ">>", "<", "2>&1"}
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
_taken: set[int] = set()

# Reads the group's id, then waits for the end of the pipe, which comes when this process has died in any way.
_WATCHER = (
    'read -r group || exit 0; read -r rest; kill -TERM -"$group" || exit 0; sleep "$1"; kill -KILL -"$group"; exit 0'
)


def words(start: str, values: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """The start command as (environment settings, arguments), with {port}, {workdir} and the like filled in.

    Raises:
        HarnessError: The command is empty, has an unclosed quote, needs a shell, or does not use {port}.
    """
    found = parts(start, values)
    if "{port}" not in start:
        raise HarnessError(f"the start command {start!r} does not say {{port}}: each slot needs a port of its own")
    return found


def parts(command: str, values: Mapping[str, str], role: str = "start") -> tuple[dict[str, str], list[str]]:
    """A command line as (environment settings, arguments), with what it names in braces filled in.

    It is split as a shell would before anything is filled in, so that a folder's name may hold spaces and quotes.

    Raises:
        HarnessError: The command is empty, has an unclosed quote or needs a shell; the text says which `role` it has.
    """
    try:
        found = shlex.split(command)
    except ValueError as exc:
        raise HarnessError(f"the {role} command {command!r} cannot be read: {exc}") from exc
    if operators := [part for part in found if part in _OPERATORS]:
        raise HarnessError(
            f"the {role} command {command!r} uses {operators[0]!r}, but no shell reads it. Write: sh -c '...'"
        )
    filled = [fill(part, values) for part in found]
    split = next((i for i, part in enumerate(found) if not _ASSIGNMENT.fullmatch(part)), len(found))
    if split == len(found):
        raise HarnessError(f"the {role} command {command!r} names no program")
    return dict(part.split("=", 1) for part in filled[:split]), filled[split:]


def free_port() -> int:
    """A loopback port that nobody uses and that was not given to another product of this process."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
        if port not in _taken:
            _taken.add(port)
            return port


def give_back(port: int) -> None:
    """Let a port of `free_port` be given to others again."""
    _taken.discard(port)


class Command:
    """A started command. It ends when `stop` is called or when this process dies, whichever is first."""

    def __init__(self, start: str, values: Mapping[str, str]):
        """
        Args:
            start: The command line.
            values: What its braces stand for; {port} and {python} are added.
        """
        self.port = free_port()
        self.base_url = f"http://127.0.0.1:{self.port}"
        self._began = time.monotonic()
        settings, arguments = words(start, {**values, "port": str(self.port), "python": sys.executable})
        self._token = strays.token()
        self._watcher, self._output = watch(), Output()
        try:
            self._process = spawn(arguments, {**settings, strays.VARIABLE: self._token}, self._output)
        except OSError as exc:
            self._release()
            hint = f" Is {arguments[0]!r} installed?" if isinstance(exc, FileNotFoundError) else ""
            raise ProductError(f"the start command could not be run: {exc}.{hint}") from exc
        assert self._watcher.stdin is not None
        self._watcher.stdin.write(f"{self._process.pid}\n".encode())
        self._watcher.stdin.flush()

    @property
    def pid(self) -> int:
        """Of the command, and the id of its process group."""
        return self._process.pid

    def pids(self) -> list[int]:
        """Of the command and of all that it has started, as far as they live."""
        return strays.living(self._token)

    def ended(self) -> str | None:
        """How the command ended; None while it runs."""
        if self._process.returncode is None and self._process.poll() is not None:
            self._kill(signal.SIGKILL)  # what it left behind in its group
            self._end_strays()  # and outside of it
            self._release()
        status = self._process.returncode
        if status is None:
            return None
        how = f"status {status}" if status >= 0 else f"signal {signal.Signals(-status).name}"
        return f"its command ended with {how} after {time.monotonic() - self._began:.1f} s"

    def output(self) -> str:
        """The last 20 lines that the command wrote."""
        return "\n".join(line[:500] for line in self._output.tail().splitlines()[-OUTPUT_LINES:])

    async def stop(self) -> None:
        """End the command and everything in its group: SIGTERM, then SIGKILL after `GRACE_S`."""
        if self.ended() is None:
            self._kill(signal.SIGTERM)
            try:
                await self._until_ended(GRACE_S)
            finally:
                self._kill(signal.SIGKILL)
                self._process.wait()  # a killed process is gone at once
        await asyncio.to_thread(self._end_strays)
        self._release()

    async def _until_ended(self, timeout_s: float) -> None:
        deadline, pause_s = time.monotonic() + timeout_s, 0.002
        while self.ended() is None and time.monotonic() < deadline:
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, 0.05)

    def _end_strays(self) -> None:
        try:
            strays.end(self._token)
        except OSError as exc:  # no more files can be opened, say; what is known of the product is let go all the same
            _log.warning("cannot look for processes that the product may have left behind: %s", exc)

    def _kill(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody left in the group
            os.killpg(self._process.pid, number)

    def _release(self) -> None:
        give_back(self.port)
        self._output.end()
        if self._watcher.stdin is not None and not self._watcher.stdin.closed:
            self._watcher.kill()
            self._watcher.stdin.close()
            self._watcher.wait()


def fill(text: str, values: Mapping[str, str]) -> str:
    """The text with each {name} that is known replaced by its value; other braces stay."""
    return re.sub(r"\{(\w+)\}", lambda named: values.get(named[1], named[0]), text)


def spawn(
    arguments: list[str], settings: Mapping[str, str], output: Output, owner: Mapping[str, Any] | None = None
) -> subprocess.Popen[bytes]:
    """Start a process in a group of its own, which writes to `output`.

    Args:
        arguments: The program and its arguments.
        settings: What is added to the environment of this process.
        output: Where it writes; the reading begins.
        owner: Whose it is, as `subprocess` says it (user, group, extra_groups); None is who runs this.

    Raises:
        OSError: The program cannot be run.
    """
    environment = {"PYTHONUNBUFFERED": "1", **os.environ, **settings}
    try:
        return subprocess.Popen(
            arguments,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output.writer,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            **owner or {},
        )
    finally:
        output.begin()


def watch() -> subprocess.Popen[bytes]:
    """A process that ends a group when this process has died: write the group's id and a line's end to its input."""
    return subprocess.Popen(
        ["/bin/sh", "-c", _WATCHER, "uigym-watcher", f"{GRACE_S:g}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
