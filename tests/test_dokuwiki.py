"""DokuWiki as a product to practise on: its files as tables, its resets, its tasks."""

from __future__ import annotations

import os
from pathlib import Path

import httpx
import pytest

from tests.fetched import fetch, solve
from uigym.harnesses.dokuwiki import seed
from uigym.harnesses.dokuwiki.product import plain, wiki
from uigym.harnesses.dokuwiki.state import read
from uigym.product import Product
from uigym.registry import load
from uigym.state import differences
from uigym.testing import check_harness
from uigym.types import State
from uigym.verify import tried

WIKI = load("dokuwiki")
SLICE = ["change_rule", "restore_revision", "add_table_row"]


@pytest.fixture(scope="module")
def apt() -> Path:
    return Path(fetch(WIKI)["apt"])


@pytest.fixture
def root(apt: Path, tmp_path: Path) -> Path:
    seed.write(tmp_path / "wiki", apt)
    return tmp_path / "wiki"


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("== A ==\n\n| b | c |\n", True),
        ("== A ==\n\n\n|b|  c  |", True),
        ("== A ==\n\n| b | C |\n", False),
        ("== A ==\n| b | c |\n", False),
        ("== A ==\n\n| b | c |\n| b | c |\n", False),
        ("== A ==\n\n| b |  | c |\n", False),
        (None, False),
    ],
)
def test_spaces_that_mean_nothing_to_the_wiki_do_not_count(text: str | None, fits: bool) -> None:
    assert wiki("== A ==\n\n| b | c |\n")(text) is fits


def test_spaces_that_mean_something_count() -> None:
    assert plain("  * a") != plain("* a") and plain("  * a\n    * b") != plain("  * a\n  * b")


def test_the_files_are_tables(root: Path) -> None:
    state = read(root)
    sizes = {table: len(rows) for table, rows in state.tables.items()}
    assert sizes["pages"] >= 40 and sizes["users"] == 6 and sizes["media"] == 7 and sizes["rules"] == 5
    last = {row["page"]: row["text"] for row in state.tables["revisions"]}  # the last of a page's versions is kept
    assert last == {row["id"]: row["text"] for row in state.tables["pages"]}


def test_a_seed_is_the_same_wherever_it_lies(root: Path, apt: Path, tmp_path: Path) -> None:
    seed.write(tmp_path / "again", apt)
    assert read(root).digest() == read(tmp_path / "again").digest()


def test_every_harm_is_seen(root: Path) -> None:
    before = read(root)
    (root / "data/pages/boats/heron.txt").write_text("gone")
    (root / "data/media/boats/albatross.png").unlink()
    with (root / "conf/acl.auth.php").open("a") as rules:
        rules.write("*\t@ALL\t16\n")
    with (root / "conf/users.auth.php").open("a") as users:
        users.write("mallory:x:Mallory:m@harbour.test:admin\n")
    (root / "conf/local.php").write_text("<?php $conf['useacl'] = 0;")
    (root / "conf/plugins.local.php").unlink()
    changed = {change.table for change in differences(before, read(root))}
    assert changed == {"pages", "media", "rules", "users", "settings"}


def instance_of(task: str, state: State) -> tuple[State, dict[str, list[dict[str, object]]], object]:
    made = WIKI.tasks[task].instance(0, state)
    return state, {name: [dict(row) for row in rows] for name, rows in state.tables.items()}, made


def test_near_misses_of_a_table_row_are_not_paid(root: Path) -> None:
    state, tables, made = instance_of("add_table_row", read(root))
    what, value, page = (made.params[name] for name in ("what", "value", "supplier"))  # type: ignore[attr-defined]

    def paid(text: str, other: str = "") -> bool:
        pages = [{**row, "text": text if row["id"] == page["id"] else row["text"]} for row in tables["pages"]]
        pages[0]["text"] = f"{pages[0]['text']}{other}"
        return tried(made.verifier, before=state.tables, after={**tables, "pages": pages}).success  # type: ignore[attr-defined]

    row, last = f"| {what} | {value} |", page["text"].rindex("| Discount")
    end = page["text"].index("\n", last) + 1
    done = f"{page['text'][:end]}{row}\n{page['text'][end:]}"
    assert paid(done) and paid(done.replace(row, f"|{what}|{value}|"))
    assert not paid(page["text"])
    assert not paid(done.replace(row, f"| {what} | {value}! |"))
    assert not paid(done.replace(row, f"{row}\n{row}"))
    assert not paid(f"{page['text'][:last]}{row}\n{page['text'][last:]}")
    assert not paid(done, other="x")


async def test_a_reset_puts_everything_back_and_nobody_gets_at_what_is_no_page(apt: Path) -> None:
    async with Product(WIKI) as product:
        before = await product.reset(0)
        folder = product.workdir / "wiki/data"
        (folder / "pages/boats/heron.txt").write_text("gone")
        (folder / "pages/new.txt").write_text("new")
        os.utime(folder / "pages/start.txt", (1, 1))
        assert len([*differences(before, await product.read_state())]) == 2
        assert (await product.reset(0)).digest() == before.digest()
        async with httpx.AsyncClient(base_url=product.base_url) as client:
            page = await client.get("/doku.php?id=boats:heron")
            assert "Kim Lindqvist" in page.text and "Yearly fee" in page.text
            found = await client.get("/doku.php?do=search&id=start&q=%22life raft%22")
            assert found.text.count("search_fullpage_result") > 3
            assert "function" in (await client.get("/lib/exe/jquery.php")).text
            for path in ("/inc/init.php", "/install.php", "/bin/indexer.php", "/vendor/autoload.php"):
                assert (await client.get(path)).status_code == 403, path
            for path in ("/conf/users.auth.php", "/data/pages/start.txt", "/../wiki/conf/users.auth.php"):
                assert "Lindqvist:" not in (await client.get(path)).text, path


@pytest.mark.browser
async def test_a_person_can_do_it(apt: Path) -> None:
    await solve(WIKI, SLICE, range(1))


@pytest.mark.browser
@pytest.mark.slow
async def test_every_task_can_be_done(apt: Path) -> None:
    await solve(WIKI, list(WIKI.tasks), range(3))


@pytest.mark.browser
@pytest.mark.slow
async def test_the_harness_is_sound(apt: Path) -> None:
    report = await check_harness(WIKI, slots=2)
    assert report.ok, "\n".join(f"{f.check} {f.task} {f.seed}: {f.detail}" for f in report.failed)
