"""The first page shows the time of day."""

import time
from functools import partial

from pantry_product import Rows, create_app
from sound import add_price, pantry


def foot(items: Rows) -> str:
    return f"<p>{time.time():.3f}</p>"


bad = add_price(pantry(asgi=partial(create_app, foot=foot)))
