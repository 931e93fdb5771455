"""Demonstrations in the formats of others: written for trainers and archives, and read from them.

    export(RunStore("data/demos"), None, FORMATS["atif"], Path("data/atif"))
    for told in FORMATS["atif"].read(Path("data/atif")): told.actions

What a format cannot hold is said when it is written: each action is read back before it counts as held.
"""

from __future__ import annotations

from uigym.exchange import atif
from uigym.exchange.formats import Exported as Exported
from uigym.exchange.formats import Format as Format
from uigym.exchange.formats import Options as Options
from uigym.exchange.formats import export as export
from uigym.exchange.told import Told as Told
from uigym.exchange.told import ToldStep as ToldStep

FORMATS: dict[str, Format] = {
    "atif": Format("Agent Trajectory Interchange Format v1.7: a JSON file a demonstration", atif.writing, atif.read),
}
"""By name, as `uigym export --to` says it."""
