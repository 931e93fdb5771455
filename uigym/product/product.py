"""One running product: started once, reset before each episode, read out of band, stopped for good."""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from uigym.errors import HarnessError, ProductError, attribute, is_being_cancelled
from uigym.harness import Harness
from uigym.product.calls import finished
from uigym.product.launch import Launched, launch, quoted
from uigym.product.scratch import Scratch
from uigym.product.state import Sqlite
from uigym.product.together import flat
from uigym.types import State, state_from_json, state_to_json

_log = logging.getLogger(__name__)
ROOM_BYTES = 1 << 20
"""A product whose disk has less room is taken for one that has failed."""


class Product:
    """One running instance of a harness's product, with a port, a work folder and data of its own."""

    def __init__(self, harness: Harness, workdir: Path | None = None):
        """Nothing is started yet.

        Args:
            harness: What to start and how.
            workdir: The product's work folder; None makes a temporary one that `stop` deletes.
        """
        self.harness = harness
        self.base_url = ""
        """http://127.0.0.1:PORT; empty until started."""
        self.port = 0
        self.appearance: Mapping[str, str] = {}
        """How the product looks since the last reset."""
        self.values: Mapping[str, str] = {}
        """What the harness's strings may name in braces."""
        self.workdir = Path() if workdir is None else workdir.resolve()
        self.beside = {name: Product(other) for name, other in harness.beside.items()}
        """The products that run beside this one, by name."""
        self.scratch = Path()
        """A folder for the gym's own files about this product, outside its work folder."""
        self._own_workdir = workdir is None
        self._scratch: Scratch | None = None
        self._launched: Launched | None = None
        self._prepared: list[Any] = []

    async def start(self) -> None:
        """Start the product and return once it takes traffic.

        Raises:
            ProductError: It ended, or was not ready in time; the text has the last lines of its output.
            HarnessError: The harness says something that cannot be started.
        """
        if self._launched is not None:
            raise ProductError(f"{self.harness.name}: the product is already running at {self.base_url}")
        try:
            with attribute(ProductError, f"{self.harness.name}: cannot be started"):
                await self._start()
        except BaseException:
            await self.stop()
            raise

    async def _start(self) -> None:
        for other in self.beside.values():
            await other.start()
        self._make_folders()
        addresses = {f"{name}_url": other.base_url for name, other in self.beside.items()}
        installed = {part.value: str(await part.installed()) for part in self.harness.install}
        prepared = {**addresses, **installed}
        self.values = {"workdir": str(self.workdir), "python": sys.executable, **prepared}
        for part in self._parts("prepare"):
            self._prepared.append(part)
            prepared |= await self._do("prepare the product's surroundings", part.prepare, self) or {}
            self.values = {**self.values, **prepared}
        self._launched = await launch(self.harness, self.workdir, prepared)
        self.base_url, self.port = self._launched.base_url, self._launched.port
        self.values = {**self.values, "port": str(self.port), "url": self.base_url}
        for part in self._parts("started"):
            self._prepared += [part] if part not in self._prepared else []
            await self._do("look at the product after its start", part.started, self)
        if self.harness.meet is not None:
            everybody = {self.harness.name: self, **self.beside}
            await self._do("tell the products of each other", self.harness.meet, everybody)

    @property
    def all(self) -> tuple[Product, ...]:
        """This product and those beside it."""
        return (self, *self.beside.values())

    def _parts(self, hook: str) -> list[Any]:
        """The harness's reset and probe, in this order, where they have something to do at this point of its life.

        `prepare(product)` before the start may return values for the harness's strings; `started(product)` comes
        after it, `cleared(product)` after each reset, and `ended(product)` when the product has been stopped.
        """
        parts = dict.fromkeys((*flat(self.harness.reset), *flat(self.harness.state)))
        return [part for part in parts if hasattr(part, hook)]

    async def reset(self, seed: int, shared: Mapping[str, str] | None = None) -> State:
        """Give the product the data and the appearance of a seed; returns the state that it then has.

        Args:
            seed: Which data, and which appearance.
            shared: How the product looks that this one runs beside: what both can be, both are.

        Raises:
            ProductError: The product is not running, the reset failed or hung, or the state cannot be read.
        """
        appearance = self.harness.appearance(seed)
        appearance |= {
            part: (shared or {})[part]
            for part, looks in self.harness.looks.items()
            if (shared or {}).get(part) in (*looks.train, *looks.heldout)
        }
        self._alive()
        for other in self.beside.values():  # first, so that this one's data may speak of theirs
            await other.reset(seed, appearance)
        await self._do(f"reset with seed {seed}", self.harness.reset, self, seed, appearance)
        for part in self._parts("cleared"):
            await self._do("clear what was kept since the last reset", part.cleared, self)
        self.appearance = appearance
        return await self.read_state()

    async def read_state(self) -> State:
        """The product's own data at this moment, read out of band.

        Raises:
            ProductError: The product is not running, or its state cannot be read or is empty.
        """
        self._alive()
        state = await self._do("read the state", self.harness.state, self)
        if not isinstance(state, State):
            raise ProductError(f"{self.harness.name}: the state probe returned {state!r}, expected a uigym.types.State")
        if not state.tables:
            raise ProductError(f"{self.harness.name}: the state probe returned no table; expected at least one")
        if not isinstance(self.harness.state, Sqlite):  # whose states are sound
            with attribute(ProductError, f"{self.harness.name}: the state probe returned what cannot be stored"):
                _check_sound(state)
        for name, other in self.beside.items():
            state = state.beside((await other.read_state()).under(name))
        return state

    async def stop(self) -> None:
        """Stop the product and delete its temporary folder; a second call does nothing."""
        launched, self._launched = self._launched, None
        try:
            if launched is not None:
                with attribute(ProductError, f"{self.harness.name}: cannot be stopped"):
                    await launched.stop()
        finally:
            await self._tidy()
            if self._scratch is not None:
                self._scratch.remove()
                self._scratch = None
            await self._stop_others()

    async def _stop_others(self) -> None:
        """Stop what runs beside; one that cannot be stopped keeps no other from ending."""
        ends = await asyncio.gather(*(other.stop() for other in self.beside.values()), return_exceptions=True)
        for error in filter(None, ends):
            raise error

    async def _tidy(self) -> None:
        """Let go of what was prepared; what cannot be let go of is told, but keeps nothing else from ending."""
        prepared, self._prepared = self._prepared, []
        for part in reversed(prepared):
            if hasattr(part, "ended"):
                try:
                    await self._do("tidy up", part.ended, self)
                except (ProductError, HarnessError) as exc:
                    _log.warning("%s", exc)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def _make_folders(self) -> None:
        with attribute(ProductError, f"{self.harness.name}: cannot make its work folder"):
            self._scratch = Scratch()
            self.scratch = self._scratch.path
            if self._own_workdir:
                self.workdir = self.scratch / "work"
            self.workdir.mkdir(parents=True, exist_ok=True)

    def _alive(self) -> Launched:
        if self._launched is None:
            raise ProductError(f"{self.harness.name}: the product is not running; call start first")
        if ended := self._launched.ended():
            raise ProductError(f"{self.harness.name}: {ended}{quoted(self._launched)}")
        if shutil.disk_usage(self.workdir).free < ROOM_BYTES:  # what it was told to keep, it may not have kept
            raise ProductError(f"{self.harness.name}: no room is left where its work folder is, {self.workdir}")
        return self._launched

    async def _do(self, doing: str, function: Callable[..., Any], *arguments: Any) -> Any:
        limit_s = self.harness.ready_timeout_s
        try:
            async with asyncio.timeout(limit_s) as limit:
                return await finished(function, *arguments)
        except HarnessError:
            raise
        except (Exception, SystemExit, asyncio.CancelledError) as exc:
            if isinstance(exc, asyncio.CancelledError) and is_being_cancelled():
                raise
            why = str(exc) if isinstance(exc, ProductError) else f"{type(exc).__name__}: {exc}"
            if limit.expired():
                why = f"it took more than {limit_s:g} s"
            elif self._launched is not None and (ended := self._launched.ended()):
                why = f"{why}; {ended}"
            raise ProductError(f"{self.harness.name}: cannot {doing}: {why}{quoted(self._launched)}") from exc


def _check_sound(state: State) -> None:
    """Rows are dictionaries of JSON values, by table.

    Raises:
        TypeError, ValueError: They are not.
    """
    for table, rows in state.tables.items():
        if not isinstance(rows, tuple) or not all(isinstance(row, dict) for row in rows):
            raise TypeError(f"table {table!r} must be a tuple of dictionaries, not {rows!r:.200}")
    if state_from_json(json.loads(json.dumps(state_to_json(state), allow_nan=False))) != state:
        raise ValueError(
            "its values are not JSON values, which come back as they were: text, numbers, true, false, null"
        )
