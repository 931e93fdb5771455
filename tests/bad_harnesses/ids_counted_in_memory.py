"""The product counts ids in its memory, and a reset does not put the counter back."""

from functools import partial
from itertools import count
from pathlib import Path

from fastapi import FastAPI
from pantry_product import create_app
from sound import add_buy, pantry


def counting(workdir: Path) -> FastAPI:
    return create_app(workdir, new_id=partial(next, count(100)))


bad = add_buy(pantry(asgi=counting))
