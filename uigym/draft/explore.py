"""Finds out what an unknown product is: where it listens, when it is ready, where its data are."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx

from uigym.draft.processes import folders, listeners, open_files, ports_of
from uigym.errors import ConfigError, ProductError
from uigym.harness import Harness, Probe, Reset
from uigym.product import Product
from uigym.product.command import Command
from uigym.product.files import walk
from uigym.product.launch import quoted
from uigym.product.scratch import Scratch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

READY_PATHS = ("/healthz", "/health", "/readyz", "/ready", "/livez", "/api/health", "/api/healthz", "/_health", "/status", "/ping", "/up")  # fmt: skip
"""Where products are asked whether they are ready, in this order; then their first page."""
SQLITE = b"SQLite format 3\0"
_STRANGE = "/uigym-is-there-no-such-page"
_PORT = re.compile(r"(--?(?:port|http-port|listen-port|server\.port|p|P)[= ]|(?:127\.0\.0\.1|0\.0\.0\.0|localhost|\[::\]):)(\d{2,5})\b")  # fmt: skip
_ELSEWHERE_S = 3.0
"""A product that listens, but for so long not on its port, never will."""
_DEPTH = 3
_MOST_FILES = 5_000
_SIDE_FILES = ("-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class Start:
    """A command with {port} in it, and how it got there."""

    command: str
    remark: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """What a product is."""

    ready: str
    """The path that answers once it takes traffic."""
    databases: tuple[str, ...] = ()
    """SQLite files, as a harness names them: "{workdir}/shop.db"."""
    has_files: bool = False
    """There are other files in its work folder."""
    remarks: tuple[str, ...] = ()
    """What its owner should know."""


def with_port(command: str) -> Start:
    """The command, with {port} where it says which port to listen on; else the port is in the variable PORT."""
    if "{port}" in command:
        return Start(command)
    if found := _PORT.search(command):
        return Start(
            f"{command[: found.start(2)]}{{port}}{command[found.end(2) :]}",
            f"the command's port {found[2]} became {{port}}, since each slot needs a port of its own",
        )
    return Start(
        f"PORT={{port}} {command}", "the port is told by the variable PORT, since the command does not name {port}"
    )


async def explore_command(start: Start, asked: str, timeout_s: float) -> Found:
    """Start a product in a folder of its own, look at it, and stop it.

    Args:
        start: Its command.
        asked: The path that says when it is ready; "" to find one.
        timeout_s: How long it may take.

    Raises:
        ProductError: It ended, or does not answer.
        ConfigError: It keeps its data where every slot would share them.
    """
    began = time.time()
    scratch = Scratch()
    try:
        workdir = scratch.path / "work"
        workdir.mkdir()
        command = Command(start.command, {"workdir": str(workdir)})
        try:
            await _until_it_answers(command, timeout_s)
            ready = await _ready_path(command.base_url, asked)
            await _visit(command.base_url, ready)
            if ended := command.ended():
                raise ProductError(f"{ended}{quoted(command)}")
            databases, others = _contents(workdir)
            outside = [] if databases else _outside(command.pids(), workdir, began)
        except ProductError as exc:
            raise ProductError(f"the product: {exc}") from exc
        finally:
            await command.stop()
    finally:
        scratch.remove()
    if outside and "{workdir}" not in start.command:
        raise ConfigError(
            f"the product keeps its data in {outside[0]}, which every slot would share; each needs data of its own. "
            f"Tell the product to keep them in {{workdir}}, by an option or a variable of its command: "
            f"{_kept_apart(start.command, outside[0])}"
        )
    remarks = [start.remark, *([] if databases or others else ["its work folder stayed empty up to now"])]
    return Found(ready=ready, databases=tuple(databases), has_files=others, remarks=tuple(filter(None, remarks)))


def _kept_apart(command: str, database: Path) -> str:
    """A command under which each slot has a database of its own: by the option that names it, else by a variable."""
    word = rf"(?<![^\s='\"])[^\s='\"]*{re.escape(database.name)}(?![^\s'\"])"
    mended, count = re.subn(word, lambda _: f"{{workdir}}/{database.name}", command)
    return mended if count else f"DB={{workdir}}/{database.name} {command}"


async def explore_on_server(start: Start, state: Probe, reset: Reset, asked: str, timeout_s: float) -> Found:
    """Start a product whose data are on a database server, look at it, and stop it.

    Raises:
        ConfigError: Its command does not say which database to use.
        ProductError: The database cannot be copied, or the product ended or does not answer.
    """
    if not any(name in start.command for name in ("{database}", "{dsn}")):
        raise ConfigError(
            f"the command {start.command!r} names neither {{dsn}} nor {{database}}: each slot has a database of its own, "
            "and the product must be told which, by an option or a variable: DATABASE_URL={dsn} ..."
        )
    harness = Harness(
        name="product", start=start.command, ready=asked or "/", ready_timeout_s=timeout_s, state=state, reset=reset
    )
    async with Product(harness) as product:
        ready = await _ready_path(product.base_url, asked)
    return Found(ready=ready, remarks=tuple(filter(None, [start.remark])))


async def explore_url(url: str, asked: str) -> Found:
    """Look at a product that runs already; on this machine, at the files of its process, too.

    Raises:
        ProductError: It does not answer.
    """
    base = url.rstrip("/")
    async with _client(base) as client:
        if why := await _asked(client, asked or "/"):
            raise ProductError(f"{url}{asked or '/'}: {why}; is the product running, and is the address right?")
    ready = await _ready_path(base, asked)
    parts = urlsplit(url)
    local = parts.hostname in ("127.0.0.1", "localhost", "::1")
    pids = listeners(parts.port or 80) if local else []
    databases = _outside(pids, None, 0.0)
    remarks = [f"it runs already, at {url}, and so in one slot only"]
    return Found(ready=ready, databases=tuple(map(str, databases)), remarks=tuple(remarks))


async def _until_it_answers(command: Command, timeout_s: float) -> None:
    began, elsewhere_since = time.monotonic(), 0.0
    async with _client(command.base_url) as client:
        while (why := await _asked(client, "/")) and not why.startswith("it answered"):
            if ended := command.ended():
                raise ProductError(f"{ended}{quoted(command)}")
            others = ports_of(command.pids())
            elsewhere_since = (elsewhere_since or time.monotonic()) if others else 0.0
            if elsewhere_since and time.monotonic() - elsewhere_since > _ELSEWHERE_S and command.port not in others:
                raise ProductError(
                    f"it listens on port {', '.join(map(str, others))}, and not on {command.port}, which it was told; "
                    f"write {{port}} where its command or a variable says the port{quoted(command)}"
                )
            if time.monotonic() - began > timeout_s:
                raise ProductError(
                    f"it did not answer at {command.base_url} within {timeout_s:g} s ({why}); it must listen on "
                    f"127.0.0.1 and on {{port}}{quoted(command)}"
                )
            await asyncio.sleep(0.1)


async def _ready_path(base: str, asked: str) -> str:
    async with _client(base) as client:
        if asked:
            if why := await _asked(client, asked):
                raise ProductError(f"{asked}: {why}; expected the path that answers 200 once it is ready")
            return asked
        says_yes_to_all = not await _asked(client, _STRANGE)
        for path in () if says_yes_to_all else READY_PATHS:
            if not await _asked(client, path):
                return path
        if why := await _asked(client, "/"):
            raise ProductError(f"its first page, /: {why}; name the path that answers 200 with --ready, and --home")
        return "/"


async def _visit(base: str, ready: str) -> None:
    async with _client(base) as client:
        for path in ("/", ready):
            await _asked(client, path)


async def _asked(client: httpx.AsyncClient, path: str) -> str:
    """Why a path gives no page; empty if it does. What begins with "it answered" comes from a server that is there."""
    try:
        response = await client.get(path)
    except httpx.ConnectError:
        return "connection refused"
    except httpx.HTTPError as exc:
        return type(exc).__name__
    return "" if response.status_code < 400 else f"it answered {response.status_code}"


@asynccontextmanager
async def _client(base: str) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(
        base_url=base, trust_env=False, verify=base.startswith("https:"), timeout=5.0
    ) as client:
        yield client


def _contents(workdir: Path) -> tuple[list[str], bool]:
    """(SQLite files as a harness names them, whether there are other files)."""
    files = [path for path, _ in walk(workdir) if (workdir / path).is_file()]
    databases = [path for path in files if _is_sqlite(workdir / path)]
    sides = {database + side for database in databases for side in _SIDE_FILES}
    return [f"{{workdir}}/{path}" for path in databases], bool(set(files) - sides - set(databases))


def _outside(pids: Iterable[int], workdir: Path | None, since: float) -> list[Path]:
    """SQLite files that a product has open, or that lie where it runs and were written since a moment."""
    pids = list(pids)
    near = (path for folder in folders(pids) for path in _near(folder) if path.stat().st_mtime >= since)
    found = {path.resolve() for path in (*open_files(pids), *near) if _is_sqlite(path)}
    return sorted(path for path in found if workdir is None or workdir.resolve() not in path.parents)


def _near(folder: Path) -> Iterator[Path]:
    waiting, seen = [(folder, 0)], 0
    while waiting and seen < _MOST_FILES:
        place, depth = waiting.pop()
        try:
            entries = sorted(place.iterdir())
        except OSError:
            continue
        for path in entries:
            seen += 1
            if (
                path.is_dir()
                and not path.is_symlink()
                and depth < _DEPTH
                and not path.name.startswith((".", "node_modules"))
            ):
                waiting.append((path, depth + 1))
            elif path.is_file():
                yield path


def _is_sqlite(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(SQLITE)) == SQLITE
    except OSError:
        return False
