"""Is there data that the state leaves out, where harm could be done that no verifier sees?"""

from __future__ import annotations

from uigym.product import Product
from uigym.product.state import Sqlite


async def unseen(product: Product) -> list[str]:
    """Tables of the product's SQLite files that the state leaves out, though they are not named as logs.

    Columns that a probe ignores, such as a time of the last visit, are not told: their rows are seen. Of other kinds of
    probe it cannot be known what they might have read.
    """
    probe = product.harness.state
    found = [f"{name}.{table}" for name, other in product.beside.items() for table in await unseen(other)]
    for part in getattr(probe, "parts", (probe,)):
        if isinstance(part, Sqlite) and (part.tables is not None or part.ignore):
            every, held = await Sqlite(part.path)(product), await part(product)
            found += [table for table in every.tables if table not in (*held.tables, *product.harness.logs)]
    return found
