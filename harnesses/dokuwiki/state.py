"""What the wiki holds, as tables, read from the files that DokuWiki keeps.

Times are left out: what is saved in an episode is saved today. So are caches, indexes, locks and drafts.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
from collections.abc import Iterator
from pathlib import Path

from uigym.errors import ProductError
from uigym.harness import Running
from uigym.types import Row, State

KEYS = {
    "pages": ("id",),
    "revisions": ("page", "number"),
    "media": ("path",),
    "rules": ("scope", "who"),
    "users": ("login",),
    "settings": ("file",),
}
_OWN = ("acl.auth.php", "users.auth.php")
TRIES = 3


class Wiki:
    """A probe: tables `pages`, `revisions`, `media`, `rules` (access), `users` and `settings`."""

    def control(self, product: Running) -> tuple[str, ...]:
        """The folder of the wiki's files."""
        return (str(product.workdir / "wiki"),)

    async def __call__(self, product: Running) -> State:
        """All of it at this moment.

        Raises:
            ProductError: A file cannot be read.
        """
        return await asyncio.to_thread(read, product.workdir / "wiki")


def read(root: Path) -> State:
    """The state that the wiki's files hold; read again if one vanishes meanwhile."""
    for attempt in range(TRIES):
        try:
            tables = {
                "pages": tuple(_pages(root / "data/pages")),
                "revisions": tuple(_revisions(root / "data")),
                "media": tuple(_media(root / "data/media")),
                "rules": tuple(_rules(root / "conf/acl.auth.php")),
                "users": tuple(_users(root / "conf/users.auth.php")),
                "settings": tuple(_settings(root / "conf", root)),
            }
        except (OSError, ValueError, EOFError) as exc:
            if attempt + 1 == TRIES:
                raise ProductError(f"cannot read the wiki in {root}: {exc}") from exc
        else:
            return State(tables, KEYS)
    raise AssertionError("unreachable")


def _pages(folder: Path) -> Iterator[Row]:
    for path in _files(folder, "*.txt"):
        yield {"id": _id(path.relative_to(folder)), "text": path.read_text()}


def _revisions(data: Path) -> Iterator[Row]:
    """Every saved version of every page, the oldest of a page is number 1."""
    for log in _files(data / "meta", "*.changes"):
        if log.name.startswith("_"):
            continue  # of the whole wiki: all of it stands in those of the pages
        for number, line in enumerate(log.read_text().splitlines(), 1):
            at, _, kind, page, author, said, *_ = [*line.split("\t"), ""]
            old = data / "attic" / log.relative_to(data / "meta").with_suffix(f".{at}.txt.gz")
            text = gzip.decompress(old.read_bytes()).decode() if old.is_file() else None
            yield {"page": page, "number": number, "kind": kind, "author": author, "said": said, "text": text}


def _media(folder: Path) -> Iterator[Row]:
    for path in _files(folder, "*"):
        content = path.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        yield {"path": _id(path.relative_to(folder), keep=True), "size": len(content), "sha256": digest}


def _rules(path: Path) -> Iterator[Row]:
    for line in _lines(path):
        scope, who, level = line.split()
        yield {"scope": scope, "who": who, "level": int(level)}


def _users(path: Path) -> Iterator[Row]:
    for line in _lines(path):
        login, password, name, mail, groups = line.split(":")
        yield {"login": login, "name": name, "mail": mail, "groups": sorted(groups.split(",")), "password": password}


def _settings(folder: Path, root: Path) -> Iterator[Row]:
    for path in _files(folder, "*"):
        if path.name not in _OWN and not path.name.endswith(".bak.php"):
            yield {"file": path.name, "text": path.read_text().replace(str(root), "")}


def _lines(path: Path) -> list[str]:
    """Without comments."""
    return [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]


def _files(folder: Path, pattern: str) -> list[Path]:
    return sorted(path for path in folder.rglob(pattern) if path.is_file())


def _id(path: Path, keep: bool = False) -> str:
    return ":".join((path if keep else path.with_suffix("")).parts)
