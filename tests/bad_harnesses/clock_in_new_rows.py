"""New rows tell the time at which they were made."""

import time
from functools import partial

from pantry_product import create_app
from sound import add_buy, pantry


def noted() -> str:
    return time.strftime("%H:%M:%S") + f"{time.time() % 1:.6f}"


bad = add_buy(pantry(asgi=partial(create_app, noted=noted)))
