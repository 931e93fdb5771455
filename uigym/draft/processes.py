"""What the processes of a product listen on, and which files they have open. Linux only; elsewhere nothing is known."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

_PROC = Path("/proc")
_LISTENING = "0A"


def ports_of(pids: Iterable[int]) -> list[int]:
    """The TCP ports that processes listen on."""
    inodes = {link.removeprefix("socket:[").rstrip("]") for pid in pids for link in _links(pid) if "socket:" in link}
    return sorted({port for port, inode in _listening() if inode in inodes})


def listeners(port: int) -> list[int]:
    """Ids of the processes that listen on a port, as far as this user may know."""
    wanted = {f"socket:[{inode}]" for found, inode in _listening() if found == port}
    pids = (int(entry.name) for entry in _PROC.glob("[0-9]*"))
    return [pid for pid in pids if wanted and wanted & set(_links(pid))]


def open_files(pids: Iterable[int]) -> list[Path]:
    """The files that processes have open."""
    links = {link for pid in pids for link in _links(pid) if link.startswith("/")}
    return sorted(path for path in map(Path, links) if path.is_file())


def folders(pids: Iterable[int]) -> list[Path]:
    """The folders that processes run in."""
    found = set()
    for pid in pids:
        try:
            found.add((_PROC / str(pid) / "cwd").readlink())
        except OSError:
            continue
    return sorted(found)


def _links(pid: int) -> Iterator[str]:
    try:
        entries = list(os.scandir(_PROC / str(pid) / "fd"))
    except OSError:
        return
    for entry in entries:
        try:
            yield str(Path(entry.path).readlink())
        except OSError:
            continue


def _listening() -> Iterator[tuple[int, str]]:
    """(port, inode) of every socket that listens."""
    for table in ("tcp", "tcp6"):
        try:
            lines = (_PROC / "net" / table).read_text().splitlines()[1:]
        except OSError:
            continue
        for fields in map(str.split, lines):
            if fields[3] == _LISTENING:
                yield int(fields[1].rpartition(":")[2], 16), fields[9]
