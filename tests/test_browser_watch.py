"""What is watched: requests, the page, the browser's storage; whole, and told as it is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from conftest import Opener, PageServer

from uigym.browser import Browser, Session
from uigym.errors import ProductError
from uigym.types import Dialog, Goto, Wait
from uigym.watched import Exchange, Node

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(loop_scope="module")
async def watched(browser: Browser, pages: PageServer) -> AsyncIterator[Session]:
    session = await browser.session(base_url=pages.url, viewport=(320, 256), watch=("network",), grants=(Goto,))
    yield session
    await session.close()


async def run(session: Session, script: str) -> Any:
    """In the page, as by a click on nothing in particular: a step of its own."""
    await session.step(Wait(0))
    return await session.page.evaluate(script)


def told(exchanges: tuple[Exchange, ...], pages: PageServer) -> list[tuple[str, str, int, int, str]]:
    return [(e.method, e.url.replace(pages.url, ""), e.status, e.step, e.kind) for e in exchanges]


# --- requests ---


async def test_requests_are_told_with_their_step_and_status(watched: Session, pages: PageServer) -> None:
    await watched.open("/form.html")
    await run(watched, "fetch('/delay/1', {method: 'POST', body: 'a=1&b=é'}).then((answer) => answer.status)")
    await run(watched, "fetch('/absent#part').then((answer) => answer.status)")
    await watched.step(Goto("/chain/303"))
    exchanges = await watched.network()
    assert told(exchanges, pages) == [
        ("GET", "/form.html", 200, 0, "document"),
        ("POST", "/delay/1", 200, 1, "fetch"),
        ("GET", "/absent", 404, 2, "fetch"),
        ("GET", "/chain/303", 303, 3, "document"),
        ("GET", "/slow/100", 200, 3, "document"),
    ]
    assert [exchange.body for exchange in exchanges] == ["", "a=1&b=é", "", "", ""]


SENDERS = {
    "beacon": ("navigator.sendBeacon('/delay/1', 'x')", "POST", "/delay/1"),
    "xhr": ("const x = new XMLHttpRequest(); x.open('PUT', '/delay/1'); x.send('x')", "PUT", "/delay/1"),
    "form": ("document.body.innerHTML = '<iframe name=f></iframe><form method=post action=/delay/1 target=f><input name=a value=b></form>'; document.forms[0].submit()", "POST", "/delay/1"),
    "popup": ("open('/form.html?popup')", "GET", "/form.html?popup"),
    "worker": ("new Worker(URL.createObjectURL(new Blob([`fetch('${location.origin}/delay/1', {method: 'POST', body: 'x'})`])))", "POST", "/delay/1"),
    "frame of another site": ("const f = document.createElement('iframe'); f.src = location.origin.replace('127.0.0.1', 'localhost') + '/form.html'; document.body.append(f)", "GET", "http://localhost"),
}  # fmt: skip


@pytest.mark.parametrize("sender", SENDERS)
async def test_whoever_sends_is_followed(opened: Opener, pages: PageServer, sender: str) -> None:
    session, _ = await opened("/form.html")
    session.follow_network()
    script, method, url = SENDERS[sender]
    await run(session, f"(() => {{ {script} }})()")
    await session.look()
    matching = [e for e in await session.network() if e.method == method and url in e.url]
    assert len(matching) == 1 and matching[0].status == 200 and matching[0].step == 1


async def test_what_a_service_worker_passes_on_is_told_once(watched: Session, pages: PageServer) -> None:
    await watched.open("/form.html")
    await run(
        watched,
        "navigator.serviceWorker.register('/forwarder.js').then(() => navigator.serviceWorker.ready).then(() => 1)",
    )
    await watched.step(Goto("/form.html?again"))
    await run(watched, "fetch('/delay/1?once', {method: 'POST', body: 'x'}).then((answer) => answer.status)")
    assert await run(watched, "fetch('/made-here').then((answer) => answer.text())") == "made"
    exchanges = await watched.network()
    assert [(e.method, e.status) for e in exchanges if "once" in e.url] == [("POST", 200)]
    assert not [e for e in exchanges if "made-here" in e.url]  # it was not sent
    assert pages.requests.count("/delay/1") >= 1 and "/made-here" not in pages.requests


async def test_a_request_without_an_answer_and_a_large_body_are_told(watched: Session, pages: PageServer) -> None:
    await watched.open("/form.html")
    await run(watched, "void fetch('/never', {method: 'POST', body: 'é'.repeat(50_000)})")
    await run(watched, "void fetch('http://127.0.0.1:1/refused').catch(() => 0)")
    exchanges = await watched.network()
    never, refused = exchanges[1:]
    assert (never.method, never.status, never.step) == ("POST", 0, 1)
    assert len(never.body.encode()) <= 64 * 1024 + 3 and never.body.startswith("ééé")
    assert (refused.status, refused.step) == (0, 2)


async def test_sockets_are_told_and_those_that_fail_have_no_status(watched: Session, pages: PageServer) -> None:
    await watched.open("/form.html")
    socket = "new Promise((done) => { const s = new WebSocket('URL'); s.onopen = s.onerror = () => done(1) })"
    await run(watched, socket.replace("URL", pages.url.replace("http", "ws") + "/echo"))
    await run(watched, socket.replace("URL", "ws://127.0.0.1:1/none"))
    sockets = [(e.status, e.step) for e in await watched.network() if e.kind == "websocket"]
    assert sockets == [(101, 1), (0, 2)]


async def test_nothing_is_told_where_nothing_was_followed(opened: Opener) -> None:
    session, _ = await opened("/form.html")
    assert await session.network() == ()


# --- the page ---

TEXTS = """<title>Shop</title><h1>Orders</h1><p>Two   <b>words</b><br>second line</p><ul><li>one<li>two</ul>
<table><tr><td>a<td>b</table><pre>x\n  y</pre><p hidden>hidden</p><p style="visibility: hidden">invisible<i style="visibility: visible">seen</i></p>
<p style="opacity: 0">clear</p><script>0</script><style>p {}</style><label>Name <input value=Ada></label><textarea>text</textarea>
<select><option>red</select><button disabled>Send</button><div id=host></div><iframe srcdoc="<p>inside</p>"></iframe>
<iframe srcdoc="<p>out of sight</p>" style="display: none"></iframe>"""
SHADOW = "host.attachShadow({mode: 'open'}).innerHTML = '<p>in the shadow <slot></slot></p>'; host.append('slotted')"


async def test_the_text_is_what_is_seen_line_by_line(opened: Opener) -> None:
    session, _ = await opened("/form.html")
    await session.page.evaluate(f"document.body.innerHTML = {TEXTS!r}; document.title = 'Shop'; {SHADOW}")
    await session.look()
    view = await session.view()
    assert (view.title, view.url) == ("Shop", session.url)
    lines = view.text.splitlines()
    assert lines == [
        "Orders", "Two words", "second line", "one", "two", "a\tb", "x", "y", "seen", "Name", "Send", "in the shadow slotted", "inside",
    ]  # fmt: skip


async def test_the_tree_says_roles_names_values_and_states(opened: Opener) -> None:
    session, _ = await opened("/form.html")
    await session.page.evaluate(
        f"document.body.innerHTML = {TEXTS!r} + '<label><input type=checkbox checked> Agree</label><details><summary>More</summary>x</details>'"
    )
    await session.look()
    tree = (await session.view()).tree
    assert tree[0].role == "RootWebArea" and tree[0].depth == 0
    found = {(node.role, node.name): node for node in tree}
    assert found["heading", "Orders"].state == {"level": 1}
    assert found["textbox", "Name"].value == "Ada"
    assert found["button", "Send"].state == {"disabled": True}
    assert found["checkbox", "Agree"].state["checked"] == "true"
    assert ("StaticText", "inside") in found and ("StaticText", "hidden") not in found
    assert ("StaticText", "out of sight") not in found
    assert all(isinstance(node, Node) and node.depth >= 0 for node in tree)


async def test_a_frame_of_another_site_is_read(opened: Opener, pages: PageServer) -> None:
    other = pages.url.replace("127.0.0.1", "localhost")
    session, _ = await opened(f"/screen.html?frame={other}/place.html", viewport=(640, 480))
    view = await session.view()
    assert any(node.role == "textbox" for node in view.tree)


async def test_a_page_that_hangs_is_the_products_failure(opened: Opener) -> None:
    session, _ = await opened("/form.html")
    await session.page.evaluate("setTimeout(() => { for (;;); }, 0)")
    await asyncio.sleep(0.1)
    with pytest.raises(ProductError, match="the page hung: reading the page"):
        await session.view(timeout_s=0.5)


async def test_a_page_under_a_dialog_is_read_once_that_is_dismissed(opened: Opener) -> None:
    session, _ = await opened("/form.html", grants=(Dialog,))
    await session.page.evaluate("setTimeout(() => { document.title = confirm('Sure?') ? 'yes' : 'no' }, 0)")
    frame = await session.look()
    assert frame.open.dialog
    assert (await session.view()).title == "no"
    assert not (await session.look()).open.dialog


# --- storage ---

FILL = """(async () => {
  localStorage.setItem("theme", "dark"); localStorage.setItem("a", "1"); sessionStorage.setItem("step", "2");
  document.cookie = "seen=yes; path=/";
  const open = indexedDB.open("notes", 3);
  const base = await new Promise((done) => { open.onsuccess = () => done(open.result); open.onupgradeneeded = () => open.result.createObjectStore("kept", {keyPath: "id"}) });
  const write = base.transaction("kept", "readwrite");
  write.objectStore("kept").put({id: 7, when: new Date(0), tags: new Set(["x"]), big: 5n});
  await new Promise((done) => (write.oncomplete = done));
  base.close();
})()"""


async def test_what_is_kept_in_the_browser_comes_as_tables(opened: Opener, pages: PageServer) -> None:
    session, _ = await opened("/form.html")
    empty = await session.storage()
    assert set(empty.tables) == set(empty.keys) and not any(empty.tables.values())
    await session.page.evaluate(FILL)
    state = await session.storage()
    where = "product"
    assert state.tables["browser.local_storage"] == (
        {"origin": where, "key": "a", "value": "1"},
        {"origin": where, "key": "theme", "value": "dark"},
    )
    assert state.tables["browser.session_storage"] == ({"tab": 0, "origin": where, "key": "step", "value": "2"},)
    (cookie,) = state.tables["browser.cookies"]
    assert (cookie["name"], cookie["value"], cookie["http_only"], cookie["ends_with_session"]) == (
        "seen",
        "yes",
        False,
        True,
    )
    (row,) = state.tables["browser.indexed_db"]
    assert row == {
        "origin": where, "database": "notes", "store": "kept", "key": "7",
        "value": '{"id":7,"when":"1970-01-01T00:00:00.000Z","tags":["x"],"big":"5"}',
    }  # fmt: skip
    assert await session.storage() == state  # reading leaves no trace


async def test_an_origin_that_no_window_shows_is_read_all_the_same(opened: Opener, pages: PageServer) -> None:
    session, _ = await opened("/form.html", grants=(Goto,))
    await session.page.evaluate(FILL)
    other = pages.url.replace("127.0.0.1", "localhost")
    await session.step(Goto(f"{other}/form.html"))
    await session.page.evaluate("localStorage.setItem('there', '1')")
    asked = len(pages.requests)
    state = await session.storage()
    rows = {(row["origin"], row["key"]) for row in state.tables["browser.local_storage"]}
    assert rows == {("product", "a"), ("product", "theme"), (other, "there")}
    assert len(state.tables["browser.indexed_db"]) == 1
    assert len(pages.requests) == asked  # the product was asked for nothing
    frame = await session.look()
    assert frame.open.tabs == () and not frame.events  # and nobody saw it


async def test_a_page_that_hangs_has_no_empty_storage(opened: Opener) -> None:
    session, _ = await opened("/form.html")
    await session.page.evaluate("setTimeout(() => { for (;;); }, 0)")
    await asyncio.sleep(0.1)
    with pytest.raises(ProductError, match="the page hung: reading what the page keeps"):
        await session.storage(timeout_s=0.5)
