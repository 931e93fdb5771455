"""State and resets over a control URL, by a command, and several probes and resets as one."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uigym.errors import HarnessError, ProductError
from uigym.harness import Harness, Looks
from uigym.product import (
    CommandReset,
    Directory,
    Files,
    Http,
    HttpReset,
    InOrder,
    Product,
    Snapshot,
    Sqlite,
    Together,
)
from uigym.product.http import tables_of
from uigym.types import State

ITEMS = [{"id": 1, "name": "tea"}, {"id": 2, "name": "soap"}]


def shop(workdir: Path, secret: str = "") -> Any:
    """An ASGI app that says its state to whoever knows the secret, and in wrong ways to show how that is told."""
    items = [dict(item) for item in ITEMS]
    odd: dict[str, tuple[int, bytes]] = {
        "/broken": (200, b'{"items": ['),
        "/empty": (200, b""),
        "/nothing": (200, b"{}"),
        "/list": (200, b"[1, 2]"),
        "/number": (200, b'{"items": 3}'),
        "/rows": (200, b'{"items": [3]}'),
        "/nan": (200, b'{"items": [{"id": NaN}]}'),
        "/html": (200, b"<html>log in</html>"),
        "/boom": (500, b"Traceback: division by zero"),
        "/moved": (302, b""),
        "/one": (200, b'{"settings": {"theme": "dark"}}'),
    }

    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", ()))
        status, body = odd.get(scope["path"], (200, b"hello"))
        if scope["path"] in ("/test/state", "/test/reset") and headers.get(b"x-uigym-secret") != secret.encode():
            status, body = 404, b"no such page"
        elif scope["path"] == "/test/reset":
            order = json.loads((await receive())["body"])
            items[:] = [*map(dict, ITEMS), {"id": 100 + order["seed"], "name": order["appearance"].get("theme", "")}]
        elif scope["path"] == "/test/state":
            body = json.dumps({"items": items, "log": [{"at": time.time()}]}).encode()
        elif scope["path"] == "/buy":
            items.pop()
        elif scope["path"] == "/slow":
            await asyncio.sleep(2)
        await send(
            {"type": "http.response.start", "status": status, "headers": [(b"location", b"/login")] * (status == 302)}
        )
        await send({"type": "http.response.body", "body": body})

    return app


async def read(product: Any) -> State:
    return State({"t": ({"id": 1},)})


async def nothing(product: Any, seed: int, appearance: Mapping[str, str]) -> None:
    pass


def harness(state: Any = read, reset: Any = nothing, **fields: Any) -> Harness:
    return Harness(**{"name": "shop", "asgi": shop, "state": state, "reset": reset, "ready_timeout_s": 20.0, **fields})


async def get(product: Product, path: str) -> httpx.Response:
    async with httpx.AsyncClient(trust_env=False, verify=False) as client:
        return await client.get(product.base_url + path)


# --- Http and HttpReset ------------------------------------------------------------------------------------------


async def test_state_and_reset_over_urls_that_only_the_secret_opens() -> None:
    both = harness(Http("/test/state", ignore=["log"]), HttpReset("/test/reset"), looks={"theme": Looks(("dark",))})
    async with Product(both) as product:
        first = await product.reset(5)
        assert first.tables == {"items": (*ITEMS, {"id": 105, "name": "dark"})}
        await get(product, "/buy")
        assert len((await product.read_state()).tables["items"]) == 2
        assert (await product.reset(5)).digest() == first.digest()
        for path in ("/test/state", "/test/reset"):
            assert (await get(product, path)).status_code == 404
        assert len(product.values["secret"]) >= 32
        assert both.state.control(product) == (f"{product.base_url}/test/state",)  # type: ignore[attr-defined]


async def test_each_run_has_a_secret_of_its_own() -> None:
    both = harness(Http("/test/state"))
    async with Product(both) as one, Product(both) as two:
        assert one.values["secret"] != two.values["secret"]
        assert (await one.read_state()).tables["items"] == (await two.read_state()).tables["items"]


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/broken", r"expected JSON, got '{\"items\": \['"),
        ("/empty", "expected JSON, got nothing"),
        ("/html", "expected JSON, got '<html>log in"),
        ("/nothing", r"expected an object of tables, such as .*, got \{\}"),
        ("/list", r"expected an object of tables, .* got \[1, 2\]"),
        ("/number", 'table "items" must be a list of rows, not 3'),
        ("/rows", 'a row of table "items" must be an object, not 3'),
        ("/nan", "NaN is no JSON value"),
        ("/boom", "answered 500\nIt said: Traceback: division by zero"),
        ("/moved", "answered 302, a redirect to /login, which is not followed; name the final URL"),
    ],
)
async def test_an_answer_that_is_no_state(path: str, told: str) -> None:
    async with Product(harness(Http(path))) as product:
        with pytest.raises(ProductError, match=told) as caught:
            await product.read_state()
        assert f"{product.base_url}{path}" in str(caught.value) and product.values["secret"] not in str(caught.value)


async def test_a_wrong_secret_is_told_without_being_shown() -> None:
    async with Product(harness(Http("/test/state", secret="guess-me"), HttpReset("/test/reset"))) as product:
        with pytest.raises(ProductError, match=r"answered 404; is the path right, and does it take the header X-UIGym-Secret") as caught:  # fmt: skip
            await product.read_state()
        assert "guess-me" not in str(caught.value)


async def test_a_server_that_is_down_or_slow_or_unknown() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{unused.getsockname()[1]}/state"
        async with Product(harness(Http(nobody), HttpReset("/slow", timeout_s=0.1))) as product:
            with pytest.raises(
                ProductError, match=r"cannot be reached \(.*\); is a server listening on 127.0.0.1:\d+\?"
            ):
                await product.read_state()
            with pytest.raises(ProductError, match=r"POST http://.*/slow: no answer within 0\.1 s"):
                await product.reset(0)
    async with Product(harness(Http("http://127.0.0.1:{prot}/state"))) as product:
        with pytest.raises(HarnessError, match=r"names \{prot\}, which nothing gives. Did you mean \"port\"\?"):
            await product.read_state()


@pytest.mark.parametrize("url", ["test/state", "ftp://x/y", "//x/y", "", 3])
def test_what_is_no_control_url(url: Any) -> None:
    for kind in (Http, HttpReset):
        with pytest.raises(HarnessError, match="is no control URL"):
            kind(url)


async def test_keys_and_what_is_ignored_must_be_there() -> None:
    state = await _state_of(Http("/test/state", keys={"items": "name"}, ignore=["log.at"]))
    assert state.keys == {"items": ("name",)} and state.tables["log"] == ({},)
    for options, told in [
        ({"keys": {"itms": "id"}}, 'gave no table "itms", which keys= names. Did you mean "items"'),
        ({"keys": {"items": ("nam",)}}, 'no column "nam" for its key. Did you mean "name"'),
        ({"ignore": ["lg"]}, 'gave no table "lg" to ignore. Did you mean "log"'),
        ({"ignore": ["items.nme"]}, 'no column "nme" to ignore. Did you mean "name"'),
        ({"ignore": ["items", "log"]}, "all tables are ignored"),
    ]:
        with pytest.raises(ProductError, match=told):
            await _state_of(Http("/test/state", **options))  # type: ignore[arg-type]


async def _state_of(probe: Http) -> State:
    async with Product(harness(probe)) as product:
        return await product.read_state()


async def test_one_object_is_a_table_of_one_row() -> None:
    assert (await _state_of(Http("/one"))).tables == {"settings": ({"theme": "dark"},)}


async def test_a_control_port_is_free_and_given_back() -> None:
    from uigym.product import command

    class Answering(Http):
        async def started(self, product: Product) -> None:
            async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                await reader.readuntil(b"\r\n\r\n")
                writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{"items": []}')
                await writer.drain()
                writer.close()

            self.server = await asyncio.start_server(answer, "127.0.0.1", int(product.values["control_port"]))

    probe = Answering("http://127.0.0.1:{control_port}/state")
    async with Product(harness(probe)) as product:
        assert (await product.read_state()).tables == {"items": ()}
        port = int(product.values["control_port"])
        assert port in command._taken and port != product.port
        probe.server.close()
        await probe.server.wait_closed()
    assert port not in command._taken


json_values = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | st.text()  # fmt: skip
table_rows = st.lists(st.dictionaries(st.text(), json_values | st.lists(json_values), max_size=4), max_size=4)


@given(st.dictionaries(st.text(), table_rows, min_size=1, max_size=3))
def test_tables_come_through_json_as_they_were(tables: dict[str, list[Any]]) -> None:
    assert tables_of(json.dumps(tables), "here") == {name: tuple(rows) for name, rows in tables.items()}


@given(st.text())
def test_any_text_is_tables_or_one_clear_error(text: str) -> None:
    with contextlib.suppress(ProductError):
        assert isinstance(tables_of(text, "here"), dict)


# --- CommandReset ------------------------------------------------------------------------------------------------


def runs(pid: int) -> bool:
    """Whether a process is there and has not merely not been reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def reset_by(command: str, seed: int = 3, **looks: str) -> str:
    found = {part: Looks((value,)) for part, value in looks.items()}
    async with Product(harness(reset=CommandReset(command), looks=found)) as product:
        await product.reset(seed)
        return (product.workdir / "out").read_text().strip()


async def test_a_command_knows_the_seed_the_look_and_the_product() -> None:
    line = 'sh -c \'echo "$1;$2;$3;$4" > "$5/out"\' x {seed} {theme} {appearance} {port} {workdir}'
    seed, theme, appearance, port = (await reset_by(line, theme="dark")).split(";")
    assert (seed, theme, json.loads(appearance)) == ("3", "dark", {"theme": "dark"}) and int(port) > 0
    assert await reset_by("MODE=x sh -c 'echo $MODE > {workdir}/out'") == "x"


async def test_a_command_that_fails_says_how() -> None:
    with pytest.raises(
        ProductError, match=r"ended with status 4\nThe end of its output:\n[\s\S]*no such table"
    ) as caught:
        await reset_by("sh -c 'yes padding | head -9999; echo no such table >&2; exit 4'")
    assert len(str(caught.value)) < 3_000
    with pytest.raises(ProductError, match=r"could not be run: .*Is 'no-such-program' installed\?"):
        await reset_by("no-such-program {seed}")


@pytest.mark.parametrize(
    ("line", "told"), [("", "names no program"), ("a 'b", "cannot be read"), ("a && b", "no shell")]
)
def test_a_command_that_cannot_be_one(line: str, told: str) -> None:
    with pytest.raises(HarnessError, match=f"the reset command .*{told}"):
        CommandReset(line)


async def test_whatever_a_command_starts_ends_with_it() -> None:
    began = time.monotonic()
    pid = int(await reset_by("sh -c 'sleep 60 & echo $! > {workdir}/out'"))
    assert time.monotonic() - began < 30
    assert not runs(pid)


async def test_a_command_that_never_ends_is_ended(tmp_path: Path) -> None:
    reset = CommandReset(f"sh -c 'echo $$ > {tmp_path}/pid; sleep 60'")
    async with Product(harness(reset=reset, ready_timeout_s=1.0)) as product:
        with pytest.raises(ProductError, match="it took more than 1 s"):
            await product.reset(0)
    assert not runs(int((tmp_path / "pid").read_text()))


# --- several as one ----------------------------------------------------------------------------------------------


def files_and_rows(workdir: Path) -> Any:
    with contextlib.closing(sqlite3.connect(workdir / "shop.db")) as database, database:
        database.execute("CREATE TABLE items (id INTEGER PRIMARY KEY)")
    (workdir / "out").mkdir()
    return shop(workdir)


async def test_several_probes_and_resets_are_one() -> None:
    state = Together(Sqlite("shop.db"), Together(Files("out"), read))
    reset = InOrder(Snapshot("shop.db"), Directory("out"))
    async with Product(harness(state, reset, asgi=files_and_rows)) as product:
        first = await product.reset(0)
        assert first.tables == {"items": (), "files": (), "t": ({"id": 1},)}
        assert first.keys == {"items": ("id",), "files": ("path",)}
        (product.workdir / "out/a").write_text("a")
        with contextlib.closing(sqlite3.connect(product.workdir / "shop.db")) as database, database:
            database.execute("INSERT INTO items VALUES (1)")
        assert [len(rows) for rows in (await product.read_state()).tables.values()] == [1, 1, 1]
        assert (await product.reset(0)).digest() == first.digest()
        for several in (state, reset):
            assert {str(product.workdir / "shop.db"), str(product.workdir / "out")} <= set(several.control(product))


class Hooked:
    """Both a probe and a reset, which tells when it is called."""

    def __init__(self) -> None:
        self.told: list[str] = []

    async def prepare(self, product: Any) -> dict[str, str]:
        self.told.append("prepare")
        return {"number": "7"}

    async def started(self, product: Any) -> None:
        self.told.append("started")

    async def ended(self, product: Any) -> None:
        self.told.append("ended")

    async def __call__(self, product: Any, *rest: Any) -> Any:
        return None if rest else State({"hooked": ({"number": product.values["number"]},)})


async def test_a_part_is_prepared_once_though_it_is_in_both() -> None:
    part = Hooked()
    async with Product(harness(Together(part, read), InOrder(part, nothing))) as product:
        assert (await product.reset(0)).tables["hooked"] == ({"number": "7"},)
    assert part.told == ["prepare", "started", "ended"]


async def empty(product: Any) -> State:
    return State()


async def test_what_cannot_be_together() -> None:
    async with Product(harness(Together(read, read))) as product:
        with pytest.raises(HarnessError, match="read gives table 't', as a probe before it does"):
            await product.read_state()
    async with Product(harness(Together(read, empty))) as product:
        with pytest.raises(ProductError, match="empty gave State"):
            await product.read_state()
    for kind in (Together, InOrder):
        with pytest.raises(HarnessError, match=r"needs at least one part"):
            kind()
        with pytest.raises(HarnessError, match=r"'shop.db' cannot be called"):
            kind("shop.db")  # type: ignore[arg-type]
