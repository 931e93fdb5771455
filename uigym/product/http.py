"""A product's state as JSON over a URL that only the gym may use."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import httpx

from uigym.errors import HarnessError, ProductError, did_you_mean
from uigym.harness import Running
from uigym.product.command import fill, free_port, give_back
from uigym.types import Row, State

HEADER = "X-UIGym-Secret"
TIMEOUT_S = 10.0
SHOWN = 200
"""Characters of an unexpected answer that a message quotes."""


class Control:
    """A URL through which the gym reads or changes a product, kept from the page by a secret.

    The secret is new for each run of the product. The product gets it as {secret} in the start command, or as the
    parameter `secret` of an ASGI factory, and must answer 404 to whoever does not send it. {control_port} is a free
    port, for products that serve such URLs on a port of their own.
    """

    def __init__(self, url: str, header: str = HEADER, secret: str = "{secret}", timeout_s: float = TIMEOUT_S):
        """Where it is, and what opens it.

        Args:
            url: A path of the product, such as "/test/state", or a whole URL. Names in braces are filled in.
            header: Name of the header that carries the secret.
            secret: Its value; one of your own for a product that is running already.
            timeout_s: How long an answer may take.

        Raises:
            HarnessError: The URL is neither a path nor http(s).
        """
        if not isinstance(url, str) or not url.startswith(("/", "http://", "https://")) or url.startswith("//"):
            raise HarnessError(f'{url!r} is no control URL; expected a path such as "/test/state", or http://...')
        self.url, self.header, self.secret, self.timeout_s = url, header, secret, timeout_s
        self._ports: dict[int, int] = {}

    async def prepare(self, product: Running) -> dict[str, str]:
        """The values {secret} and, where the URL names it, {control_port}; those that others gave are kept."""
        given = {}
        if "secret" not in product.values:
            given["secret"] = secrets.token_urlsafe(24)
        if "{control_port}" in self.url and "control_port" not in product.values:
            port = self._ports[id(product)] = free_port()
            given["control_port"] = str(port)
        return given

    async def ended(self, product: Running) -> None:
        """Give the port back."""
        give_back(self._ports.pop(id(product), 0))

    def control(self, product: Running) -> tuple[str, ...]:
        """The URL itself: the page must not be able to use it."""
        return (self.located(product),)

    def located(self, product: Running) -> str:
        """The whole URL for one product.

        Raises:
            HarnessError: It names something in braces that nothing gives.
        """
        url = _filled(self.url, product)
        return product.base_url + url if url.startswith("/") else url

    async def ask(self, product: Running, method: str, body: Any = None) -> httpx.Response:
        """Send a request and return its answer, which is 2xx.

        Raises:
            ProductError: Nobody answered in time, or the answer is an error or a redirect.
        """
        url = self.located(product)
        what = f"{method} {url}"
        headers = {self.header: _filled(self.secret, product)}
        try:
            async with httpx.AsyncClient(trust_env=False, verify=url.startswith("https:")) as client:
                answer = await client.request(method, url, json=body, headers=headers, timeout=self.timeout_s)
        except httpx.TimeoutException as exc:
            raise ProductError(f"{what}: no answer within {self.timeout_s:g} s") from exc
        except (httpx.HTTPError, httpx.InvalidURL) as exc:
            where = f"is a server listening on {urlsplit(url).netloc}?"
            raise ProductError(f"{what}: cannot be reached ({exc or type(exc).__name__}); {where}") from exc
        self._check(what, answer)
        return answer

    def _check(self, what: str, answer: httpx.Response) -> None:
        status = answer.status_code
        if 200 <= status < 300:
            return
        told = f"{what}: answered {status}"
        if answer.has_redirect_location:
            told += f", a redirect to {answer.headers['location']}, which is not followed; name the final URL"
        elif status in (401, 403, 404):
            told += f"; is the path right, and does it take the header {self.header} with the secret of this run?"
        text = answer.text.strip()
        raise ProductError(told + (f"\nIt said: {text[:SHOWN]}" if text and not answer.has_redirect_location else ""))


class Http(Control):
    """A probe that reads JSON from a control URL: an object of tables, each a list of rows.

    Example:
        >>> Http("/test/state", keys={"lines": ("order_id", "position")})  # doctest: +SKIP
    """

    def __init__(
        self, url: str, *, keys: Mapping[str, Sequence[str]] | None = None, ignore: Sequence[str] = (), **access: Any
    ):
        """What to read.

        Args:
            url: A path of the product, or a whole URL.
            keys: The columns that name a row, by table; `id` where nothing is said, else the first column.
            ignore: Tables, and columns as "table.column", to leave out.
            access: `header`, `secret` and `timeout_s`, as `Control` has them.
        """
        super().__init__(url, **access)
        self.keys = {table: (key,) if isinstance(key, str) else tuple(key) for table, key in (keys or {}).items()}
        self.ignore = tuple(ignore)

    async def __call__(self, product: Running) -> State:
        """The state at this moment.

        Raises:
            ProductError: The URL did not answer, or not with an object of tables.
        """
        answer = await self.ask(product, "GET")
        where = self.located(product)
        tables = tables_of(answer.text, where)
        tables = _without(tables, self.ignore, where)
        for table, key in self.keys.items():
            if table not in tables:
                raise ProductError(f'{where} gave no table "{table}", which keys= names. {did_you_mean(table, tables)}')
            if tables[table] and (missing := [column for column in key if column not in tables[table][0]]):
                hint = did_you_mean(missing[0], tables[table][0])
                raise ProductError(f'{where}: table "{table}" has no column "{missing[0]}" for its key. {hint}')
        return State(tables, self.keys)


def tables_of(text: str, where: str) -> dict[str, tuple[Row, ...]]:
    """The tables that a JSON text holds: an object whose members are lists of objects; one object is one row.

    Raises:
        ProductError: The text is something else; the message has its beginning and `where` it came from.
    """
    try:
        found = json.loads(text, parse_constant=_no_constant)
    except ValueError as exc:
        shown = f"{text[:SHOWN]!r}" if text.strip() else "nothing"
        raise ProductError(f"{where}: expected JSON, got {shown} ({exc})") from exc
    if not isinstance(found, dict) or not found:
        raise ProductError(f'{where}: expected an object of tables, such as {{"items": []}}, got {text[:SHOWN]}')
    return {table: _rows(table, rows, where) for table, rows in sorted(found.items())}


def _rows(table: str, rows: Any, where: str) -> tuple[Row, ...]:
    if isinstance(rows, dict):
        rows = [rows]
    if not isinstance(rows, list):
        raise ProductError(f'{where}: table "{table}" must be a list of rows, not {json.dumps(rows)[:SHOWN]}')
    for row in rows:
        if not isinstance(row, dict):
            raise ProductError(f'{where}: a row of table "{table}" must be an object, not {json.dumps(row)[:SHOWN]}')
    return tuple(rows)


def _without(tables: dict[str, tuple[Row, ...]], ignore: Sequence[str], where: str) -> dict[str, tuple[Row, ...]]:
    kept = dict(tables)
    for entry in ignore:
        table, _, column = entry.partition(".")
        if table not in tables:
            raise ProductError(f'{where} gave no table "{table}" to ignore. {did_you_mean(table, tables)}')
        if not column:
            kept.pop(table, None)
        elif kept.get(table):
            if not any(column in row for row in tables[table]):
                columns = {name for row in tables[table] for name in row}
                hint = did_you_mean(column, columns)
                raise ProductError(f'{where}: table "{table}" has no column "{column}" to ignore. {hint}')
            kept[table] = tuple({k: v for k, v in row.items() if k != column} for row in kept[table])
    if not kept:
        raise ProductError(f"{where}: all tables are ignored; expected at least one to be left")
    return kept


def _filled(text: str, product: Running) -> str:
    filled = fill(text, product.values)
    if left := re.search(r"\{(\w+)\}", filled):
        raise HarnessError(f"{text!r} names {left[0]}, which nothing gives. {did_you_mean(left[1], product.values)}")
    return filled


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")
