"""The oracle knows the button by the name that it has in one of two appearances."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from fastapi import FastAPI
from pantry_product import Rows, create_app, write
from sound import add_buy, pantry

from uigym.harness import Looks, Running

SIGNS = "<script>if ({plus}) document.querySelector('button').textContent = '+'</script>"


def app(workdir: Path) -> FastAPI:
    def foot(items: Rows) -> str:
        return SIGNS.format(plus="true" if (workdir / "plus").exists() else "false")

    return create_app(workdir, foot=foot)


async def reset(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
    await asyncio.to_thread(write, product.workdir / "pantry.db", seed)
    flag = product.workdir / "plus"
    flag.touch() if appearance["words"] == "signs" else flag.unlink(missing_ok=True)


bad = add_buy(pantry(asgi=app, reset=reset, looks={"words": Looks(("words",), ("signs",))}))
