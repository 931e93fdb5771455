"""A folder given back as it was: contents, what is gone, what is new, permissions, links, times."""

from __future__ import annotations

import os
import random
import shutil
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from uigym.errors import HarnessError, ProductError
from uigym.product import Directory
from uigym.product.directory import can_share_blocks
from uigym.product.files import walk


class Product(SimpleNamespace):
    """A product as far as a reset of its folder knows it."""

    __hash__ = object.__hash__


@pytest.fixture
def product(tmp_path: Path) -> Any:
    work, scratch = tmp_path / "work", tmp_path / "scratch"
    scratch.mkdir()
    (work / "in/deep").mkdir(parents=True)
    (work / "empty").mkdir()
    (work / "a.txt").write_text("one")
    (work / "in/b.bin").write_bytes(os.urandom(100_000))
    (work / "in/deep/c.txt").write_text("three")
    (work / "link").symlink_to("a.txt")
    (work / "up").symlink_to("..")
    (work / "a.txt").chmod(0o640)
    (work / "in/deep/c.txt").chmod(0o400)
    os.utime(work / "a.txt", ns=(10**18, 10**18))
    return Product(workdir=work, scratch=scratch, values={})


def picture(folder: Path) -> dict[str, Any]:
    """All of a folder that a reset gives back; times of folders too."""
    found: dict[str, Any] = {".": stat.S_IMODE(folder.stat().st_mode)}
    for path, status in walk(folder):
        place = folder / path
        held: Any = place.readlink() if place.is_symlink() else place.read_bytes() if place.is_file() else None
        found[path] = (status.st_mode, status.st_mtime_ns, status.st_uid, held)
    return found


def entries(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def write_in_place(work: Path) -> None:
    with (work / "a.txt").open("r+") as file:
        file.write("ONE")


def replace(work: Path) -> None:
    (work / "new").write_text("ONE")
    (work / "new").replace(work / "a.txt")


def lengthen(work: Path) -> None:
    with (work / "in/b.bin").open("ab") as file:
        file.write(b"more" * 10_000)


def hide_the_change(work: Path) -> None:
    """The same length, and the old time put back."""
    status = (work / "a.txt").stat()
    (work / "a.txt").write_text("two")
    os.utime(work / "a.txt", ns=(status.st_atime_ns, status.st_mtime_ns))


def add(work: Path) -> None:
    (work / "in/new/deeper").mkdir(parents=True)
    (work / "in/new/deeper/x").write_text("x")
    (work / "other").symlink_to("/etc/passwd")


def delete(work: Path) -> None:
    shutil.rmtree(work / "in")
    (work / "link").unlink()
    (work / "a.txt").unlink()


def delete_all(work: Path) -> None:
    shutil.rmtree(work)


def permit(work: Path) -> None:
    (work / "a.txt").chmod(0o777)
    (work / "in").chmod(0)
    (work / "empty").chmod(0o500)


def lead_elsewhere(work: Path) -> None:
    (work / "link").unlink()
    (work / "link").symlink_to("in/b.bin")


def swap_kinds(work: Path) -> None:
    (work / "a.txt").unlink()
    (work / "a.txt").mkdir()
    (work / "a.txt/x").write_text("x")
    (work / "empty").rmdir()
    (work / "empty").write_text("no folder")
    shutil.rmtree(work / "in/deep")
    (work / "in/deep").symlink_to("/etc")
    (work / "link").unlink()
    (work / "link").write_text("no link")


CHANGES = (
    write_in_place, replace, lengthen, hide_the_change, add, delete, delete_all, permit, lead_elsewhere, swap_kinds,
)  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("by_time", [False, True])
async def test_whatever_changed_is_given_back(product: Any, change: Any, by_time: bool) -> None:
    before = picture(product.workdir)
    reset = Directory(by_time=by_time)
    await reset.started(product)
    for _ in range(3):
        change(product.workdir)
        assert change is delete_all or picture(product.workdir) != before
        await reset(product, 0, {})
        assert picture(product.workdir) == before


async def test_any_mix_of_changes_is_given_back(product: Any) -> None:
    before = picture(product.workdir)
    reset = Directory()
    await reset.started(product)
    for seed in range(30):
        rng = random.Random(seed)
        for change in rng.sample(CHANGES, 3):
            try:
                change(product.workdir)
            except OSError:
                continue  # the change before left nothing to change
        await reset(product, 0, {})
        assert picture(product.workdir) == before, seed


async def test_a_file_that_the_product_keeps_open_is_given_back_under_its_hands(product: Any) -> None:
    reset = Directory()
    await reset.started(product)
    with (product.workdir / "a.txt").open("r+") as file:
        file.write("changed and longer")
        file.flush()
        await reset(product, 0, {})
        file.seek(0)
        assert file.read() == "one"


async def test_what_is_the_same_is_not_written(product: Any) -> None:
    reset = Directory()
    await reset.started(product)
    first = (product.workdir / "in/b.bin").stat()
    write_in_place(product.workdir)
    await reset(product, 0, {})
    assert (product.workdir / "in/b.bin").stat().st_ctime_ns == first.st_ctime_ns


async def test_what_is_ignored_and_sockets_stay(product: Any) -> None:
    reset = Directory(ignore=["*.log", "cache/"])
    await reset.started(product)
    (product.workdir / "cache/x").mkdir(parents=True)
    (product.workdir / "cache/x/y").write_text("y")
    (product.workdir / "new").mkdir()
    (product.workdir / "new/a.log").write_text("line")
    os.mkfifo(product.workdir / "pipe")
    await reset(product, 0, {})
    for path in ("cache/x/y", "new/a.log", "pipe"):
        assert (product.workdir / path).exists(), path


async def test_hard_links_where_files_are_replaced(product: Any) -> None:
    before = picture(product.workdir)
    reset = Directory(hard_links=True)
    await reset.started(product)
    for _ in range(3):
        replace(product.workdir)
        shutil.rmtree(product.workdir / "in")
        await reset(product, 0, {})
        assert picture(product.workdir) == before
    copy = product.scratch / "directory-0/in/b.bin"
    assert copy.samefile(product.workdir / "in/b.bin")


async def test_hard_links_where_files_are_written_in_place_are_an_error(product: Any) -> None:
    reset = Directory(hard_links=True)
    await reset.started(product)
    write_in_place(product.workdir)
    with pytest.raises(ProductError, match=r"a\.txt was written in place, .* leave out hard_links=True"):
        await reset(product, 0, {})


async def test_the_seed_works_on_the_restored_folder(product: Any) -> None:
    def name(product: Any, seed: int, appearance: Any) -> None:
        (product.workdir / "seed").write_text(f"{seed} {appearance['theme']}")

    reset = Directory(seed=name)
    await reset.started(product)
    for seed in (3, 4):
        await reset(product, seed, {"theme": "dark"})
        assert (product.workdir / "seed").read_text() == f"{seed} dark"


async def test_two_folders_of_one_product_have_copies_of_their_own(product: Any) -> None:
    one, two = Directory("{workdir}/in"), Directory("empty")
    for reset in (one, two):
        await reset.started(product)
    delete(product.workdir)
    for reset in (one, two):
        await reset(product, 0, {})
    assert (product.workdir / "in/deep/c.txt").read_text() == "three"
    assert len(one.control(product)) == 2 and one.control(product) != two.control(product)


async def test_a_missing_folder_and_a_product_that_was_not_started(product: Any) -> None:
    with pytest.raises(ProductError, match=r"no folder .*uploads to keep: does the product make it there"):
        await Directory("uploads").started(product)
    with pytest.raises(ProductError, match=r"no copy of \{workdir\} was kept: the product was not started"):
        await Directory()(product, 0, {})
    with pytest.raises(HarnessError, match="Directory: patterns are several texts"):
        Directory(ignore="*.log")


async def test_a_product_that_goes_on_running_has_its_files_again_at_the_end(product: Any) -> None:
    before = picture(product.workdir)
    product.harness = SimpleNamespace(url="http://127.0.0.1:1")
    reset = Directory()
    await reset.started(product)
    delete(product.workdir)
    await reset.ended(product)
    assert picture(product.workdir) == before


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="no second file system here")
async def test_a_copy_lies_beside_the_folder_where_only_that_can_share(tmp_path: Path, product: Any) -> None:
    scratch = Path("/dev/shm") / f"uigym-test-{os.getpid()}"
    scratch.mkdir()
    try:
        if os.stat(scratch).st_dev == os.stat(tmp_path).st_dev:  # noqa: PTH116
            pytest.skip("no second file system here")
        product.scratch, product.harness = scratch, SimpleNamespace(url="")
        reset = Directory(hard_links=True)
        await reset.started(product)
        beside = [path for path in entries(tmp_path) if path.name.startswith("uigym-")]
        assert len(beside) == 1 and not list(scratch.iterdir())
        delete(product.workdir)
        await reset(product, 0, {})
        await reset.ended(product)
        assert not beside[0].exists() and (product.workdir / "in/b.bin").is_file()
    finally:
        scratch.rmdir()


def test_sharing_blocks_is_tried_and_not_guessed(tmp_path: Path) -> None:
    assert can_share_blocks(tmp_path) in (True, False)
    assert list(tmp_path.iterdir()) == []
