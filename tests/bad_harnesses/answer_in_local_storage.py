"""The first page keeps the prices in localStorage."""

from functools import partial

from pantry_product import Rows, create_app
from sound import add_price, pantry


def foot(items: Rows) -> str:
    prices = " ".join(f"{item['name']}={item['price']}" for item in items)
    return f"<script>localStorage.prices = '{prices}'</script>"


bad = add_price(pantry(asgi=partial(create_app, foot=foot)))
