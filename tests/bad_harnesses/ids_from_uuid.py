"""New rows have random ids."""

import uuid
from functools import partial

from pantry_product import create_app
from sound import add_buy, pantry


def new_id() -> int:
    return uuid.uuid4().int >> 66


bad = add_buy(pantry(asgi=partial(create_app, new_id=new_id)))
