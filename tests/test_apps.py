"""What all bundled apps on the kit have in common: languages, appearances, content, and no page that is broken."""

from __future__ import annotations

import importlib
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx
import pytest

from uigym.apps.kit import looks
from uigym.apps.kit.language import Language
from uigym.apps.kit.people import HOSTILE

APPS = sorted(
    path.parent.name
    for path in (Path(__file__).parent.parent / "apps").glob("*/looks.py")
    if path.parent.name != "kit" and "kit" in path.read_text()
)
PAGES = 60
"""Looked at in each app and language."""
OUTSIDE = re.compile(r"https?://(?!127\.0\.0\.1)[^\s\"'<>)]+")
NAMES_OF_STANDARDS = ("http://www.w3.org/",)


class Links(HTMLParser):
    """Where a page leads, and what it says to a reader."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.root: dict[str, str | None] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "html":
            self.root = found
        if tag == "a" and found.get("href"):
            self.links.append(found["href"] or "")


def app_of(name: str, folder: Path, seed: int, appearance: Mapping[str, str]) -> httpx.AsyncClient:
    written = importlib.import_module(f"uigym.apps.{name}.seed")
    written.write(folder / f"{name}.db", seed, appearance)
    app = importlib.import_module(f"uigym.apps.{name}.app").create_app(folder)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1", follow_redirects=True)


def kind(url: str) -> str:
    """A page's address without its numbers and values: pages of a kind say the same things."""
    parts = urlsplit(url)
    return re.sub(r"\d+", "0", parts.path) + "?" + re.sub(r"=[^&]*", "=", parts.query)


async def crawl(http: httpx.AsyncClient) -> dict[str, str]:
    """Pages by address: one or two of each kind that links lead to."""
    waiting, seen, found = ["/"], dict[str, int](), dict[str, str]()
    while waiting and len(found) < PAGES:
        url = waiting.pop(0)
        if seen.get(kind(url), 0) >= 2 or url in found:
            continue
        seen[kind(url)] = seen.get(kind(url), 0) + 1
        answer = await http.get(url)
        assert answer.status_code == 200, url
        if not answer.headers.get("content-type", "").startswith("text/html"):
            continue
        found[url] = answer.text
        links = (urljoin(url, link) for link in Links(answer.text).links)
        waiting += [link for link in links if link.startswith("/") and not link.startswith(("/static", "/go/"))]
    return found


@pytest.fixture
def unsaid(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """Texts that were asked for in a language that has no word for them."""
    missing: set[str] = set()

    class Listening(dict[str, str]):
        def get(self, text: str, default: Any = None) -> Any:
            if text not in self and re.search("[A-Za-z]", text):
                missing.add(text)
            return super().get(text, default)

    plain = Language.__call__

    def listening(self: Language, text: str, /, **values: object) -> str:
        if self.code == "en":
            return plain(self, text, **values)
        return plain(Language(self.code, Listening(self.texts)), text, **values)

    monkeypatch.setattr(Language, "__call__", listening)
    yield missing


def test_there_are_apps() -> None:
    assert len(APPS) >= 1


@pytest.mark.parametrize("language", looks.LANGUAGES)
@pytest.mark.parametrize("name", APPS)
async def test_every_page_says_everything_in_every_language(
    name: str, language: str, tmp_path: Path, unsaid: set[str]
) -> None:
    async with app_of(name, tmp_path, 1, {"language": language}) as http:
        pages = await crawl(http)
        assert (await http.get("/no/such/page")).status_code == 404
    assert len(pages) >= (1 if name == "plan" else 8)
    assert not unsaid
    for url, text in pages.items():
        root = Links(text).root
        assert (root.get("lang"), root.get("dir", "ltr")) == (language, "rtl" if language == "ar" else "ltr"), url
        assert not [found for found in OUTSIDE.findall(text) if not found.startswith(NAMES_OF_STANDARDS)], url


@pytest.mark.parametrize("name", APPS)
async def test_content_changes_the_records_and_nothing_else_does(name: str, tmp_path: Path) -> None:
    module = importlib.import_module(f"uigym.apps.{name}.looks")
    held: dict[str, str] = {}
    for part, values in module.PARTS.items():
        for value in values[:4]:
            path = tmp_path / "probe.db"
            importlib.import_module(f"uigym.apps.{name}.seed").write(path, 3, {part: value})
            held[f"{part} {value}"] = records(path)
    usual = held["content plain"]
    contents = {key: text for key, text in held.items() if key.startswith("content")}
    assert len(set(contents.values())) == len(looks.CONTENTS)
    assert all(text == usual for key, text in held.items() if not key.startswith("content"))
    assert any(order in contents["content hostile"] for order in HOSTILE) and not any(o in usual for o in HOSTILE)


def records(path: Path) -> str:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(path)) as db:
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        return "\n".join(
            repr(db.execute(f"SELECT * FROM {table}").fetchall()) for table in tables if table != "settings"
        )


@pytest.mark.parametrize("name", APPS)
async def test_hostile_records_are_shown_and_not_obeyed(name: str, tmp_path: Path) -> None:
    async with app_of(name, tmp_path, 2, {"content": "hostile"}) as http:
        pages = await crawl(http)
    assert not any("<b>Agent:</b>" in text for text in pages.values())


@pytest.mark.parametrize("name", APPS)
async def test_addresses_that_no_page_leads_to_are_answered(name: str, tmp_path: Path) -> None:
    """Long searches, numbers beyond all bounds, filters of what is not there."""
    async with app_of(name, tmp_path, 2, {}) as http:
        pages = await crawl(http)
        wrong: set[str] = set()
        for url in {kind(url): url for url in pages}.values():
            parts = urlsplit(url)
            wrong |= {re.sub(r"\d+", digits, parts.path) for digits in ("9" * 5_000, "9" * 18)}
            wrong |= {f"{parts.path}?{re.sub('=[^&]*', f'={value}', parts.query)}" for value in ("999", "²")}
            if "q=" in url or not parts.query:
                wrong.add(f"{parts.path}?q={'a%20' * 200}{'a' * 59_000}")
        for url in sorted(wrong):
            assert (await http.get(url)).status_code in (200, 404, 422), url[:200]


@pytest.mark.parametrize("name", APPS)
async def test_an_appearance_that_is_not_there(name: str, tmp_path: Path) -> None:
    written = importlib.import_module(f"uigym.apps.{name}.seed")
    with pytest.raises(ValueError, match="theme cannot be 'plaid'; expected one of daylight"):
        written.write(tmp_path / "x.db", 0, {"theme": "plaid"})
    with pytest.raises(ValueError, match="no part 'hat'"):
        written.write(tmp_path / "x.db", 0, {"hat": "top"})


@pytest.mark.parametrize("content", looks.CONTENTS)
@pytest.mark.parametrize("name", APPS)
def test_saving_a_form_as_it_is_changes_no_text(tmp_path: Path, name: str, content: str) -> None:
    """What the forms cut off, blanks at the ends, is in no record."""
    for seed in range(3):
        importlib.import_module(f"uigym.apps.{name}.seed").write(tmp_path / "app.db", seed, {"content": content})
        with closing(sqlite3.connect(tmp_path / "app.db")) as db:
            tables = [table for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            tables = [table for table in tables if table != "attachments"]  # files, which no form sends
            texts = [text for table in tables for row in db.execute(f"SELECT * FROM {table}") for text in row]
        assert [text for text in texts if isinstance(text, str) and text != text.strip()] == []
