"""A product's life: started in every way, reset, read, stopped, and never left behind."""

from __future__ import annotations

import asyncio
import contextlib
import http.server
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from uigym.errors import HarnessError, ProductError
from uigym.harness import Harness, Looks
from uigym.product import Product
from uigym.types import State


async def read(product: Any) -> State:
    return State({"t": ({"id": 1},)})


async def reset(product: Any, seed: int, appearance: Any) -> None:
    pass


def harness(**fields: Any) -> Harness:
    return Harness(**{"name": "shop", "state": read, "reset": reset, "ready_timeout_s": 20.0, **fields})


async def get(product: Product, path: str = "/") -> httpx.Response:
    async with httpx.AsyncClient(trust_env=False, verify=False) as client:
        return await client.get(product.base_url + path)


# --- ASGI --------------------------------------------------------------------------------------------------------


background: list[asyncio.Task[None]] = []


async def leave() -> None:
    sys.exit("a task of the app has had enough")


def notes(workdir: Path) -> Any:
    """An ASGI app that keeps its text in its work folder."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/boom":
            raise LookupError("no such shelf")
        if scope["path"] == "/block":
            time.sleep(1.0)  # noqa: ASYNC251 - what an app should not do
        if scope["path"] == "/stream":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            while True:
                await send({"type": "http.response.body", "body": b"tick", "more_body": True})
                await asyncio.sleep(0.02)
        if scope["path"] == "/exit":
            background.append(asyncio.create_task(leave()))
        file = workdir / "text"
        file.write_text((file.read_text() if file.exists() else "") + scope["path"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": file.read_bytes()})

    return app


async def test_asgi_products_share_a_thread_but_no_data() -> None:
    async with Product(harness(asgi=notes)) as one, Product(harness(asgi=notes)) as two:
        assert one.port != two.port and one.workdir != two.workdir
        assert (await get(one, "/a")).text == "//a"
        assert (await get(two, "/b")).text == "//b"
    with pytest.raises(httpx.ConnectError):
        await get(one)
    assert [t.name for t in threading.enumerate()].count("uigym-asgi") == 1


async def test_an_app_that_exits_does_not_take_the_others_with_it() -> None:
    async with Product(harness(asgi=notes)) as one, Product(harness(asgi=notes)) as two:
        await get(one, "/exit")
        assert (await get(two, "/b")).text == "//b"
        with pytest.raises(SystemExit):
            background.pop().result()


async def test_asgi_starts_in_tens_of_milliseconds() -> None:
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        async with Product(harness(asgi=notes)):
            times.append(time.perf_counter() - begin)
    assert min(times) < 0.1


def broken(workdir: Path) -> Any:
    raise KeyError("settings")


def leaving(workdir: Path) -> Any:
    raise SystemExit("no licence")


def no_app(workdir: Path) -> Any:
    return None


async def an_app(scope: Any, receive: Any, send: Any) -> None: ...


def bad_lifespan(workdir: Path) -> Any:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "lifespan.startup.failed", "message": "the migration failed"})

    return app


@pytest.mark.parametrize(
    ("asgi", "error", "message"),
    [
        (broken, ProductError, r"KeyError: 'settings' \(.*test_product.py, line \d+\)"),
        (leaving, ProductError, "SystemExit: no licence"),
        (no_app, HarnessError, "returned None, expected an ASGI app"),
        (an_app, HarnessError, "takes 3 arguments, expected a function"),
        ("uigym.nowhere:create_app", HarnessError, "No module named 'uigym.nowhere'"),
        ("uigym.types:State2", HarnessError, 'Did you mean "State"'),
        ("uigym.types", HarnessError, 'expected "module:function"'),
        ("uigym.errors:__doc__", HarnessError, "expected a function"),
    ],
)
async def test_asgi_faults_name_their_place(asgi: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        await Product(harness(asgi=asgi)).start()
    async with Product(harness(asgi=notes)):  # the thread goes on
        pass


async def test_asgi_start_up_that_fails(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ProductError, match="did not start up") as caught:
        await Product(harness(asgi=bad_lifespan)).start()
    assert "the migration failed" in str(caught.value)


async def test_errors_of_an_asgi_app_are_shown(caplog: pytest.LogCaptureFixture) -> None:
    async def by_http(product: Any, seed: int, appearance: Any) -> None:
        (await get(product, "/boom")).raise_for_status()

    async with Product(harness(asgi=notes, reset=by_http)) as product:
        with pytest.raises(ProductError, match="cannot reset with seed 7: HTTPStatusError") as caught:
            await product.reset(7)
    assert "LookupError: no such shelf" in str(caught.value)


async def test_an_app_that_blocks_the_thread_is_no_endless_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uigym.product.asgi.STOP_S", 0.2)
    product = Product(harness(asgi=notes))
    await product.start()
    request = asyncio.create_task(get(product, "/block"))
    await asyncio.sleep(0.1)
    with pytest.raises(ProductError, match=r"did not answer within 0.2 s: does an app block it\?"):
        await product.stop()
    assert not product.scratch.exists()
    with contextlib.suppress(httpx.HTTPError):
        await request


async def test_an_app_that_takes_too_long_to_build() -> None:
    def slow(workdir: Path) -> Any:
        time.sleep(0.6)
        return notes(workdir)

    product = Product(harness(asgi=slow, ready_timeout_s=0.2))
    with pytest.raises(ProductError, match=r"did not answer within 0.2 s"):
        await product.start()
    async with Product(harness(asgi=notes)) as other:  # the thread is free again, and nobody listens there
        assert (await get(other, "/a")).text == "//a"


async def test_an_open_stream_does_not_hold_up_the_stop(caplog: pytest.LogCaptureFixture) -> None:
    async with Product(harness(asgi=notes)) as product:
        reader, writer = await asyncio.open_connection("127.0.0.1", product.port)
        writer.write(b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
        await reader.readuntil(b"tick")
        begin = time.perf_counter()
    assert time.perf_counter() - begin < 3
    writer.close()


async def test_module_of_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_shop_app.py").write_text(
        "from pathlib import Path\ndef create(workdir):\n  raise OSError('found')\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    with pytest.raises(ProductError, match="OSError: found"):
        await Product(harness(asgi="my_shop_app:create")).start()


def test_a_process_that_forgets_to_stop_can_exit() -> None:
    program = """
import asyncio, httpx
from uigym.harness import Harness
from uigym.product import Product
def create(workdir):
    from fastapi import FastAPI
    app = FastAPI()
    @app.get("/")
    def page(): return "served by a worker thread, which does not end with its daemon"
    return app
async def probe(*_): ...
asyncio.run(Product(Harness(name="shop", asgi=create, state=probe, reset=probe)).start())
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=20).returncode == 0


# --- URL -----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def server() -> Iterator[str]:
    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(302 if self.path == "/" else 404)
            self.send_header("Location", "/login")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with socketserver.TCPServer(("127.0.0.1", 0), Page) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()
        thread.join()


async def test_url_is_used_and_left_running() -> None:
    with server() as url:
        async with Product(harness(url=url + "/")) as product:
            assert product.base_url == url and url.endswith(str(product.port))
            assert (await product.reset(1)).tables
        assert (await get(product)).status_code == 302


async def test_url_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uigym.product.launch.URL_TIMEOUT_S", 1.0)
    with server() as url, pytest.raises(ProductError, match=r"/healthz .*\(last: 404\)"):
        await Product(harness(url=url, ready="/healthz")).start()
    with pytest.raises(ProductError, match=r"connection refused; is it running\?"):
        await Product(harness(url=url)).start()


async def test_url_that_is_none() -> None:
    with pytest.raises(HarnessError, match=r"expected an address such as http://127.0.0.1:8000"):
        await Product(harness(url="localhost:3000")).start()


async def test_proxies_of_the_environment_do_not_touch_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with Product(harness(asgi=notes)):
        pass


# --- reset and state -------------------------------------------------------------------------------------------------


async def test_reset_gives_the_seed_and_its_appearance() -> None:
    calls = []

    async def remember(product: Any, seed: int, appearance: Any) -> None:
        calls.append((seed, dict(appearance)))

    shop = harness(asgi=notes, reset=remember, looks={"theme": Looks(("light", "dark"))})
    async with Product(shop) as product:
        assert await product.reset(5) == State({"t": ({"id": 1},)})
        assert product.appearance == shop.appearance(5)
    assert calls == [(5, shop.appearance(5))]


async def test_plain_functions_do_as_reset_and_probe() -> None:
    threads = []
    shop = harness(
        asgi=notes,
        reset=lambda product, seed, appearance: threads.append(threading.current_thread()),
        state=lambda product: State({"t": ()}),
    )
    async with Product(shop) as product:
        await product.reset(0)
    assert threads[0] is not threading.main_thread()


HANGS = """
import asyncio, time
from uigym.errors import ProductError
from uigym.harness import Harness
from uigym.product import Product
from uigym.types import State
async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})
async def state(product):
    return State({"t": ()})
async def main():
    shop = Harness(name="shop", asgi=lambda workdir: app, state=state, reset=lambda *_: time.sleep(600), ready_timeout_s=1.0)
    async with Product(shop) as product:
        try:
            await product.reset(0)
        except ProductError as error:
            print(error)
asyncio.run(main())
"""


def test_a_plain_function_that_hangs_does_not_hold_the_process() -> None:
    done = subprocess.run([sys.executable, "-c", HANGS], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "cannot reset with seed 0: it took more than 1 s" in done.stdout, done.stderr


async def failing(*_: Any) -> Any:
    raise ConnectionError("control port closed")


async def hanging(*_: Any) -> Any:
    await asyncio.sleep(60)


async def text(*_: Any) -> Any:
    return "rows"


async def empty(*_: Any) -> Any:
    return State()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"reset": failing}, "shop: cannot reset with seed 3: ConnectionError: control port closed"),
        ({"reset": hanging}, "shop: cannot reset with seed 3: it took more than 1 s"),
        ({"state": failing}, "shop: cannot read the state: ConnectionError: control port closed"),
        ({"state": text}, "returned 'rows', expected a uigym.types.State"),
        ({"state": empty}, "returned no table"),
    ],
)
async def test_faults_of_reset_and_probe_are_the_products(fields: Any, message: str) -> None:
    async with Product(harness(asgi=notes, ready_timeout_s=1.0, **fields)) as product:
        with pytest.raises(ProductError, match=message):
            await product.reset(3)


async def test_a_product_that_is_not_running_says_so() -> None:
    product = Product(harness(asgi=notes))
    with pytest.raises(ProductError, match="not running; call start first"):
        await product.reset(0)
    async with product:
        with pytest.raises(ProductError, match=r"already running at http://127.0.0.1"):
            await product.start()
