"""Work that several processes share: each takes the next item when it is free, and tells what came of it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine, Iterator, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnContext
from multiprocessing.process import BaseProcess
from multiprocessing.sharedctypes import Synchronized
from typing import Any, TypeAlias, TypeVar

from uigym import errors
from uigym.errors import UIGymError

T = TypeVar("T")
Tell: TypeAlias = Callable[[Any], None]
"""Takes what is to be told, which must be picklable."""
_END_S = 30.0
"""How long a process may take to put its browsers and products away."""


class Deal:
    """Gives every item of each batch to exactly one of the processes that share it."""

    def __init__(self, batches: int, context: SpawnContext):
        self._next: list[Synchronized[int]] = [context.Value("q", 0) for _ in range(batches)]

    def items(self, batch: int, items: Sequence[T]) -> Iterator[T]:
        """Those of a batch's items that this process gets, one by one; all name the same items."""
        counter = self._next[batch]
        while True:
            with counter.get_lock():
                number = counter.value
                counter.value = number + 1
            if number >= len(items):
                return
            yield items[number]


Work: TypeAlias = Callable[[Deal, Tell], Coroutine[Any, Any, None]]
"""What each process does; with several processes it must be picklable, such as a `functools.partial` of a function."""


def share(work: Work, batches: int, workers: int, hear: Tell) -> None:
    """Do the work in so many processes at once, and return when all of it is done.

    Args:
        work: Takes what is dealt to it.
        batches: How many batches it has.
        workers: Processes; 1 does it in this one.
        hear: Gets what is told, in this process.

    Raises:
        UIGymError: What the work raised, in whichever process; or a process has died. The others are stopped.
    """
    context = get_context("spawn")
    deal = Deal(batches, context)
    if workers == 1:
        asyncio.run(work(deal, hear))
        return
    members: dict[Connection, BaseProcess] = {}
    try:
        for _ in range(workers):
            mine, theirs = context.Pipe(duplex=False)
            member = context.Process(target=_member, args=(work, deal, theirs), name="uigym-record")
            member.start()
            members[mine] = member
            theirs.close()
        _listen(members, hear)
    finally:
        _dismiss(members)


def _listen(members: dict[Connection, BaseProcess], hear: Tell) -> None:
    """Until every member has said that it is done."""
    talking = set(members)
    while talking:
        for pipe in wait(list(talking)):
            assert isinstance(pipe, Connection)
            try:
                kind, told = pipe.recv()
            except EOFError:
                members[pipe].join(_END_S)
                raise UIGymError(
                    f"a process died (exit code {members[pipe].exitcode}), perhaps for want of memory. What it had done "
                    "is kept: run the same command again, with fewer workers or slots."
                ) from None
            if kind == "error":
                name, text = told
                raise getattr(errors, name, UIGymError)(text)
            if kind == "done":
                talking.discard(pipe)
            else:
                hear(told)


def _dismiss(members: dict[Connection, BaseProcess]) -> None:
    """End what still runs, cleanly if it can."""
    for member in members.values():
        if member.is_alive() and member.pid:
            os.kill(member.pid, signal.SIGINT)
    for pipe, member in members.items():
        member.join(_END_S)
        if member.is_alive():
            member.kill()
            member.join()
        pipe.close()


def _member(work: Work, deal: Deal, pipe: Connection) -> None:
    """The life of one process. Ctrl+C at a terminal goes to the first process alone, which passes it on."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        asyncio.run(work(deal, lambda told: pipe.send(("told", told))))
        pipe.send(("done", None))
    except (KeyboardInterrupt, BrokenPipeError):
        return
    except Exception as exc:
        known = isinstance(exc, UIGymError) and not isinstance(exc, errors.MissingExtra)
        pipe.send(
            ("error", (type(exc).__name__ if known else "", str(exc) if known else f"{type(exc).__name__}: {exc}"))
        )
