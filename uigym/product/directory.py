"""Putting a folder back between episodes: only what has changed is touched."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from uigym.errors import ProductError
from uigym.harness import Running
from uigym.product.calls import finished
from uigym.product.files import Matcher, stamp_of, walk
from uigym.product.scratch import Scratch
from uigym.product.state import located

if TYPE_CHECKING:
    from uigym.product.product import Product

_CLONE = 0x40049409
"""FICLONE: the target shares the source's blocks until either is written; some file systems only."""
_CHUNK = 1 << 20
_FRESH_NS = 100_000_000


@dataclass(slots=True)
class _Kept:
    """The copy of one product's folder."""

    copy: Path
    root: os.stat_result
    """Of the folder itself."""
    entries: dict[str, os.stat_result]
    """What there was, by relative path: a folder before what is in it."""
    own: Scratch | None = None
    """The copy's folder, where it is not in the product's."""
    stamps: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Of files that were last found or made equal to the copy, and that had been left alone for a while by then."""


class Directory:
    """A reset that gives a folder back the files that it had right after the product's start.

    Files are put back in place, so that the product may keep them open; what was added is removed, what is gone comes
    back, with its permissions, its owner and its time. Links are links. Sockets and pipes are left alone. The copy
    shares its blocks with the originals where the file system can do that.

    Example:
        >>> Directory("{workdir}/uploads")  # doctest: +SKIP
    """

    def __init__(
        self,
        folder: str = "{workdir}",
        *,
        ignore: Sequence[str] = (),
        by_time: bool = False,
        hard_links: bool = False,
        seed: Callable[..., Any] | None = None,
    ):
        """Which folder, and how far it may be trusted.

        Args:
            folder: Where; {workdir} is filled in, and a relative path starts there.
            ignore: Patterns of what is neither kept nor restored: "*.log", "cache/". A database file that the
                product has open belongs here, and to `Snapshot`.
            by_time: Take a file with the size and the times that it had for unchanged, without reading it. For large
                folders; wrong for a product that writes through memory maps.
            hard_links: Keep hard links and no copies. Only for a product that replaces its files and never writes into
                them; where one does, the reset says so.
            seed: (product, seed, appearance) -> None, async or not: changes the restored folder for the seed.

        Raises:
            HarnessError: A pattern cannot be used.
        """
        self.folder, self.by_time, self.hard_links, self.seed = folder, by_time, hard_links, seed
        self._is_ignored = Matcher(ignore, "Directory")
        self._kept: WeakKeyDictionary[Running, _Kept] = WeakKeyDictionary()

    def control(self, product: Running) -> tuple[str, ...]:
        """The folder and its copy."""
        kept = self._kept.get(product)
        return (str(located(self.folder, product)), *([str(kept.copy)] if kept else []))

    async def started(self, product: Product) -> None:
        """Keep a copy, outside the product's work folder. A product calls it once it is ready.

        Raises:
            ProductError: The folder is missing or cannot be copied.
        """
        source = located(self.folder, product)
        if not source.is_dir():
            raise ProductError(f"there is no folder {source} to keep: does the product make it there?")
        own = Scratch(source.parent) if self._shares_only_at_home(source, product.scratch) else None
        root = own.path if own else product.scratch
        kept = self._kept[product] = _Kept(_unused(root), source.stat(), {}, own)
        await asyncio.to_thread(self._keep, source, kept)

    async def ended(self, product: Product) -> None:
        """Give a product that goes on running what it had before, and delete the copy."""
        kept = self._kept.pop(product, None)
        if kept is None:
            return
        try:
            if product.harness.url:
                await asyncio.to_thread(self._restore, kept, located(self.folder, product))
        finally:
            if kept.own is not None:
                kept.own.remove()

    def _shares_only_at_home(self, source: Path, elsewhere: Path) -> bool:
        """Whether a copy costs nothing on the folder's own file system, but something where it would go else."""
        if source.stat().st_dev == elsewhere.stat().st_dev or not os.access(source.parent, os.W_OK | os.X_OK):
            return False
        return self.hard_links or can_share_blocks(source)

    async def __call__(self, product: Running, seed: int, appearance: Mapping[str, str]) -> None:
        """Restore the folder, then let `seed` change it.

        Raises:
            ProductError: The folder cannot be restored, or the product was not started.
        """
        kept = self._kept.get(product)
        if kept is None:
            raise ProductError(f"no copy of {self.folder} was kept: the product was not started")
        folder = located(self.folder, product)
        try:
            await asyncio.to_thread(self._restore, kept, folder)
        except OSError as exc:
            raise ProductError(f"cannot restore the folder {folder}: {exc}") from exc
        if self.seed is not None:
            await finished(self.seed, product, seed, appearance)

    def _keep(self, source: Path, kept: _Kept) -> None:
        copy = kept.copy
        copy.mkdir(mode=0o700)
        for path, status in self._entries(source):
            kept.entries[path] = status
            if stat.S_ISDIR(status.st_mode):
                (copy / path).mkdir()
            elif stat.S_ISREG(status.st_mode):
                self._copied(source / path, copy / path)
            else:
                (copy / path).symlink_to((source / path).readlink())

    def _copied(self, source: Path, target: Path) -> None:
        if self.hard_links:
            try:
                return target.hardlink_to(source)
            except OSError as exc:
                if exc.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP):
                    raise
        target.touch()
        fill_in(source, target)

    def _entries(self, folder: Path) -> list[tuple[str, os.stat_result]]:
        return [(path, status) for path, status in walk(folder) if _is_kept(status) and not self._is_ignored(path)]

    def _restore(self, kept: _Kept, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        _open_up(folder)
        found = dict(self._entries(folder))
        for path in list(reversed(found)):  # what is in a folder before the folder
            if path not in kept.entries or _kind(found[path]) != _kind(kept.entries[path]):
                _remove(folder / path)
                del found[path]
        touched = {path for path, status in kept.entries.items() if self._put_back(kept, folder, path, status, found)}
        for path in reversed(kept.entries):  # a folder's time, after what is in it
            status = kept.entries[path]
            if stat.S_ISDIR(status.st_mode) or path in touched:
                _settle(folder / path, status)
        _settle(folder, kept.root)
        if self.by_time:
            kept.stamps = dict(_stamps(folder, kept.entries))

    def _put_back(
        self, kept: _Kept, folder: Path, path: str, status: os.stat_result, found: Mapping[str, os.stat_result]
    ) -> bool:
        """Make one entry what it was, times and permissions apart; whether it was not."""
        place, copy, now = folder / path, kept.copy / path, found.get(path)
        if stat.S_ISDIR(status.st_mode):
            place.mkdir(exist_ok=True)
        elif stat.S_ISLNK(status.st_mode):
            if now is not None and place.readlink() == copy.readlink():
                return False
            place.unlink(missing_ok=True)
            place.symlink_to(copy.readlink())
        elif now is None:
            self._copied(copy, place)
        elif self._is_linked(copy, now):
            self._check_link(copy, status, path)
            return False
        elif self._is_same(kept, path, place, copy, now):
            return now.st_mode != status.st_mode or now.st_mtime_ns != status.st_mtime_ns
        else:
            fill_in(copy, place)
        return True

    def _is_linked(self, copy: Path, now: os.stat_result) -> bool:
        return self.hard_links and copy.lstat().st_ino == now.st_ino

    def _check_link(self, copy: Path, status: os.stat_result, path: str) -> None:
        now = copy.lstat()
        if (now.st_size, now.st_mtime_ns) != (status.st_size, status.st_mtime_ns):
            raise ProductError(
                f"{path} was written in place, which has changed the copy too: leave out hard_links=True for this folder"
            )

    def _is_same(self, kept: _Kept, path: str, place: Path, copy: Path, now: os.stat_result) -> bool:
        if now.st_size != copy.lstat().st_size:
            return False
        if self.by_time and kept.stamps.get(path) == stamp_of(now):
            return True
        return _equal(place, copy)


def _unused(root: Path) -> Path:
    return root / f"directory-{len(list(root.glob('directory-*')))}"


def can_share_blocks(folder: Path) -> bool:
    """Whether the file system of a folder can make a copy that shares the original's blocks."""
    try:
        with tempfile.TemporaryFile(dir=folder.parent) as old, tempfile.TemporaryFile(dir=folder.parent) as new:
            old.write(b"x")
            old.flush()
            fcntl.ioctl(new, _CLONE, old.fileno())
    except OSError:
        return False
    return True


def fill_in(source: Path, target: Path) -> None:
    """Make a file that is there hold what another one holds, by sharing its blocks where that can be done."""
    with source.open("rb") as old, open_for_writing(target) as new:
        try:
            fcntl.ioctl(new, _CLONE, old.fileno())
        except OSError:
            shutil.copyfileobj(old, new, _CHUNK)


def open_for_writing(path: Path) -> Any:
    """The file, emptied; one that its owner has made read-only is opened all the same."""
    try:
        return path.open("wb")
    except PermissionError:
        path.chmod(stat.S_IMODE(path.lstat().st_mode) | stat.S_IWUSR)
        return path.open("wb")


def _stamps(folder: Path, entries: Mapping[str, os.stat_result]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Of files that have not been touched just now: times are coarse, and a change right after could look the same."""
    soon_ns = time.time_ns() - _FRESH_NS
    for path in (path for path, status in entries.items() if stat.S_ISREG(status.st_mode)):
        status = (folder / path).lstat()
        if status.st_ctime_ns < soon_ns:
            yield path, stamp_of(status)


def _equal(one: Path, other: Path) -> bool:
    with one.open("rb") as first, other.open("rb") as second:
        while chunk := first.read(_CHUNK):
            if chunk != second.read(_CHUNK):
                return False
        return not second.read(1)


def _kind(status: os.stat_result) -> int:
    return stat.S_IFMT(status.st_mode)


def _is_kept(status: os.stat_result) -> bool:
    return _kind(status) in (stat.S_IFDIR, stat.S_IFREG, stat.S_IFLNK)


def _settle(path: Path, status: os.stat_result) -> None:
    """Owner, permissions and time as they were."""
    now = path.lstat()
    if (now.st_uid, now.st_gid) != (status.st_uid, status.st_gid):
        os.chown(path, status.st_uid, status.st_gid, follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode):
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns), follow_symlinks=False)
        return
    if stat.S_IMODE(now.st_mode) != stat.S_IMODE(status.st_mode):
        path.chmod(stat.S_IMODE(status.st_mode))
    if now.st_mtime_ns != status.st_mtime_ns:
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        with contextlib.suppress(OSError):  # something in it is ignored or is no file: it stays
            path.rmdir()
    else:
        path.unlink()


def _open_up(folder: Path) -> None:
    """Let this user into every folder below, whatever the product has done to its permissions."""
    status = folder.stat()
    if status.st_mode & stat.S_IRWXU != stat.S_IRWXU:
        folder.chmod(stat.S_IMODE(status.st_mode) | stat.S_IRWXU)
    with os.scandir(folder) as found:
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                _open_up(Path(entry.path))
