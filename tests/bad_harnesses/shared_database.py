"""All slots work on one database."""

import asyncio
import atexit
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from fastapi import FastAPI
from pantry_product import create_app, write
from sound import add_buy, pantry

from uigym.harness import Running
from uigym.product.state import Sqlite

FOLDER = Path(tempfile.mkdtemp())
atexit.register(shutil.rmtree, FOLDER)


def app(workdir: Path) -> FastAPI:
    return create_app(FOLDER)


async def reset(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
    await asyncio.to_thread(write, FOLDER / "pantry.db", seed)


bad = add_buy(pantry(asgi=app, state=Sqlite(f"{FOLDER}/pantry.db"), reset=reset))
