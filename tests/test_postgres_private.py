"""A server of one's own: there with the first product, gone with the last, and with whoever started it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from uigym.errors import ProductError
from uigym.harness import Harness
from uigym.product import Postgres, PostgresServer, PostgresTemplate, Product
from uigym.product import postgres_private as private
from uigym.product.postgres_server import opened, run
from uigym.product.scratch import Scratch

psycopg = pytest.importorskip("psycopg")
pytestmark = pytest.mark.skipif(not private.is_installed(), reason="PostgreSQL is not installed")


def filled(dsn: str) -> None:
    with opened(dsn) as database:
        run(database, "CREATE TABLE public.orders (id int PRIMARY KEY, item text)")
        run(database, "INSERT INTO public.orders VALUES (1, 'tea')")


def shop(workdir: Path, dsn: str) -> Any:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    return app


def listens(dsn: str) -> bool:
    try:
        with opened(dsn):
            return True
    except ProductError:
        return False


async def test_a_product_brings_its_server_along() -> None:
    server = PostgresServer(variable="")
    harness = Harness(name="shop", asgi=shop, state=Postgres(), reset=PostgresTemplate(server, filled))
    for _ in range(2):
        async with Product(harness) as product, Product(harness) as other:
            assert (await product.reset(0)).tables["orders"] == ({"id": 1, "item": "tea"},)
            dsn = other.values["dsn"]
            assert dsn != product.values["dsn"] and listens(dsn)
            assert server.begin().rpartition("/")[0] == dsn.rpartition("/")[0]
        assert not listens(dsn)


def test_a_server_that_is_named_is_used_and_left_alone(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UIGYM_POSTGRES_DSN", postgres)
    server = PostgresServer()
    assert server.begin() == postgres
    server.end()
    assert listens(postgres)


def test_nothing_is_left_when_it_cannot_start(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Scratch] = []

    def make() -> Scratch:
        made.append(Scratch())
        return made[-1]

    monkeypatch.setattr(private, "Scratch", make)
    with pytest.raises(ProductError, match=r"(?s)PostgreSQL did not start.*work_men"):
        PostgresServer(variable="", work_men="1MB").begin()
    assert not made[0].path.exists()


def test_it_dies_with_whoever_started_it() -> None:
    code = (
        "import os, signal; from uigym.product import PostgresServer\n"
        "print(PostgresServer(variable='').begin(), flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    dsn = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stdout.strip()
    deadline = time.monotonic() + 20
    while listens(dsn) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert dsn.startswith("postgresql://gym@127.0.0.1:") and not listens(dsn)


def test_what_to_do_without_postgresql(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(private, "_INSTALLED", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not private.is_installed()
    with pytest.raises(ProductError, match="sudo apt-get install postgresql; or name a running server in UIGYM_POST"):
        PostgresServer(variable="").begin()
