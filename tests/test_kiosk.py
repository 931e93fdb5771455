"""The kiosk: the app on its own, its data, its tasks and their verifiers."""

from __future__ import annotations

import inspect
import re
import socket
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from uigym.apps.kiosk import looks, seed, store, view
from uigym.apps.kiosk.app import create_app
from uigym.apps.kiosk.catalogue import CATEGORIES, NOTES
from uigym.harness import Instance, Split
from uigym.harnesses.kiosk import kiosk
from uigym.product.state import Sqlite
from uigym.types import Episode, State, Stop, Verdict

ROOT = Path(__file__).parent.parent
SEEDS = [*range(30), *(Split.HELDOUT.seed(i) for i in range(10))]


@pytest.fixture
def db_path(tmp_path: Path) -> Path:
    path = tmp_path / "kiosk.db"
    seed.write(path, 0, {})
    return path


@pytest.fixture
async def client(db_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=create_app(db_path.parent))
    async with httpx.AsyncClient(transport=transport, base_url="http://kiosk") as client:
        yield client


def read(path: Path) -> State:
    return Sqlite("kiosk.db").read(path)


def row(path: Path, query: str) -> store.Row:
    with closing(seed.connect(path)) as db:
        return store.one(db, query)


# --- the app -------------------------------------------------------------------------------------------------


async def test_an_order_from_the_first_tap_to_the_payment(client: httpx.AsyncClient, db_path: Path) -> None:
    item = row(db_path, "SELECT * FROM items WHERE NOT sold_out AND large_cents IS NULL AND NOT has_extras")
    assert item["name"] in (await client.get("/menu/" + row(db_path, _category(item))["slug"])).text
    await client.post(f"/items/{item['id']}")
    await client.post(f"/items/{item['id']}")
    await client.post("/ticket/note", data={"note": "  to   go "})
    shown = await client.post("/tables", data={"table": 2, "menu": ""}, follow_redirects=True)
    assert f"2 {item['name']}" in shown.text and "Table 2" in shown.text and "to go" in shown.text
    sent = await client.post("/ticket/send", headers={"X-Fragment": "1"})
    order = row(db_path, "SELECT * FROM orders ORDER BY id DESC")
    assert f"Order {order['id']} sent" in sent.text
    assert (order["table_no"], order["note"], order["total_cents"]) == (2, "to go", 2 * item["price_cents"])
    assert order["sent_at"] == seed.CLOCK
    paid = await client.post(f"/orders/{order['id']}/pay", data={"by": "card"}, follow_redirects=True)
    assert "Paid by card" in paid.text
    assert row(db_path, "SELECT * FROM ticket") == {"id": 1, "table_no": None, "note": ""}


def _category(item: store.Row) -> str:
    return f"SELECT * FROM categories WHERE id = {item['category_id']}"


async def test_size_and_extras_make_the_price(client: httpx.AsyncClient, db_path: Path) -> None:
    item = row(db_path, "SELECT * FROM items WHERE NOT sold_out AND large_cents > 0 AND has_extras")
    extra = row(db_path, f"SELECT * FROM extras WHERE item_id = {item['id']}")
    assert extra["name"] in (await client.get(f"/items/{item['id']}")).text
    await client.post(f"/items/{item['id']}", data={"size": "large", "extra": str(extra["id"])})
    line = row(db_path, "SELECT * FROM ticket_lines")
    assert (line["size"], line["extras"]) == ("large", extra["name"])
    assert line["unit_cents"] == item["large_cents"] + extra["price_cents"]


async def test_a_ticket_without_table_is_not_sent(client: httpx.AsyncClient, db_path: Path) -> None:
    before = read(db_path).tables["orders"]
    assert "Choose a table" in (await client.post("/ticket/send", headers={"X-Fragment": "1"})).text
    assert read(db_path).tables["orders"] == before


async def test_a_sold_out_item_is_not_ordered(client: httpx.AsyncClient, db_path: Path) -> None:
    item = row(db_path, "SELECT * FROM items WHERE sold_out")
    answer = await client.post(f"/items/{item['id']}", headers={"X-Fragment": "1"})
    assert f"{item['name']} is sold out" in answer.text
    assert read(db_path).tables["ticket_lines"] == ()


async def test_the_last_piece_of_an_order_stays(client: httpx.AsyncClient, db_path: Path) -> None:
    order = row(db_path, "SELECT * FROM orders WHERE status = 'sent'")
    for _ in range(12):
        lines = [line for line in read(db_path).tables["order_lines"] if line["order_id"] == order["id"]]
        await client.post(f"/orders/{order['id']}/take-off", data={"line": lines[0]["id"]})
    assert [line["quantity"] for line in lines] == [1]
    assert row(db_path, f"SELECT * FROM orders WHERE id = {order['id']}")["total_cents"] == lines[0]["unit_cents"]


async def test_a_closed_order_stays_closed(client: httpx.AsyncClient, db_path: Path) -> None:
    order = row(db_path, "SELECT * FROM orders WHERE status = 'paid'")
    await client.post(f"/orders/{order['id']}/cancel")
    assert row(db_path, f"SELECT * FROM orders WHERE id = {order['id']}") == order
    assert "Cancel" not in (await client.get(f"/orders/{order['id']}/cancel")).text


@pytest.mark.parametrize(
    "path", ["/orders/9999", "/orders/tea", "/menu/bread", "/nowhere", "/items/0", "/orders?page=x"]
)
async def test_what_is_not_there_is_said(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path)
    assert answer.status_code == 404 and "Not found" in answer.text and "Menu" in answer.text


async def test_bad_forms_change_nothing(client: httpx.AsyncClient, db_path: Path) -> None:
    before = read(db_path)
    number = before.tables["orders"][-1]["id"]
    for path, data in [
        ("/tables", {"table": "99"}),
        ("/tables", {}),
        (f"/orders/{number}/pay", {"by": "cheque"}),
        (f"/orders/{number}/take-off", {"line": "99999"}),
        ("/ticket/lines/1", {"do": "double"}),
    ]:
        assert (await client.post(path, data=data)).status_code == 404, path
    assert read(db_path) == before


async def test_text_from_outside_is_escaped(client: httpx.AsyncClient) -> None:
    await client.post("/ticket/note", data={"note": "<b>no ice</b>"})
    text = (await client.get("/")).text
    assert "&lt;b&gt;no ice&lt;/b&gt;" in text and "<b>no ice" not in text


async def test_a_tap_costs_a_few_milliseconds(client: httpx.AsyncClient) -> None:
    times = []
    for _ in range(40):
        start = time.process_time()
        await client.post("/items/1", headers={"X-Fragment": "1"})
        times.append(time.process_time() - start)
    assert statistics.median(times) < 0.005


def test_quick_lines_fit_the_ticket_panel() -> None:
    line = {"item": "Club sandwich", "size": "", "extras": "", "quantity": 2, "id": 1}
    ticket = {"lines": [{**line, "id": i} for i in range(1, 6)], "note": ""}
    shown, hidden = view.shown_lines(ticket, looks.DEFAULTS)
    assert [each["id"] for each in shown] == [4, 5] and hidden == 3
    shown, hidden = view.shown_lines({**ticket, "lines": ticket["lines"][:3]}, looks.DEFAULTS)
    assert len(shown) == 3 and hidden == 0
    shown, hidden = view.shown_lines({**ticket, "note": "to go"}, {**looks.DEFAULTS, "layout": "rail"})
    assert len(shown) == 1 and hidden == 4


def test_it_runs_as_a_command() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "apps.kiosk", "--port", str(port), "--seed", "3", "--theme", "night"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().split()[0]
            assert url == f"http://127.0.0.1:{port}/"
            assert "Total" in _eventually(url)
        finally:
            process.terminate()


def _eventually(url: str, tries: int = 100) -> str:
    for _ in range(tries):
        try:
            return httpx.get(url).text
        except httpx.ConnectError:
            time.sleep(0.05)
    raise AssertionError(f"{url} did not answer")


# --- its data ------------------------------------------------------------------------------------------------


def test_same_seed_same_data(db_path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    seed.write(other, 7, {})
    seed.write(db_path, 7, {})
    assert read(db_path).digest() == read(other).digest()
    seed.write(db_path, 8, {})
    assert read(db_path).digest() != read(other).digest()


def test_writing_is_fast(db_path: Path) -> None:
    times = []
    for number in range(30):
        start = time.process_time()
        seed.write(db_path, number, {})
        times.append(time.process_time() - start)
    assert statistics.median(times) < 0.03


@pytest.mark.parametrize("appearance", [{"theme": "beige"}, {"size": "big"}])
def test_an_unknown_look_is_refused(db_path: Path, appearance: dict[str, str]) -> None:
    before = read(db_path)
    with pytest.raises(ValueError, match="expected one of"):
        seed.write(db_path, 1, appearance)
    assert read(db_path) == before


@pytest.mark.parametrize("number", SEEDS)
def test_questions_have_one_answer(number: int) -> None:
    data = seed.draw(number)
    open_ones = [order for order in data["orders"] if order["status"] in ("sent", "ready")]
    assert 4 <= len(open_ones) <= 6 and len({order["table_no"] for order in open_ones}) == len(open_ones)
    assert [order["status"] for order in open_ones].count("ready") == 1
    numbers = [order["id"] for order in open_ones]
    lines = [line for line in data["order_lines"] if line["order_id"] in numbers]
    assert len({line["item"] for line in lines}) == len(lines)
    assert {line["order_id"] for line in lines} == set(numbers)
    assert 1 <= sum(item["sold_out"] for item in data["items"]) <= 2
    for category in data["categories"]:
        assert 4 <= sum(item["category_id"] == category["id"] for item in data["items"]) <= 6


def test_names_are_short_and_only_once() -> None:
    names = [name for category in CATEGORIES.values() for name in category.names]
    assert len(names) == len(set(names)) >= 60
    assert all(len(name) <= 16 and max(map(len, name.split())) <= 10 for name in names)
    assert all(len(note) <= store.MAX_NOTE for note in NOTES)


# --- its tasks -----------------------------------------------------------------------------------------------


def test_there_are_enough_tasks_of_each_length() -> None:
    short = [task for task in kiosk.tasks.values() if (task.expected_steps or 99) <= 4]
    assert len(kiosk.tasks) >= 12 and len(short) >= 7
    for task in kiosk.tasks.values():
        assert len(task.wordings) >= 2 and task.solve is not None
        assert task.tags[1] == ("short" if task in short else "long")
        assert task.expected_steps is not None and task.expected_steps < task.max_steps


def test_heldout_seeds_look_unlike_training(db_path: Path) -> None:
    parts = ("theme", "layout", "font")
    seen = [{kiosk.appearance(split.seed(i))[part] for i in range(200)} for split in Split for part in parts]
    train, heldout = seen[: len(parts)], seen[-len(parts) :]
    assert [len(values) for values in train] == [10, 5, 4]
    assert [len(values) for values in heldout] == [4, 3, 2]
    assert not any(a & b for a, b in zip(train, heldout, strict=True))


@pytest.mark.parametrize("name", kiosk.tasks)
def test_every_seed_gives_an_instruction_that_can_be_read(name: str, db_path: Path) -> None:
    task, seen = kiosk.tasks[name], set()
    for number in SEEDS:
        seed.write(db_path, number, kiosk.appearance(number))
        state = read(db_path)
        instance = task.instance(number, state)
        seen.add(instance.instruction)
        assert len(instance.instruction) <= 72 and not re.search(r"[{}]|None", instance.instruction)
        assert not judged(instance, state, state).success
    assert len(seen) > 1


def judged(instance: Instance, before: State, after: State, **ended: Any) -> Verdict:
    episode = Episode(
        id="e",
        harness="kiosk",
        task=instance.task.name,
        seed=instance.seed,
        params=instance.params,
        instruction=instance.instruction,
        steps=(),
        before=before,
        after=after,
        **{"stop": Stop.ANSWERED if "answer" in ended else Stop.DONE, "url": "http://127.0.0.1:1/", **ended},
    )
    return instance.verifier(episode)


Act = Callable[[sqlite3.Connection, Any], object]


def played(path: Path, name: str, act: Act, number: int = 5, **ended: Any) -> Verdict:
    """The verdict on what `act(database, parameters)` does in a fresh app."""
    seed.write(path, number, {})
    before = read(path)
    instance = kiosk.tasks[name].instance(number, before)
    with closing(seed.connect(path)) as db, db:
        act(db, instance.params)
    return judged(instance, before, read(path), **ended)


def ordering(p: Any, *items: store.Row, times: int = 1, **other: Any) -> Act:
    """Send one order as the parameters say, apart from what is given otherwise."""

    def act(db: sqlite3.Connection, _: Any) -> None:
        for item in items or (p["item"],):
            for _ in range(times):
                store.add(db, item["id"], other.get("size", p.get("size", "")), other.get("extras", []))
        store.choose_table(db, other.get("table", p["table"]))
        store.write_note(db, other.get("note", p.get("note", "")))
        store.send(db)

    return act


def _other_table(p: Any) -> int:
    return int(p["table"]) % 6 + 1


RIGHT: dict[str, Act] = {
    "add_item": lambda db, p: store.add(db, p["item"]["id"], "", []),
    "choose_table": lambda db, p: store.choose_table(db, p["table"]),
    "write_note": lambda db, p: store.write_note(db, p["note"]),
    "pay_order": lambda db, p: store.close(db, p["number"], "paid", p["by"]),
    "take_off": lambda db, p: store.take_off(db, p["order"]["id"], p["line"]["id"]),
    "sell_out": lambda db, p: store.flip_stock(db, p["item"]["id"]),
    "restock": lambda db, p: store.flip_stock(db, p["item"]["id"]),
    "cancel_order": lambda db, p: store.close(db, p["number"], "cancelled"),
    "order": lambda db, p: ordering(p)(db, p),
    "order_several": lambda db, p: ordering(p, times={"two": 2, "three": 3}[p["count"]])(db, p),
    "order_pair": lambda db, p: ordering(p, p["other"], p["item"])(db, p),
    "order_size": lambda db, p: ordering(p)(db, p),
    "order_extra": lambda db, p: ordering(p, size="large", extras=_extra_ids(db, p["item"], p["extra"]))(db, p),
    "order_note": lambda db, p: ordering(p)(db, p),
    "order_three": lambda db, p: ordering(p, p["first"], p["second"], p["third"])(db, p),
}


def _extra_ids(db: sqlite3.Connection, item: store.Row, name: str) -> list[int]:
    return [extra["id"] for extra in store.item(db, item["id"])["extras"] if extra["name"] == name]


def _other_open(db: sqlite3.Connection, number: int) -> int:
    return next(order["id"] for order in store.open_orders(db) if order["id"] != number)


@pytest.mark.parametrize("name", RIGHT)
def test_the_right_deed_passes_and_near_misses_fail(name: str, db_path: Path) -> None:
    right = RIGHT[name]
    for number in range(5):
        verdict = played(db_path, name, right, number)
        assert verdict.success, verdict.reason
    assert not played(db_path, name, right, stop=Stop.MAX_STEPS).success  # not said to be done
    for spoil in (
        lambda db, p: store.flip_stock(db, 1 if p.get("item", {}).get("id") != 1 else 2),
        lambda db, p: store.close(db, _other_open(db, p.get("number", p.get("order", {}).get("id", 0))), "cancelled"),
        lambda db, p: store.add(db, _plain_item(db, p), "", []),
    ):
        verdict = played(db_path, name, lambda db, p, spoil=spoil: (right(db, p), spoil(db, p)))
        assert not verdict.success and verdict.score == 0 and verdict.side_effects


def _plain_item(db: sqlite3.Connection, p: Any) -> int:
    plain = "SELECT id FROM items WHERE NOT sold_out AND large_cents IS NULL AND id != ?"
    return int(store.one(db, plain, p.get("item", {}).get("id", 0))["id"])


NEAR: list[tuple[str, str, Act]] = [
    ("order", "wrong table", lambda db, p: ordering(p, table=_other_table(p))(db, p)),
    ("order", "two of it", lambda db, p: ordering(p, times=2)(db, p)),
    ("order", "sent twice", lambda db, p: (ordering(p)(db, p), ordering(p)(db, p))),
    ("order", "with a note", lambda db, p: ordering(p, note="to go")(db, p)),
    ("order", "with something else", lambda db, p: ordering(p, p["item"], {"id": _plain_item(db, p)})(db, p)),
    ("order", "something else", lambda db, p: ordering(p, {"id": _plain_item(db, p)})(db, p)),
    ("order", "not sent", lambda db, p: (store.add(db, p["item"]["id"], "", []), store.choose_table(db, p["table"]))),
    ("order_several", "one", lambda db, p: ordering(p)(db, p)),
    ("order_several", "in two orders", lambda db, p: [ordering(p)(db, p) for _ in range(2)]),
    ("order_pair", "half of it", lambda db, p: ordering(p)(db, p)),
    ("order_pair", "in two orders", lambda db, p: (ordering(p)(db, p), ordering(p, p["other"])(db, p))),
    ("order_size", "other size", lambda db, p: ordering(p, size={"small": "large"}.get(p["size"], "small"))(db, p)),
    ("order_extra", "no extra", lambda db, p: ordering(p, size="large")(db, p)),
    ("order_note", "other note", lambda db, p: ordering(p, note=p["note"] + "!")(db, p)),
    ("order_note", "no note", lambda db, p: ordering(p, note="")(db, p)),
    ("cancel_order", "another one", lambda db, p: store.close(db, _other_open(db, p["number"]), "cancelled")),
    ("cancel_order", "paid", lambda db, p: store.close(db, p["number"], "paid", "cash")),
    (
        "pay_order",
        "other money",
        lambda db, p: store.close(db, p["number"], "paid", {"cash": "card"}.get(p["by"], "cash")),
    ),
    (
        "take_off",
        "twice",
        lambda db, p: [RIGHT["take_off"](db, p), RIGHT["cancel_order"](db, {"number": p["order"]["id"]})],
    ),
    ("add_item", "two of it", lambda db, p: [store.add(db, p["item"]["id"], "", []) for _ in range(2)]),
    ("choose_table", "another", lambda db, p: store.choose_table(db, _other_table(p))),
    ("sell_out", "another", lambda db, p: store.flip_stock(db, p["item"]["id"] % 4 + 1)),
]


@pytest.mark.parametrize(("name", "what", "act"), NEAR, ids=[f"{name}: {what}" for name, what, _ in NEAR])
def test_near_misses_fail(name: str, what: str, act: Act, db_path: Path) -> None:
    verdict = played(db_path, name, act)
    assert not verdict.success and verdict.score < 1 and verdict.reason


QUESTIONS: dict[str, Callable[[Any], str]] = {
    "item_price": lambda p: view.money(p["item"]["price_cents"]),
    "large_price": lambda p: view.money(p["item"]["large_cents"]),
    "table_owes": lambda p: view.money(p["order"]["total_cents"]),
    "who_ordered": lambda p: str(p["order"]["table_no"]),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_only_the_right_answer_passes(name: str, db_path: Path) -> None:
    state = read(db_path)
    instance = kiosk.tasks[name].instance(0, state)
    answer = QUESTIONS[name](instance.params)
    assert judged(instance, state, state, answer=answer).success
    for wrong in (answer + "0", "1" + answer, f"{answer} or 3", ""):
        assert not judged(instance, state, state, answer=wrong).success
    seed.write(db_path, 0, {"theme": "night"})
    assert not judged(instance, state, read(db_path), answer=answer).success


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("open_category", "/menu/{category}"),
        ("open_section", "/{section}"),
        ("show_order", "/orders/{number}"),
        ("open_ready", "/orders/{order[id]}"),
    ],
)
def test_only_the_right_page_passes(name: str, right: str, db_path: Path) -> None:
    state = read(db_path)
    instance = kiosk.tasks[name].instance(0, state)
    path = right.format(**instance.params).lower().replace("/stock", "/stock/tea")
    base = "http://127.0.0.1:8000"
    assert judged(instance, state, state, url=base + path).success
    for wrong in ("/", "/menu/none", "/tables", path + "/cancel"):
        assert not judged(instance, state, state, url=base + wrong).success
    assert not judged(instance, state, state, url=base + path, stop=Stop.MAX_STEPS).success


def test_oracles_take_only_what_they_need() -> None:
    for task in kiosk.tasks.values():
        assert task.solve is not None
        assert set(inspect.signature(task.solve).parameters) <= {"page", *task.samplers}
