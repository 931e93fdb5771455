"""The shop on a file, used over HTTP without a browser: for the tests of the app."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from uigym.apps.shop import seed
from uigym.apps.shop.app import create_app
from uigym.registry import load
from uigym.types import Row, State

SHOP = load("shop")


@dataclass
class Shop:
    """The app on a file, used over HTTP without a browser."""

    http: httpx.AsyncClient
    path: Path

    def state(self) -> State:
        return SHOP.state.read(self.path)  # type: ignore[attr-defined]

    def rows(self, table: str, **columns: Any) -> list[Row]:
        return [row for row in self.state().tables[table] if all(row[key] == value for key, value in columns.items())]

    @property
    def me(self) -> int:
        return int(self.rows("settings", key="me")[0]["value"])

    async def get(self, path: str) -> str:
        answer = await self.http.get(path)
        assert answer.status_code == 200, (path, answer.status_code, answer.headers.get("location"))
        return answer.text

    async def post(self, path: str, **form: Any) -> httpx.Response:
        return await self.http.post(path, data=form)

    async def changed(self, path: str, **form: Any) -> dict[str, list[Row]]:
        """What a posted form changes: rows that are new or other, by table; the log left out."""
        before = self.state()
        answer = await self.post(path, **form)
        assert answer.status_code == 303, (path, re.findall(r'role="alert">([^<]*)', answer.text))
        after = self.state()
        tables = {name: [row for row in rows if row not in before.tables[name]] for name, rows in after.tables.items()}
        gone = {
            f"-{name}": [row for row in rows if row not in after.tables[name]] for name, rows in before.tables.items()
        }
        keys = {name: {row["id"] for row in rows} for name, rows in tables.items() if name != "settings"}
        gone = {
            name: [row for row in rows if row.get("id") not in keys.get(name[1:], set())] for name, rows in gone.items()
        }
        return {name: rows for name, rows in {**tables, **gone}.items() if rows and name != "events"}

    async def refused(self, path: str, **form: Any) -> str:
        """Why a posted form is refused; nothing changes."""
        before = self.state()
        answer = await self.post(path, **form)
        assert answer.status_code == 422, (path, answer.status_code)
        assert self.state() == before
        return re.findall(r'role="alert">([^<]*)', answer.text)[0]


@asynccontextmanager
async def running(folder: Path, data_seed: int = 0, look: Mapping[str, str] | None = None) -> AsyncIterator[Shop]:
    seed.write(folder / "shop.db", data_seed, look or {})
    transport = httpx.ASGITransport(create_app(folder))
    async with httpx.AsyncClient(transport=transport, base_url="http://shop") as http:
        yield Shop(http, folder / "shop.db")
