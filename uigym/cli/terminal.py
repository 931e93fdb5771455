"""What all commands share: output, progress, errors as one message, and Ctrl+C.

Results go to stdout, everything else (progress, remarks, errors) to stderr, so that `--json` can be piped.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import run as run_command
from types import TracebackType
from typing import Any, Protocol

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from uigym.errors import ConfigError, HarnessError, UIGymError

USAGE, FAILED, INTERRUPTED = 2, 1, 130
"""Exit codes: what was asked for cannot be; it was tried and failed; Ctrl+C."""
PIPED_WIDTH = 120


def out() -> Console:
    """For results."""
    return Console(width=None if sys.stdout.isatty() else PIPED_WIDTH, highlight=False)


def err() -> Console:
    """For everything that is not a result."""
    return Console(stderr=True, width=None if sys.stderr.isatty() else PIPED_WIDTH, highlight=False)


def print_json(value: Any) -> None:
    """A result for scripts: one JSON value on stdout, nothing else."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, default=str) + "\n")


def print_path(path: Path) -> None:
    """The one result of a long command: where it is."""
    sys.stdout.write(f"{path}\n")


def print_address(url: str) -> None:
    """The address of a server that was started; written at once, since the command goes on."""
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()


def say(text: str) -> None:
    """A remark on stderr."""
    err().print(escape(text), soft_wrap=True)


class Told(logging.Handler):
    """Shows what a part of the library logs as remarks: what makes a person wait is never silent.

    Example:
        >>> logging.getLogger("uigym.product.installs").addHandler(Told())  # doctest: +SKIP
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Show one line."""
        say(record.getMessage())


class Shown(Protocol):
    """Moves a bar on."""

    def __call__(self, done: int, last: str, total: int | None = None) -> None:
        """Show how many are done, what the last one was, and of how many if that was not known before."""


@contextmanager
def progress(title: str, total: int | None = None) -> Iterator[Shown]:
    """A bar on stderr, only where that is a terminal."""
    console = err()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=32),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("[dim]{task.fields[last]}"),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task(title, total=total, last="")

        def show(done: int, last: str, total: int | None = total) -> None:
            bar.update(task, completed=done, total=total, last=escape(last[:60]))

        yield show


def report(error: BaseException) -> int:
    """Print an error as one message and give the exit code; the traceback only with UIGYM_DEBUG=1."""
    if os.environ.get("UIGYM_DEBUG") == "1":
        traceback.print_exception(error)
    if isinstance(error, UIGymError):
        err().print(f"[bold red]error:[/] {escape(str(error))}", soft_wrap=True)
        return USAGE if isinstance(error, ConfigError | HarnessError) else FAILED
    what = f"{type(error).__name__}: {error}"
    err().print(
        f"[bold red]internal error:[/] {escape(what)}\nRun again with UIGYM_DEBUG=1 to see where.", soft_wrap=True
    )
    return FAILED


class Interrupts:
    """Ctrl+C: the first one stops cleanly, the second one ends at once and takes every child process along.

    The first is left to Python's own handler (a cancelled task under asyncio, else KeyboardInterrupt); a thread that
    hears of signals through the wakeup descriptor says so, and acts on the second however busy this process is.
    SIGTERM counts as Ctrl+C, also where a shell has started this in the background and had SIGINT ignored.
    """

    def __enter__(self) -> Interrupts:
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        self._ear, self._mouth = socket.socketpair()
        self._mouth.setblocking(False)
        self._old_wakeup = signal.set_wakeup_fd(self._mouth.fileno(), warn_on_full_buffer=False)
        self._old_term = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
        self._thread = threading.Thread(target=self._listen, name="uigym-interrupts", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.set_wakeup_fd(self._old_wakeup)
        signal.signal(signal.SIGTERM, self._old_term)
        self._mouth.close()  # ends the thread
        self._thread.join(timeout=5)
        self._ear.close()

    def _listen(self) -> None:
        heard = 0
        while signals := self._ear.recv(64):
            heard += signals.count(signal.SIGINT)
            if heard == 1:
                sys.stderr.write("\nstopping; press Ctrl+C again to end at once\n")
                sys.stderr.flush()
            elif heard > 1:
                kill_children()
                err().show_cursor()  # a progress bar had hidden it
                os._exit(INTERRUPTED)


def kill_children() -> None:
    """Kill every process that descends from this one, at once."""
    for pid in descendants(os.getpid()):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def descendants(root: int) -> list[int]:
    """Process ids of the children of a process, their children, and so on."""
    children: dict[int, list[int]] = {}
    for pid, parent in _processes():
        children.setdefault(parent, []).append(pid)
    found, waiting = [], [root]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def _processes() -> Iterator[tuple[int, int]]:
    """(id, parent's id) of every process."""
    if not Path("/proc/self/stat").exists():  # not Linux
        for line in run_command(
            ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True
        ).stdout.splitlines():
            pid, parent = line.split()
            yield int(pid), int(parent)
        return
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended meanwhile
        yield int(stat.parent.name), int(fields[1])
