"""One running product: start, ready, reset, state, stop."""

from typing import TYPE_CHECKING, Any

from uigym.product.postgres import Postgres
from uigym.product.postgres_template import PostgresTemplate
from uigym.product.snapshot import Snapshot
from uigym.product.state import Sqlite

if TYPE_CHECKING:
    from uigym.product.product import Product

__all__ = ["Postgres", "PostgresTemplate", "Product", "Snapshot", "Sqlite"]


def __getattr__(name: str) -> Any:
    """`Product`, on first touch: a harness file needs none of the servers behind it."""
    if name != "Product":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from uigym.product.product import Product

    return Product
