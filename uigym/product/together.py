"""Several probes as one, several resets as one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from uigym.errors import HarnessError, ProductError
from uigym.harness import Running
from uigym.product.calls import finished
from uigym.product.large import BASE
from uigym.types import Row, State


class _Several:
    """Holds the parts; a product finds their hooks by `parts`."""

    def __init__(self, *parts: Callable[..., Any]):
        kind = type(self).__name__
        for part in parts:
            if not callable(part) or isinstance(part, type):
                raise HarnessError(f"{kind}(...): {part!r} cannot be called; expected {self._example}")
        if not parts:
            raise HarnessError(f"{kind}(...) needs at least one part, such as {self._example}")
        self.parts = parts

    _example = ""

    def control(self, product: Running) -> tuple[str, ...]:
        """Places of all parts that the page must not reach."""
        return tuple(place for part in self.parts if hasattr(part, "control") for place in part.control(product))


class Together(_Several):
    """One probe of several: the tables of all of them.

    Example:
        >>> Together(Sqlite("{workdir}/shop.db"), Files("{workdir}/exports"))  # doctest: +SKIP
    """

    _example = 'a probe such as Sqlite("shop.db")'

    async def __call__(self, product: Running) -> State:
        """All tables at this moment, read one probe after the other.

        Raises:
            ProductError: A probe failed or gave no state.
            HarnessError: Two probes give a table of the same name.
        """
        tables: dict[str, tuple[Row, ...]] = {}
        keys: dict[str, tuple[str, ...]] = {}
        base: dict[str, tuple[Row, ...]] = {}
        for part in self.parts:
            state = await finished(part, product)
            if not isinstance(state, State) or not state.tables:
                raise ProductError(f"{_named(part)} gave {state!r:.100}, expected a State of at least one table")
            if both := sorted(tables.keys() & state.tables.keys() - {BASE}):
                raise HarnessError(f"Together(...): {_named(part)} gives table {both[0]!r}, as a probe before it does")
            marks = (*tables.get(BASE, ()), *state.tables.get(BASE, ()))
            tables |= state.tables
            if marks:
                tables[BASE] = marks
            keys |= state.keys
            base |= state.base
        return State(tables, keys, base)


class InOrder(_Several):
    """One reset of several, one after the other.

    Example:
        >>> InOrder(Snapshot("{workdir}/shop.db"), Directory("{workdir}/exports"))  # doctest: +SKIP
    """

    _example = 'a reset such as Snapshot("shop.db")'

    async def __call__(self, product: Running, seed: int, appearance: Mapping[str, str]) -> None:
        """Do them all; the first that fails is the last that is done."""
        for part in self.parts:
            await finished(part, product, seed, appearance)


def flat(part: Any) -> tuple[Any, ...]:
    """The parts that a probe or a reset is made of, at any depth; itself if it is of one piece."""
    return tuple(leaf for each in part.parts for leaf in flat(each)) if isinstance(part, _Several) else (part,)


def _named(part: Any) -> str:
    return str(getattr(part, "__name__", type(part).__name__))
