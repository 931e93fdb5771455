"""Marks the browsers that this process starts, and ends those whose process died without ending them.

Only a browser is touched that carries uigym's mark, belongs to this user and to this process namespace, and
whose owner is gone. Linux only; elsewhere a browser ends with its pipe.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

SWITCH = "--uigym-owner="
_FOLDER_SWITCH = "--uigym-folder="
_MARK_FILE = "uigym-owner"
_FOLDER = "playwright-uigym-"
_PROFILE = "profile"
_PROC = Path("/proc")


def mark() -> str:
    """The switch that names this process as the owner of a browser; Chromium ignores it.

    Its form is the same in all versions: one that could not read it would take the browser for an orphan.
    """
    return f"{SWITCH}{_namespace()}.{os.getpid()}.{_started(os.getpid())}"


def name(folder: Path) -> str:
    """The switch that tells a browser from others of its owner; Chromium ignores it."""
    return f"{_FOLDER_SWITCH}{folder.name}"


def sweep() -> list[int]:
    """End every marked browser whose owner is dead, and remove what such browsers left; the process ids."""
    if not _PROC.is_dir():
        return []
    swept = []
    for pid, command in _marked():
        value = next(part for part in command if part.startswith(SWITCH)).removeprefix(SWITCH)
        if is_orphan(value):
            end_group(pid)
            swept.append(pid)
    for file in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*/{_MARK_FILE}"):
        if is_orphan(_read(file)):
            discard(file.parent)
    return swept


def end(folder: Path) -> None:
    """Kill the browser that was started with this folder, if it runs."""
    for pid, command in _marked():
        if name(folder) in command:
            end_group(pid)


def claim() -> Path:
    """A folder for what a browser leaves on the disk; it says whose it is, so that a sweep finds it after a kill."""
    folder = Path(tempfile.mkdtemp(prefix=_FOLDER))
    (folder / _MARK_FILE).write_text(mark().removeprefix(SWITCH))
    return folder


def room(folder: Path) -> Path:
    """A folder within a claimed one, for what a session leaves on the disk."""
    return Path(tempfile.mkdtemp(prefix="session-", dir=folder))


def note_profile(folder: Path, profile: Path) -> None:
    """Say in the folder where the browser's profile is, which Playwright makes and does not always remove."""
    (folder / _PROFILE).write_text(str(profile))


def discard(folder: Path) -> None:
    """Delete a claimed folder, and before it the profile that it names."""
    profile = Path(_read(folder / _PROFILE) or folder / "nothing")
    if profile.parent == folder.parent and profile.name.startswith("playwright"):
        shutil.rmtree(profile, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)


def end_group(pid: int, patience_s: float = 3.0) -> None:
    """Kill a browser with its children by its process group, and wait until it is gone."""
    try:
        if os.getpgid(pid) == pid:
            os.killpg(pid, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    end = time.monotonic() + patience_s
    while is_running(pid) and time.monotonic() < end:
        time.sleep(0.01)


def parent(pid: int) -> int:
    """Id of the process's parent; 0 if that is not known."""
    fields = _stat(pid)
    return int(fields[1]) if len(fields) > 1 else 0


def memory_bytes(group: int) -> int:
    """Memory that the processes of a group take, with their share of what they share; 0 where that is not known.

    Costs some milliseconds of reading; better done in a thread.
    """
    total = 0
    for entry in _PROC.glob("[0-9]*") if _PROC.is_dir() else ():
        with suppress(OSError):  # it has ended, or is not ours to read
            if os.getpgid(int(entry.name)) == group:
                found = re.search(r"^Pss:\s+(\d+) kB", (entry / "smaps_rollup").read_text(), re.MULTILINE)
                total += int(found[1]) * 1024 if found else 0
    return total


def is_running(pid: int) -> bool:
    """Whether the process exists and is no zombie."""
    if not _PROC.is_dir():
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return True
    return _stat(pid)[:1] not in ([], ["Z"], ["X"])


def _marked() -> Iterator[tuple[int, list[str]]]:
    for entry in _PROC.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if entry.stat().st_uid != os.getuid():
                continue
            command = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if any(part.startswith(SWITCH) for part in command) and not any(part.startswith("--type=") for part in command):
            yield int(entry.name), command


def is_orphan(value: str) -> bool:
    """Whether the process that a mark names is dead; False for one of another namespace, and for what is no mark."""
    namespace, _, rest = value.partition(".")
    owner, _, started = rest.partition(".")
    if namespace != _namespace() or not owner.isdigit():
        return False
    return not is_running(int(owner)) or _started(int(owner)) != started


def _read(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""


def _namespace() -> str:
    """Process ids mean nothing in another container's namespace."""
    try:
        return str((_PROC / "self/ns/pid").readlink()).strip("pid:[]")
    except OSError:
        return "0"


def _started(pid: int) -> str:
    """When the process was started, in ticks since boot: tells a pid from its next user."""
    fields = _stat(pid)
    return fields[19] if len(fields) > 19 else "0"


def _stat(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the state on; empty if there is no such process."""
    try:
        return (_PROC / str(pid) / "stat").read_text().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return []
