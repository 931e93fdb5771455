"""The flows of a greenhouse, as Node-RED keeps them in its flow file: another set of them for every seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

Node = dict[str, Any]
TABS = ("Watering", "Heating", "Airing")
SENSORS = (
    "Soil probe", "Rain gauge", "Tank level", "Boiler sensor", "Outdoor air", "Roof sensor", "Vent switch", "Wind meter",
    "Light meter", "Door contact", "Leaf probe", "Fog sensor",
)  # fmt: skip
CHANGES = ("Add zone", "Set unit", "Round value", "Drop sign", "Mark source", "Name bed")
DELAYS = ("Pump pause", "Valve pause", "Fan pause", "Lamp pause", "Heater pause", "Door pause")
RANGES = ("To percent", "To litres", "To degrees", "To steps", "To volts", "To lux")
DEBUGS = (
    "Log tank",
    "Log heat",
    "Log wind",
    "Log soil",
    "Log fan",
    "Log door",
    "Log lamp",
    "Log pump",
    "Log roof",
    "Log rain",
)
REMARKS = ("Check weekly", "Ask Noor first", "Winter only", "Not in use yet", "New since May", "Keep as it is")
UNITS = ("seconds", "minutes", "hours")
COLUMNS, ROWS = (120, 330, 540), (60, 140, 220, 300)


def flows(seed: int) -> list[Node]:
    """All nodes of a seed: three tabs of ten nodes each, every one with a name of its own."""
    rng = random.Random(f"greenhouse:{seed}")
    names = {
        kind: rng.sample(pool, len(pool))
        for kind, pool in (
            ("inject", SENSORS), ("change", CHANGES), ("delay", DELAYS), ("range", RANGES), ("debug", DEBUGS),
            ("comment", REMARKS),
        )
    }  # fmt: skip
    tabs = [
        {"id": f"tab{i}", "type": "tab", "label": name, "disabled": False, "info": "", "env": []}
        for i, name in enumerate(TABS)
    ]
    return [*tabs, *(node for i in range(len(TABS)) for node in _tab(i, names, rng))]


def _tab(number: int, names: dict[str, list[str]], rng: random.Random) -> Iterator[Node]:
    kinds = (("inject", "change", "debug"), ("inject", "delay", "debug"), ("inject", "range", "debug"), ("comment",))
    for row, line in enumerate(kinds):
        for column, kind in enumerate(line):
            wired = row < 2 and column < 2  # the third line is still to be wired
            yield {
                "id": f"n{number}{row}{column}",
                "type": kind,
                "z": f"tab{number}",
                "name": names[kind].pop(),
                **_properties(kind, rng),
                "x": COLUMNS[column],
                "y": ROWS[row],
                "wires": [] if kind in ("debug", "comment") else [[f"n{number}{row}{column + 1}"] if wired else []],
            }


def _properties(kind: str, rng: random.Random) -> Node:
    """Just what the editor would write."""
    if kind == "inject":
        payload = str(rng.randrange(10, 99))
        return {
            "props": [{"p": "payload"}, {"p": "topic", "vt": "str"}], "repeat": "", "crontab": "", "once": False,
            "onceDelay": 0.1, "topic": rng.choice(("bed", "roof", "hall", "shed")), "payload": payload, "payloadType": "num",
        }  # fmt: skip
    if kind == "change":
        rule = {"t": "set", "p": "zone", "pt": "msg", "to": rng.choice(("north", "south", "east")), "tot": "str"}
        return {"rules": [rule], "action": "", "property": "", "from": "", "to": "", "reg": False}
    if kind == "delay":
        return {
            "pauseType": "delay", "timeout": str(rng.randrange(2, 30)), "timeoutUnits": rng.choice(UNITS), "rate": "1",
            "nbRateUnits": "1", "rateUnits": "second", "randomFirst": "1", "randomLast": "5", "randomUnits": "seconds",
            "drop": False, "allowrate": False, "outputs": 1,
        }  # fmt: skip
    if kind == "range":
        return {
            "minin": "0", "maxin": "1023", "minout": "0", "maxout": str(rng.randrange(50, 150)), "action": "scale",
            "round": False, "property": "payload",
        }  # fmt: skip
    if kind == "debug":
        return {
            "active": True, "tosidebar": True, "console": False, "tostatus": False, "complete": "payload",
            "targetType": "msg", "statusVal": "", "statusType": "auto",
        }  # fmt: skip
    return {"info": ""}
