"""Starting a product by whichever way its harness names, and waiting until it takes traffic."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol
from urllib.parse import urljoin, urlsplit

import httpx

from uigym.errors import HarnessError, ProductError
from uigym.harness import Harness
from uigym.product import strays
from uigym.product.asgi import Served, factory
from uigym.product.command import Command

_log = logging.getLogger(__name__)
TRIES = 3
"""How many ports a command is given before "address in use" is an error."""
URL_TIMEOUT_S = 5.0
"""A product that is said to be running already must answer within this time."""
_IN_USE = re.compile(r"address already in use|eaddrinuse|port \d* ?is (already )?(in use|allocated)", re.IGNORECASE)
_REFUSED = "connection refused"


class Launched(Protocol):
    """A product that was started, by whichever way."""

    base_url: str
    port: int

    def ended(self) -> str | None:
        """How it ended; None while it runs."""

    def output(self) -> str:
        """The last lines that it wrote."""

    async def stop(self) -> None:
        """End it and all that belongs to it."""


class Remote:
    """A product that was already running and goes on running."""

    def __init__(self, url: str):
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise HarnessError(f"url={url!r}: expected an address such as http://127.0.0.1:8000")
        self.base_url = url.rstrip("/")
        self.port = parts.port or {"http": 80, "https": 443}[parts.scheme]

    def ended(self) -> None:
        """None: its life is not ours to know."""

    def output(self) -> str:
        """Nothing: its output goes elsewhere."""
        return ""

    async def stop(self) -> None:
        """Nothing to do: who started it stops it."""


async def launch(harness: Harness, workdir: Path, values: Mapping[str, str]) -> Launched:
    """Start a harness's product and wait until it is ready.

    Args:
        harness: What to start.
        workdir: The product's work folder.
        values: What the start command may name in braces, and an app's factory as parameters.

    Raises:
        ProductError: It did not start or never became ready; the text has the last 20 lines of its output.
        HarnessError: What the harness says cannot be started.
    """
    if not harness.start:
        return await _once(harness, workdir, values)
    for pid in await asyncio.to_thread(strays.sweep):
        _log.warning("ended process %d of a product whose owner had died", pid)
    for attempt in range(TRIES):
        try:
            return await _once(harness, workdir, values)
        except ProductError as exc:
            if not _IN_USE.search(str(exc)):
                raise
            if attempt + 1 == TRIES:
                why = (
                    f"a port is taken, on {TRIES} tries; let the command listen on {{port}}, which is new for each slot"
                )
                raise ProductError(f"{harness.name}: {why}.\n{exc}") from exc
    raise AssertionError("unreachable")


async def _once(harness: Harness, workdir: Path, values: Mapping[str, str]) -> Launched:
    launched: Launched | None = None
    try:
        if harness.start:
            launched = Command(harness.start, {**values, "workdir": str(workdir)})
        elif harness.asgi:
            launched = served = Served(factory(harness.asgi, values), workdir)
            await served.start(harness.ready_timeout_s)
        else:
            launched = Remote(harness.url)
        await _until_ready(harness, launched)
    except BaseException as exc:
        if launched is not None:
            await launched.stop()
        if isinstance(exc, ProductError | HarnessError):
            raise type(exc)(f"{harness.name}: {exc}{quoted(launched)}") from exc
        raise
    return launched


def quoted(launched: Launched | None) -> str:
    """The last lines of a product's output, as the end of an error's text; empty if there are none."""
    lines = launched.output() if launched is not None else ""
    return f"\nLast 20 lines of its output:\n{lines}" if lines else ""


async def _until_ready(harness: Harness, launched: Launched) -> None:
    timeout_s = min(harness.ready_timeout_s, URL_TIMEOUT_S) if harness.url else harness.ready_timeout_s
    deadline, pause_s, last = time.monotonic() + timeout_s, 0.005, ""
    url = urljoin(launched.base_url + "/", harness.ready.lstrip("/"))
    # No proxy from the environment: the product is here. No certificates to load where none are used.
    async with httpx.AsyncClient(trust_env=False, verify=url.startswith("https:")) as client:
        while (left_s := deadline - time.monotonic()) > 0:
            why = await _asked(client, url, min(5.0, left_s))
            if ended := launched.ended():
                raise ProductError(ended)
            if not why:
                return
            if (
                not last or time.monotonic() < deadline
            ):  # what our own deadline cuts off says less than what came before
                last = why
            await asyncio.sleep(pause_s)
            pause_s = min(1.5 * pause_s, 0.1)
    hint = {_REFUSED: "; is it running?" if harness.url else "; it must listen on 127.0.0.1 and on {port}"}.get(
        last, ""
    )
    raise ProductError(
        f"it did not answer 200 on {harness.ready} at {launched.base_url} within {timeout_s:g} s (last: {last}{hint})"
    )


async def _asked(client: httpx.AsyncClient, url: str, timeout_s: float) -> str:
    """Why the product is not ready; empty if it is. A redirect counts as an answer, and is not followed."""
    try:
        async with asyncio.timeout(timeout_s), client.stream("GET", url, timeout=timeout_s) as response:
            return "" if response.status_code < 400 else str(response.status_code)
    except httpx.ConnectError:
        return _REFUSED
    except (httpx.HTTPError, TimeoutError) as exc:
        return type(exc).__name__
