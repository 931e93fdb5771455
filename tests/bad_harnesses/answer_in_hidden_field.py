"""The first page has the prices in a hidden field."""

from functools import partial

from pantry_product import Rows, create_app
from sound import add_price, pantry


def foot(items: Rows) -> str:
    prices = " ".join(f"{item['name']}={item['price']}" for item in items)
    return f"<input type=hidden name=prices value='{prices}'>"


bad = add_price(pantry(asgi=partial(create_app, foot=foot)))
