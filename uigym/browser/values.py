"""What a harness wants to know of its product's page: values of JavaScript expressions, as a table.

They are read in the page's own world, where its variables are, and only when nobody acts.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping

from uigym.browser.wire import Channel, WireError, WireGone
from uigym.errors import HarnessError
from uigym.state import State

TABLE = "browser.values"
_POLL_S = 0.05
_PLAIN = "((value) => typeof value === 'function' || value === undefined || value !== value ? null : value)"
_TOO_MUCH = re.compile("by value|reference chain")
"""What Chromium says of values that it cannot tell, such as one that holds itself."""


async def read_values(channel: Channel, reads: Mapping[str, str]) -> State:
    """The table `browser.values` of names and JSON values; what JSON cannot hold, such as undefined, is null.

    All are read at one moment. While another document is on its way, it is waited for.

    Args:
        channel: To the page.
        reads: JavaScript expressions by name.

    Raises:
        HarnessError: An expression throws, or is none.
        WireGone: The page is gone.
    """
    pairs = ", ".join(f"[{json.dumps(name)}, {_PLAIN}({expression})]" for name, expression in reads.items())
    asked = {"expression": f"[{pairs}]", "returnByValue": True, "silent": True}  # nothing that a page can redefine
    while True:
        try:
            reply = await channel.send("Runtime.evaluate", asked)
            break
        except WireGone:
            raise
        except WireError as exc:
            if _TOO_MUCH.search(str(exc)):
                raise HarnessError(f"reads={dict(reads)!r:.500}: {exc}; expected values that JSON can hold") from exc
            await asyncio.sleep(_POLL_S)
    if wrong := reply.get("exceptionDetails"):
        said = wrong.get("exception", {}).get("description") or wrong["text"]
        raise HarnessError(
            f"reads={dict(reads)!r:.500}: on the page that is shown they throw {said.splitlines()[0]}; expected "
            "expressions that have a value on every page of the product"
        )
    rows = tuple({"name": name, "value": value} for name, value in reply["result"]["value"])
    return State({TABLE: rows}, {TABLE: ("name",)})
