"""The guard: a page reaches the product and what is allowed; all else is refused and told."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from conftest import PageServer

from uigym.browser import Browser, Session, launch
from uigym.browser.guard import MAX_REFUSALS, Guard
from uigym.errors import ActionRefused
from uigym.types import Goto, Wait
from uigym.watched import Refusal

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
FETCH = "(url) => fetch(url, {mode: 'no-cors'}).then((answer) => answer.type, (error) => 'failed')"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def other() -> AsyncIterator[PageServer]:
    """A second server, which the product's pages may or may not reach."""
    server = PageServer()
    await server.start()
    yield server
    await server.stop()


def seen(session: Session) -> list[tuple[str, str, int]]:
    return [(refusal.url, refusal.kind, refusal.step) for refusal in session.guard.refusals]


async def opened(browser: Browser, pages: PageServer, path: str = "/form.html", **options: Any) -> Session:
    session = await browser.session(base_url=pages.url, viewport=(160, 120), **options)
    await session.open(path)
    return session


async def test_a_second_port_is_refused_and_told_with_the_step(
    browser: Browser, pages: PageServer, other: PageServer
) -> None:
    session = await opened(browser, pages)
    assert await session.page.evaluate(FETCH, f"{other.url}/a?b=c") == "failed"
    await session.step(Wait(0))
    assert await session.page.evaluate(FETCH, f"{other.url}/later") == "failed"
    assert await session.page.evaluate(FETCH, f"{pages.url}/form.html") == "basic"
    assert seen(session) == [(f"{other.url}/a?b=c", "origin", 0), (f"{other.url}/later", "origin", 1)]
    assert not other.requests
    await session.close()


async def test_what_is_allowed_is_forwarded_whole(browser: Browser, pages: PageServer, other: PageServer) -> None:
    session = await opened(browser, pages, allow=(other.url,))
    assert await session.page.evaluate(FETCH, f"{other.url}/form.html?allowed") == "opaque"
    script = "(url) => new Promise((done) => { const s = new WebSocket(url); s.onmessage = (e) => done(e.data); s.onopen = () => s.send('x'); s.onerror = () => done('failed') })"
    assert await session.page.evaluate(script, other.url.replace("http", "ws") + "/echo") == "done"
    framed = "(url) => new Promise((done) => { const f = document.createElement('iframe'); f.src = url; f.onload = () => done(f.contentDocument === null); document.body.append(f) })"
    assert await session.page.evaluate(framed, f"{other.url}/form.html") is True
    near = other.url.replace("127.0.0.1", "localhost")
    assert await session.page.evaluate(FETCH, f"{near}/near") == "failed"
    assert await session.page.evaluate(FETCH, other.url.replace("http", "https")) == "failed"
    assert [url for url, _, _ in seen(session)][:2] == [f"{near}/near", other.url.replace("http", "https")]
    await session.close()


async def test_two_sessions_of_a_browser_have_each_their_own_guard(
    browser: Browser, pages: PageServer, other: PageServer
) -> None:
    first = await opened(browser, pages)
    second = await opened(browser, other)
    assert await first.page.evaluate(FETCH, f"{other.url}/from-first") == "failed"
    assert await second.page.evaluate(FETCH, f"{pages.url}/from-second") == "failed"
    assert seen(first) == [(f"{other.url}/from-first", "origin", 0)]
    assert seen(second) == [(f"{pages.url}/from-second", "origin", 0)]
    await first.close()
    await second.close()


async def test_the_next_prepared_context_is_guarded_and_starts_with_nothing(
    browser: Browser, pages: PageServer, other: PageServer
) -> None:
    for number in range(3):
        session = await opened(browser, pages)
        assert seen(session) == []
        assert await session.page.evaluate(FETCH, f"{other.url}/{number}") == "failed"
        assert len(seen(session)) == 1
        await session.close()


async def test_popups_are_guarded_from_their_first_request(
    browser: Browser, pages: PageServer, other: PageServer
) -> None:
    session = await opened(browser, pages)
    await session.page.evaluate("(url) => void open(url + '/popup', '_blank', 'noopener')", other.url)
    frame = await session.look()
    assert len(frame.open.tabs) == 2
    assert f"{other.url}/popup" in [url for url, _, _ in seen(session)] and "/popup" not in other.requests
    await session.close()


@pytest.mark.parametrize(
    "script",
    [
        "location = 'file:///etc/passwd'",
        "open('file:///etc/passwd')",
        "document.body.insertAdjacentHTML('beforeend', '<iframe src=file:///etc/passwd></iframe>')",
        "document.body.insertAdjacentHTML('beforeend', '<a href=file:///etc/passwd>x</a>'); document.links[0].click()",
        "location = 'view-source:' + location",
        "location = 'chrome://version'",
        "location = 'devtools://devtools/bundled/inspector.html'",
        "location = 'data:text/html,<h1>x</h1>'",
    ],
)
async def test_schemes_are_refused_and_told(browser: Browser, pages: PageServer, script: str) -> None:
    session = await opened(browser, pages)
    await session.page.evaluate(f"() => {{ {script} }}")
    await session.look()
    (refusal,) = session.guard.refusals
    assert refusal.kind == "scheme" and refusal.url.split(":")[0] in script
    assert session.url == f"{pages.url}/form.html"
    await session.close()


async def test_what_a_product_may_do_with_its_own_data_is_no_escape(browser: Browser, pages: PageServer) -> None:
    session = await opened(browser, pages)
    await session.page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<iframe src=\"data:text/html,x\"></iframe><iframe srcdoc=x></iframe><iframe></iframe>')"
    )
    await session.page.evaluate(
        "void open(URL.createObjectURL(new Blob(['<title>mine</title>'], {type: 'text/html'})))"
    )
    frame = await session.look()
    assert frame.open.tabs == ("form", "mine") and not session.guard.refusals
    await session.close()


async def test_a_document_that_must_not_be_shown_is_sent_away(browser: Browser, pages: PageServer) -> None:
    session = await opened(browser, pages)
    await session.page.goto("file:///etc/hostname")
    await session.page.wait_for_url("about:blank")
    assert [(url, kind) for url, kind, _ in seen(session)] == [("file:///etc/hostname", "scheme")]
    await session.close()


async def test_goto_leads_only_where_pages_may_go(browser: Browser, pages: PageServer, other: PageServer) -> None:
    session = await opened(browser, pages, grants=(Goto,), allow=(other.url,))
    await session.step(Goto(f"{other.url}/form.html"))
    assert session.url == f"{other.url}/form.html"
    for url in ("http://127.0.0.1:1/", "https://example.com/", "file:///etc/passwd"):
        with pytest.raises(ActionRefused, match="goto: "):
            await session.step(Goto(url))
    assert [url for url, _, _ in seen(session)] == ["http://127.0.0.1:1/", "https://example.com/", "file:///etc/passwd"]
    await session.close()


async def test_a_product_with_a_service_worker_works(browser: Browser, pages: PageServer, other: PageServer) -> None:
    session = await opened(browser, pages)
    await session.page.evaluate(
        "navigator.serviceWorker.register('/service.js').then(() => navigator.serviceWorker.ready).then(() => 1)"
    )
    await session.page.reload()
    answer = "fetch('/answered-by-service').then((answer) => answer.text())"
    assert await session.page.evaluate(answer) == "service"
    assert await session.page.evaluate(FETCH, f"{other.url}/through-the-worker") == "failed"
    assert not session.guard.refusals[1:] and "/through-the-worker" not in other.requests
    await session.close()


async def test_a_page_that_is_refused_shows_an_error_and_the_session_goes_on(
    browser: Browser, pages: PageServer, other: PageServer
) -> None:
    session = await opened(browser, pages)
    await session.page.evaluate("(url) => { location = url }", f"{other.url}/elsewhere")
    frame = await session.look()
    assert [event.text for event in frame.events] == [f"{other.url.removeprefix('http://')} could not be reached"]
    standing = await session.standing()
    assert standing.url.startswith("chrome-error:") and standing.missing == f"{other.url}/elsewhere"
    await session.close()


async def test_a_loop_of_requests_fills_no_record() -> None:
    guard = await Guard.start("http://127.0.0.1:1")
    for number in range(MAX_REFUSALS + 5):
        guard.refuse(f"http://a/{number}" + "x" * 9_000, "no", "origin")
    assert len(guard.refusals) == MAX_REFUSALS + 1 and max(len(r.url) for r in guard.refusals) == 2_000
    assert guard.refusals[-1] == Refusal("", "and 5 more that are not told", "more", 0)
    await guard.close()
    await guard.close()


async def test_an_address_that_is_none_is_told() -> None:
    with pytest.raises(ValueError, match="begins with http:// or https://, not 'ftp://a'"):
        await Guard.start("http://127.0.0.1:1", ("ftp://a",))


async def test_a_product_under_a_name_is_reached_through_the_proxy(browser: Browser, pages: PageServer) -> None:
    """Chromium itself resolves no name but localhost."""
    guard = await Guard.start("http://shop.example:80", ("http://127.0.0.1:1",))
    assert guard.options["proxy"]["bypass"] == "<-loopback>"
    assert guard.allows("http://shop.example/a") and not guard.allows("https://shop.example/a")
    assert not guard.allows("ws://shop.example/a")
    await guard.close()
    local = await opened(browser, pages)
    named = pages.url.replace("127.0.0.1", "localhost")
    session = await browser.session(base_url=named, viewport=(160, 120))
    await session.open("/form.html")
    assert session.url == f"{named}/form.html"
    await session.close()
    await local.close()


@pytest.mark.parametrize(
    ("url", "at_top", "in_frame"),
    [
        ("http://a/", False, False),
        ("https://a/", False, False),
        ("about:blank", False, False),
        ("about:srcdoc", False, False),
        ("chrome-error://chromewebdata/", False, False),
        (":", False, False),
        ("", False, False),
        ("blob:http://127.0.0.1:1/x", False, False),
        ("blob:http://127.0.0.1:2/x", True, False),
        ("blob:null/x", True, False),
        ("data:text/html,x", True, False),
        ("javascript:1", True, False),
        ("file:///etc/passwd", True, True),
        ("filesystem:http://a/x", True, True),
        ("view-source:http://a/", True, True),
        ("chrome://version/", True, True),
        ("devtools://devtools/", True, True),
    ],
)
async def test_which_documents_are_shown(url: str, at_top: bool, in_frame: bool) -> None:
    guard = await Guard.start("http://127.0.0.1:1")
    assert (guard.forbids(url, True), guard.forbids(url, False)) == (at_top, in_frame)
    await guard.close()


NAMES = """() => {
  for (const rel of ["dns-prefetch", "preconnect", "prefetch"]) {
    const link = document.createElement("link");
    link.rel = rel;
    link.href = `https://secret-${rel}.example/`;
    document.head.append(link);
  }
  new RTCPeerConnection({iceServers: [{urls: "stun:secret-stun.example"}]}).createDataChannel("x");
  return fetch("https://secret-fetch.example/").catch(() => 0);
}"""


async def test_chromium_asks_for_no_name(pages: PageServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In Chromium's own log of its network: every name that it wanted to resolve."""
    log = tmp_path / "net.json"
    monkeypatch.setattr(launch, "FLAGS", (*launch.FLAGS, f"--log-net-log={log}"))
    browser = await Browser.launch()
    session = await opened(browser, pages)
    await session.page.evaluate(NAMES)
    await session.close()
    await browser.close()
    written = json.loads(log.read_text())
    kinds = {number: name for name, number in written["constants"]["logEventTypes"].items()}
    told = [
        str(event["params"]) for event in written["events"] if "RESOLVER" in kinds[event["type"]] and "params" in event
    ]
    assert any("notfound" in params for params in told) and not [params for params in told if "secret" in params]


async def test_the_other_way_to_take_pictures_is_guarded_too(pages: PageServer, other: PageServer) -> None:
    browser = await Browser.launch(capture="frames")
    session = await opened(browser, pages)
    assert await session.page.evaluate(FETCH, f"{other.url}/frames") == "failed"
    assert seen(session) == [(f"{other.url}/frames", "origin", 0)]
    await session.close()
    await browser.close()
