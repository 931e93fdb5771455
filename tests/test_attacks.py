"""The attacks on a harness: nothing gets through, and what would get through is seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, Response

from uigym.browser import Browser, guard, launch
from uigym.check.attacks import SECOND, Attempt, Target, attack, targets
from uigym.check.canary import Canary
from uigym.env import Env
from uigym.harness import Harness, Running
from uigym.product import Product
from uigym.registry import load
from uigym.types import State
from uigym.verify import passed

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
PAD = load(str(Path(__file__).parent / "gyms" / "pad.py"))


def leaks(attempts: list[Attempt]) -> dict[str, list[str]]:
    """Channels that got through, by target."""
    found: dict[str, list[str]] = {}
    for attempt in attempts:
        if attempt.got_through:
            found.setdefault(attempt.target, []).append(attempt.channel)
    return found


async def test_nothing_gets_through(browser: Browser) -> None:
    async with Env(PAD, browser) as env:
        await env.reset("add", 1)
        found = targets(env.product)
        names = {Path(target.place).name: target.kind for target in found}
        assert names["pad.db"] == "database" and names.keys() <= {
            "pad.db",
            "pad.db-wal",
            "pad.db-shm",
            "pad.db-journal",
        }
        attempts = await attack(env, found)
        tried = Counter(attempt.target for attempt in attempts)
        assert not leaks(attempts)
        assert tried[SECOND] >= 60 and len(attempts) >= 100
        refusals = env.session.guard.refusals
        assert len({refusal.url for refusal in refusals}) >= 40
        assert {refusal.kind for refusal in refusals} == {"origin", "scheme"}


class Everything:
    """Every origin is allowed."""

    def __contains__(self, origin: object) -> bool:
        return True


UNSEEN = {
    "prerender", "site icon", "manifest", "preconnect", "the host as a name for any address", "the host as localhost.localdomain",
    "the host as IPv6", "the host as IPv4 in IPv6", "the host as another loopback address", "the host as a name under localhost",
    "WebRTC by STUN", "WebRTC by TURN", "WebTransport",
}  # fmt: skip
"""Channels that Chromium itself does not open here, or that no server listens to."""


async def test_what_a_guard_lets_through_is_seen(browser: Browser) -> None:
    async with Env(PAD, browser) as env:
        await env.reset("add", 1)
        env.session.guard.allow = Everything()  # type: ignore[assignment]
        attempts = await attack(env, ())
        through = set(leaks(attempts)[SECOND])
        unseen = {a.channel for a in attempts if a.target == SECOND} - through
        assert unseen <= UNSEEN and len(through) >= 45, unseen


# --- harnesses that leak ---


class Probe:
    """A probe that says what must not be reached."""

    def __init__(self, *places: str):
        self.places = places

    async def __call__(self, product: Running) -> State:
        return State({"rows": ({"id": 1},)})

    def control(self, product: Running) -> tuple[str, ...]:
        return tuple(
            place.format(url=product.base_url, port=product.port, workdir=product.workdir) for place in self.places
        )


async def reset(product: Running, seed: int, appearance: Mapping[str, str]) -> None: ...


def careless(workdir: Path) -> FastAPI:
    """Gives away its database, and its state and reset to whoever asks; some of it only with the secret."""
    app = FastAPI()
    (workdir / "shop.db").write_bytes(b"SQLite format 3\0" + b"x" * 1000)

    @app.get("/files/{name}")
    def file(name: str) -> FileResponse:
        return FileResponse(workdir / name)

    @app.get("/state")
    def state() -> JSONResponse:
        return JSONResponse({"answer": 42})

    @app.post("/reset")
    def do_reset() -> None: ...

    @app.get("/kept")
    def kept() -> Response:
        return Response(status_code=403)

    @app.get("/{path:path}")
    def page(path: str) -> HTMLResponse:
        policy = {"Content-Security-Policy": "connect-src 'self'"} if path == "strict" else {}
        return HTMLResponse("<!doctype html><title>Shop</title>shop", headers=policy)

    return app


def shop(*places: str) -> Harness:
    harness = Harness(name="shop", asgi=careless, state=Probe(*places), reset=reset, viewport=(200, 150))

    @harness.task("Do.", max_steps=3)
    def do() -> Any:
        return lambda episode: passed("done")

    return harness


async def attacked(browser: Browser, *places: str, home: str = "/") -> list[Attempt]:
    made = shop(*places)
    made.home = home
    async with Env(made, browser) as env:
        await env.reset("do", 0)
        found = targets(env.product)
        return [a for a in await attack(env, found) if a.target != SECOND]


async def test_what_a_product_gives_away_is_told(browser: Browser) -> None:
    attempts = await attacked(
        browser, "{url}/state", "{url}/reset", "{url}/kept", "{url}/not_there", "{workdir}/shop.db"
    )
    found = {target.rsplit("/", 1)[1] + " " + target.split("/")[3]: ways for target, ways in leaks(attempts).items()}
    assert found == {"state state": ["GET"], "reset reset": ["POST"], "shop.db files": ["GET"]}


async def test_control_addresses_elsewhere_are_refused_and_counted(browser: Browser) -> None:
    async with Canary(("database",)) as control:
        places = control.url + "state", f"tcp://127.0.0.1:{control.ports['database']}"
        attempts = await attacked(browser, *places)
        strict = await attacked(browser, *places, home="/strict")  # whose own policy stops what the guard never sees
        assert not control.heard
    assert [target for target in leaks(attempts) | leaks(strict) if "shop.db" not in target] == []
    assert len([a for a in attempts if a.target == control.url + "state"]) >= 10
    assert len([a for a in attempts if a.target.startswith("tcp:")]) >= 10


async def test_targets_without_a_control_and_with_a_wrong_one(tmp_path: Path) -> None:
    async def told(product: Running) -> State:
        return State({"items": ({"id": 1},)})

    product = Product(replace(shop(), state=told), tmp_path)
    assert targets(product) == ()
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "data").write_bytes(b"SQLite format 3\0")
    (tmp_path / "near.db").write_bytes(b"SQLite format 2\0")
    assert targets(product) == (Target(str(tmp_path / "deep" / "data"), "database"),)
    for wrong in ("state", "ftp://a", "tcp://a", "http://"):
        with pytest.raises(ValueError, match="control\\(\\) names absolute paths"):
            targets(Product(shop(wrong), tmp_path))


async def test_without_the_guards_flags_datagrams_would_get_out(monkeypatch: pytest.MonkeyPatch) -> None:
    flags = tuple(flag for flag in launch.FLAGS if flag not in guard.FLAGS)
    assert len(flags) == len(launch.FLAGS) - len(guard.FLAGS)
    monkeypatch.setattr(launch, "FLAGS", flags)
    browser = await Browser.launch()
    async with Env(PAD, browser) as env:
        await env.reset("add", 1)
        through = leaks(await attack(env, ()))
    await browser.close()
    assert through == {SECOND: ["WebRTC by STUN"]}
