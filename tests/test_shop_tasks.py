"""The tasks of the shop: drawn for every seed, solved by their oracles, and paid for nothing less."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from uigym.apps.shop import seed
from uigym.apps.shop.app import create_app
from uigym.harness import Instance, Split
from uigym.policy.scripted import OraclePolicy
from uigym.registry import load
from uigym.rollout import Request, rollout
from uigym.types import Download, Episode, State, Stop, Verdict

SHOP = load("shop")
SEEDS = [split.seed(index) for split in Split for index in range(12)]
SKILLS = {
    "navigate",
    "find",
    "form",
    "edit",
    "multi-step",
    "drag",
    "rich-text",
    "table",
    "date",
    "file",
    "compare",
    "answer",
    "refuse",
}
Post = tuple[str, dict[str, Any]]
Params = Mapping[str, Any]


@dataclass
class Attempt:
    """One task on one seed's data, acted on over HTTP."""

    http: httpx.AsyncClient
    path: Path
    instance: Instance
    before: State

    @property
    def state(self) -> State:
        return SHOP.state.read(self.path)  # type: ignore[attr-defined]

    async def post(self, posts: list[Post]) -> None:
        for path, form in posts:
            answer = await self.http.post(path, data=form)
            assert answer.status_code in (303, 404, 422), path

    def verdict(self, answer: str | None = None, url: str = "", files: tuple[Download, ...] = ()) -> Verdict:
        stop = Stop.DONE if answer is None else Stop.ANSWERED
        task, params, said = self.instance.task.name, self.instance.params, self.instance.instruction
        episode = Episode(
            "e", "shop", task, self.instance.seed, params, said, (), stop,
            answer=answer, url=url, before=self.before, after=self.state, downloads=files,
        )  # fmt: skip
        return self.instance.verifier(episode)


@asynccontextmanager
async def attempt(folder: Path, task: str, data_seed: int = 0) -> AsyncIterator[Attempt]:
    path = folder / "shop.db"
    seed.write(path, data_seed, {})
    before = SHOP.state.read(path)  # type: ignore[attr-defined]
    async with httpx.AsyncClient(transport=httpx.ASGITransport(create_app(folder)), base_url="http://shop") as http:
        yield Attempt(http, path, SHOP.tasks[task].instance(data_seed, before), before)


def adding(p: Params) -> list[Post]:
    variant = p["variant"]
    form = {"act": "add", "colour": variant["colour"], "size": variant["size"], "quantity": p["quantity"]}
    return [(f"/products/{variant['product_id']}", form)]


def adding_cheapest(p: Params) -> list[Post]:
    variant = next(row for row in p["product"]["variants"] if row["stock"])
    return [(f"/products/{p['product']['id']}", {"act": "add", "colour": variant["colour"], "size": variant["size"]})]


def ordering(p: Params) -> list[Post]:
    address = {key: p["address"][key] for key in ("name", "street", "city", "postal_code", "country")}
    card = {"holder": "A B", "number": p["card"], "expiry": "09/29", "cvc": "737"}
    coupon: list[Post] = [("/cart", {"act": "coupon", "code": p["code"]})] if "code" in p else []
    steps: list[Post] = [("/checkout/address", address), ("/checkout/delivery", {"delivery": p["delivery"]})]
    return [*coupon, *steps, ("/checkout/payment", card), ("/checkout/review", {})]


def returning(p: Params) -> list[Post]:
    line, how = p["line"], p["resolution"].split()[-1]
    form = {"line": line["id"], f"quantity-{line['id']}": 1, "reason": p["reason"].lower(), "resolution": how}
    return [(f"/account/orders/{line['order_id']}/return", form)]


def editing(id: int, p: Params, state: State, **other: Any) -> list[Post]:
    """A product's form with other values."""
    product = next(row for row in state.tables["products"] if row["id"] == id)
    form = {key: product[key] for key in ("title", "description", "visible")}
    form["compare_at"] = product["compare_at"] / 100 if product["compare_at"] else ""
    for row in (row for row in state.tables["variants"] if row["product_id"] == id):
        form |= {f"price-{row['id']}": row["price"] / 100, f"stock-{row['id']}": row["stock"]}
    return [(f"/office/products/{id}", {**form, **other})]


def discounting(p: Params) -> list[Post]:
    form = {"code": p["code"], "kind": "percent", "value": p["percent"], "minimum": p["least"] / 100}
    return [("/office/discounts/new", {**form, "starts_on": p["starts"], "ends_on": p["ends"]})]


def ending(p: Params) -> list[Post]:
    row = p["discount"]
    value = row["value"] / 100 if row["kind"] == "fixed" else row["value"]
    form = {**row, "value": value, "minimum": row["minimum"] / 100, "ends_on": p["ends"]}
    return [(f"/office/discounts/{row['id']}", form)]


def refunding(p: Params) -> list[Post]:
    return [(f"/office/orders/{p['order']['id']}", {"act": "refund", "amount": p["amount"], "reason": p["reason"]})]


SOLUTIONS: dict[str, Callable[[Params, State], list[Post]]] = {
    "add_variant": lambda p, s: adding(p),
    "add_cheapest": lambda p, s: adding_cheapest(p),
    "add_many": lambda p, s: adding(p),
    "change_quantity": lambda p, s: [
        ("/cart", {"act": "quantity", "line": p["line"]["line"], "quantity": p["quantity"]})
    ],
    "tidy_cart": lambda p, s: [
        ("/cart", {"act": "save", "line": p["line"]["line"]}),
        ("/cart", {"act": "remove", "line": p["other"]["line"]}),
    ],
    "use_coupon": lambda p, s: [("/cart", {"act": "coupon", "code": p["code"]})],
    "wish_for_best": lambda p, s: [(f"/products/{p['product']['id']}", {"act": "wish"})],
    "unwish": lambda p, s: [("/account/wishes", {"act": "unwish", "product": p["product"]["id"]})],
    "order_cart": lambda p, s: ordering(p),
    "order_with_coupon": lambda p, s: ordering(p),
    "cancel_order": lambda p, s: [(f"/account/orders/{p['order']['id']}", {"act": "cancel"})],
    "return_item": lambda p, s: returning(p),
    "order_again": lambda p, s: [(f"/account/orders/{p['order']['id']}", {"act": "again"})],
    "change_default_address": lambda p, s: [("/account/addresses", {"act": "default", "address": p["address"]["id"]})],
    "add_address": lambda p, s: [
        (
            "/account/addresses",
            {
                "act": "add",
                "name": p["name"],
                "street": p["street"],
                "city": p["place"][0],
                "postal_code": p["place"][1],
                "country": p["place"][2],
            },
        )
    ],
    "fulfil_and_tag": lambda p, s: [
        (f"/office/orders/{p['order']['id']}", {"act": "fulfil"}),
        (f"/office/orders/{p['order']['id']}", {"act": "tag", "tag": p["tag"]}),
    ],
    "fulfil_tagged": lambda p, s: [("/office/orders", {"act": "fulfil", "id": id}) for id in p["work"]["ids"]],
    "refund_part": lambda p, s: refunding(p),
    "note_newest_order": lambda p, s: [
        (f"/office/orders/{p['customer']['order']}", {"act": "note", "note": p["note"]})
    ],
    "decide_return": lambda p, s: [
        (
            f"/office/orders/{p['wanted']['order']}",
            {
                "act": "return",
                "return": p["wanted"]["id"],
                "status": "accepted" if p["verb"] == "accept" else "refused",
            },
        )
    ],
    "set_stock": lambda p, s: editing(p["variant"]["product_id"], p, s, **{f"stock-{p['variant']['id']}": p["stock"]}),
    "adjust_stock": lambda p, s: [
        (f"/office/inventory/{p['variant']['id']}", {"delta": p["delta"], "reason": p["reason"].lower()})
    ],
    "hide_product": lambda p, s: editing(p["product"]["id"], p, s, visible="0"),
    "put_on_sale": lambda p, s: editing(
        p["product"]["id"], p, s, compare_at=p["old"], **{f"price-{p['product']['variant']['id']}": p["price"]}
    ),
    "change_prices": lambda p, s: [
        (
            "/office/products",
            {"act": "prices", "category": p["category"]["id"], "direction": p["verb"], "percent": p["percent"]},
        )
    ],
    "move_category": lambda p, s: [("/office/categories", {"act": p["way"], "category": p["category"]["id"]})],
    "create_discount": lambda p, s: discounting(p),
    "end_discount": lambda p, s: ending(p),
}
"""How each task that changes something is done."""
ANSWERS: dict[str, Callable[[Params], str]] = {
    "price_difference": lambda p: str(p["difference"]),
    "count_orders": lambda p: str(p["kind"]["count"]),
    "largest_order": lambda p: str(p["kind"]["number"]),
    "order_email": lambda p: str(p["email"]),
    "customer_spent": lambda p: str(p["customer"]["spent"]),
    "add_more_than_stock": lambda p: "impossible",
    "use_expired_coupon": lambda p: "impossible",
    "refund_too_much": lambda p: "impossible",
}
TWINS = {"add_more_than_stock": "add_many", "use_expired_coupon": "use_coupon", "refund_too_much": "refund_part"}
"""What cannot be done, and the task of the same words that can."""
WRONG: dict[str, Callable[[Any], Any]] = {
    "quantity": lambda value: int(value) + 1,
    "delivery": lambda value: "pickup" if value != "pickup" else "express",
    "reason": lambda value: "lost" if value != "lost" else "stocktake",
    "resolution": lambda value: "refund" if value == "exchange" else "exchange",
    "street": lambda value: f"{value}a",
    "tag": lambda value: f"{value}s",
    "note": lambda value: f"{value}!",
    "status": lambda value: "accepted" if value == "refused" else "refused",
    "percent": lambda value: int(value) + 1,
    "ends_on": lambda value: "2027-03-01",
    "amount": lambda value: "4.50",
}


def with_wrong_value(posts: list[Post]) -> list[Post]:
    """The same acts with one wrong value in one of them; empty if they have none that could be wrong."""
    for i, (path, form) in enumerate(posts):
        name = next((name for name in WRONG if name in form), None)
        if name is not None:
            return [*posts[:i], (path, {**form, name: WRONG[name](form[name])}), *posts[i + 1 :]]
    return []


def extra(state: State) -> Post:
    """A change that no task asks for."""
    return (f"/office/customers/{state.tables['customers'][0]['id']}", {"note": "Oops"})


@pytest.mark.parametrize("split", Split)
def test_every_task_can_be_drawn(tmp_path: Path, split: Split) -> None:
    for index in range(12):
        data_seed = split.seed(index)
        seed.write(tmp_path / "shop.db", data_seed, SHOP.appearance(data_seed))
        state = SHOP.state.read(tmp_path / "shop.db")  # type: ignore[attr-defined]
        for task in SHOP.tasks.values():
            instance = task.instance(data_seed, state)
            again = task.instance(data_seed, state)
            assert (again.instruction, again.params) == (instance.instruction, instance.params)
            assert "{" not in instance.instruction


def test_tasks_are_described() -> None:
    assert len(SHOP.tasks) >= 24 and {*SOLUTIONS, *ANSWERS, "open_my_order", "export_orders"} == {*SHOP.tasks}
    for task in SHOP.tasks.values():
        assert task.solve is not None and task.heldout_wordings and len(task.wordings) + len(task.heldout_wordings) >= 3
        assert task.expected_steps is not None and task.expected_steps * 2 <= task.max_steps
        skills, hard = {*task.tags} & SKILLS, {*task.tags} & {"easy", "medium", "hard"}
        assert skills and len(hard) == 1 and skills | hard == {*task.tags}
    for refused, possible in TWINS.items():
        assert SHOP.tasks[refused].wordings == SHOP.tasks[possible].wordings


@pytest.mark.parametrize("data_seed", [0, Split.HELDOUT.seed(3)])
@pytest.mark.parametrize("task", SOLUTIONS)
async def test_the_asked_changes_pass(tmp_path: Path, task: str, data_seed: int) -> None:
    """Not before they are made, nor with an answer of "impossible" instead; the score never falls on the way."""
    async with attempt(tmp_path, task, data_seed) as play:
        assert play.verdict().score == 0 and play.verdict(answer="impossible").score == 0
        scores = []
        for post in SOLUTIONS[task](play.instance.params, play.before):
            await play.post([post])
            scores.append(play.verdict().score)
        verdict = play.verdict()
    assert verdict.success, verdict.reason
    assert scores == sorted(scores)


@pytest.mark.parametrize("task", SOLUTIONS)
async def test_near_misses_do_not_pass(tmp_path: Path, task: str) -> None:
    """Something besides, a wrong value, all but the last act, and the work twice."""
    async with attempt(tmp_path, task) as play:
        posts = SOLUTIONS[task](play.instance.params, play.before)
        misses = {"extra": [*posts, extra(play.before)], "wrong value": with_wrong_value(posts), "half": posts[:-1]}
        for name, acts in misses.items():
            seed.write(play.path, 0, {})
            await play.post(acts)
            verdict = play.verdict()
            assert not verdict.success and verdict.score < 1, name
            if name == "extra":
                assert verdict.score == 0 and verdict.side_effects


@pytest.mark.parametrize(
    "task", ["add_variant", "return_item", "refund_part", "change_prices", "add_address", "adjust_stock", "order_again"]
)
async def test_done_twice_is_not_done(tmp_path: Path, task: str) -> None:
    async with attempt(tmp_path, task) as play:
        before = play.state
        posts = SOLUTIONS[task](play.instance.params, play.before)
        await play.post(posts)
        once = play.state
        await play.post(posts)
        assert play.state.tables != before.tables
        assert play.state.tables == once.tables or play.verdict().score == 0


@pytest.mark.parametrize("task", ANSWERS)
async def test_answers(tmp_path: Path, task: str) -> None:
    async with attempt(tmp_path, task, 5) as play:
        right = ANSWERS[task](play.instance.params)
        assert play.verdict(answer=right).success and play.verdict(answer=f"{right}.").success
        for wrong in (None, "", f"{right}1", f"{right} or 3", "unknown", "possible", "7,777"):
            assert not play.verdict(answer=wrong).success
        await play.post([extra(play.before)])
        assert not play.verdict(answer=right).success


@pytest.mark.parametrize("data_seed", [3, Split.VALIDATION.seed(2), Split.HELDOUT.seed(5)])
@pytest.mark.parametrize("task", TWINS)
async def test_what_cannot_be_done_is_refused_by_the_shop(tmp_path: Path, task: str, data_seed: int) -> None:
    async with attempt(tmp_path, task, data_seed) as play:
        posts = SOLUTIONS[TWINS[task]](play.instance.params, play.before)
        for path, form in posts:
            assert (await play.http.post(path, data=form)).status_code == 422
        assert play.state.tables == play.before.tables
        assert play.verdict(answer="impossible").success and not play.verdict().success


async def test_the_page_must_be_the_orders_own(tmp_path: Path) -> None:
    async with attempt(tmp_path, "open_my_order") as play:
        page = f"http://127.0.0.1:1/account/orders/{play.instance.params['order']['id']}"
        assert play.verdict(url=page).success
        for wrong in (
            "http://127.0.0.1:1/",
            f"{page}/return",
            f"{page}0",
            "about:blank",
            page.replace("account", "office"),
        ):
            assert not play.verdict(url=wrong).success


async def test_the_file_must_hold_the_orders_asked_for(tmp_path: Path) -> None:
    async with attempt(tmp_path, "export_orders") as play:
        how = play.instance.params["fulfilment"].lower()

        async def file(query: str) -> Download:
            content = (await play.http.get(f"/office/orders.csv?{query}")).content
            return Download.of("orders.csv", content)

        right = await file(f"fulfilment={how}")
        assert play.verdict(files=(right,)).success
        other = "unfulfilled" if how != "unfulfilled" else "fulfilled"
        wrong = [await file(query) for query in ("", f"fulfilment={other}", f"fulfilment={how}&sort=total&dir=asc")]
        for files in ((), (right, right), *((each,) for each in wrong)):
            assert not play.verdict(files=files).success


@pytest.mark.browser
async def test_some_oracles_solve_their_tasks() -> None:
    """In a real browser, in Arabic, which runs from right to left, and within the steps that are expected."""
    await solve(["add_variant", "return_item", "create_discount", "largest_order"], [Split.HELDOUT.seed(4)])


@pytest.mark.slow
@pytest.mark.browser
async def test_all_oracles_solve_their_tasks() -> None:
    """Over seeds that between them have every value of every part of the appearance."""
    await solve([*SHOP.tasks], [*(Split.HELDOUT.seed(i) for i in range(5)), *(Split.TRAIN.seed(i) for i in range(8))])


async def solve(tasks: list[str], seeds: list[int]) -> None:
    requests = [Request(task, data_seed) for data_seed in seeds for task in tasks]
    async for finished in rollout(SHOP, OraclePolicy(), requests, slots=2):
        episode = finished.episode
        assert episode.verdict is not None, episode.failure
        assert episode.verdict.success, f"{episode.task} {episode.seed}: {episode.verdict.reason}"
        assert len(episode.steps) <= (SHOP.tasks[episode.task].expected_steps or 0), (episode.task, episode.seed)
