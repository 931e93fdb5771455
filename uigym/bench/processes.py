"""What processes cost, read from /proc: CPU time and memory. Zero where the system does not tell (not Linux)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

_PROC = Path("/proc")
_TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")


def cpu_ms(pids: Iterable[int]) -> float:
    """CPU time of these processes so far, their dead children excluded. The kernel counts in steps of 10 ms."""
    return sum((int(stat[11]) + int(stat[12])) * _TICK_MS for pid in pids if (stat := _stat(pid)))


def tree(*roots: int) -> set[int]:
    """These processes and all that descend from them."""
    parents = {int(e.name): int(stat[1]) for e in _PROC.glob("[0-9]*") if (stat := _stat(int(e.name)))}
    found = set(roots)
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found & parents.keys()


def group(leader: int) -> set[int]:
    """The processes of a process group."""
    return {int(e.name) for e in _PROC.glob("[0-9]*") if (stat := _stat(int(e.name))) and int(stat[2]) == leader}


def parent(pid: int) -> int:
    """The process that started this one; 0 if it is not known."""
    stat = _stat(pid)
    return int(stat[1]) if stat else 0


def pss_mb(pids: Iterable[int]) -> float:
    """Memory of these processes together, MiB; a page that n of them share counts once."""
    return sum(_pss_kb(pid) for pid in pids) / 1024


def _pss_kb(pid: int) -> int:
    try:
        lines = (_PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    except OSError:  # it ended, or is another user's
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def _stat(pid: int) -> list[str]:
    """Fields from the state on; empty if there is no such process, or it is dead and not buried."""
    try:
        fields = (_PROC / str(pid) / "stat").read_text().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return []
    return [] if fields[0] in "ZX" else fields
