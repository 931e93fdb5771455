"""Ends what a product leaves behind outside its process group: daemons, and children with a session of their own.

Every process of a product inherits a variable that says which product, and which process of uigym, it belongs to.
Linux only; elsewhere only the group is ended.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

from uigym.browser.orphans import SWITCH, is_orphan, mark

VARIABLE = "UIGYM_PRODUCT"
_PROC = Path("/proc")


def token() -> str:
    """A value of the variable for one product: its owner, and a number of its own."""
    return f"{mark().removeprefix(SWITCH)}/{secrets.token_hex(8)}"


def end(value: str) -> list[int]:
    """Kill every process of the product with this token; their ids."""
    return _kill(lambda found: found == value)


def living(value: str) -> list[int]:
    """Ids of the processes of the product with this token."""
    return [pid for pid, found in _carriers() if found == value]


def sweep() -> list[int]:
    """Kill what products of dead owners have left running; their ids."""
    return _kill(lambda found: is_orphan(found.partition("/")[0]))


def _kill(wanted: Callable[[str], bool]) -> list[int]:
    killed = []
    for pid, value in _carriers():
        if wanted(value):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
    return killed


def _carriers() -> Iterator[tuple[int, str]]:
    """(id, token) of this user's processes that carry one."""
    start = f"{VARIABLE}=".encode()
    for entry in _PROC.glob("[0-9]*") if _PROC.is_dir() else ():
        try:
            if entry.stat().st_uid != os.getuid():
                continue
            settings = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue  # it has ended, or is not ours to read
        for setting in settings:
            if setting.startswith(start):
                yield int(entry.name), setting.removeprefix(start).decode(errors="replace")
