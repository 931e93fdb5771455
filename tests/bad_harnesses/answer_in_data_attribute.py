"""The first page has the prices in a data attribute."""

from functools import partial

from pantry_product import Rows, create_app
from sound import add_price, pantry


def foot(items: Rows) -> str:
    prices = " ".join(f"{item['name']}={item['price']}" for item in items)
    return f"<p data-prices='{prices}'>Good day</p>"


bad = add_price(pantry(asgi=partial(create_app, foot=foot)))
