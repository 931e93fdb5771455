"""Exercises on a drawn page: an instruction, what was done before, and the right next action.

Skills, none of them a product's: find a label and click it; the button in a row; read a value; read at a point;
count a stepper up or down; fill a field; do things one after another and know when all is done; pick some of
several, look at what is already there, and finish.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from uigym.models.tiny import words
from uigym.models.tiny.pages import HEIGHT, WIDTH
from uigym.models.tiny.render import Drawn
from uigym.policy.codecs.tiny import COLUMNS, ROWS, cell

Element = dict[str, Any]
CLICK = ("Click {x}.", "Press {x}.", "Tap {x}.", "Open {x}.", "Select {x}.", "Choose {x}.", "Go to {x}.", "Show {x}.", "Show the {x} page.",
         "Open the {x} menu.", "Click on {x}", "Push the {x} button.", "{x}", "Find {x} and open it.", "Pick {x}.")  # fmt: skip
READ = ("What is the {x}?", "What is {x}?", "How much is {x}?", "Read {x}.", "What does {x} say?", "What does {x} cost?", "How much does {x} owe?",
        "What is the price of {x}?", "Tell me the value of {x}.", "{x}?")  # fmt: skip
TYPE = (
    "Type {w} into {x}.",
    "Enter {w} in {x}.",
    "Set {x} to {w}.",
    "Write {w} in the {x} field.",
    "{x}: {w}",
    "Fill {x} with {w}.",
)
NUMBERS = {1: ("one", "1", "a", "a single"), 2: ("two", "2"), 3: ("three", "3"), 4: ("four", "4")}


@dataclass(slots=True)
class Lesson:
    """One exercise, as texts in the tiny model's language."""

    instruction: str
    past: tuple[str, ...]
    action: str


def act(element: Element) -> str:
    """A click in the middle of an element."""
    x0, y0, x1, y1 = element["box"]
    column, row = cell((x0 + x1) / 2, (y0 + y1) / 2, WIDTH, HEIGHT)
    return f"<click><x{column}><y{row}>"


def make_lessons(rng: random.Random, drawn: Drawn, facts: dict[str, Any], count: int) -> list[Lesson]:
    """Up to `count` lessons on a page; fewer where it has little to teach."""
    seen = [e for e in drawn.elements if e["shown"] and (e["box"][3] - e["box"][1]) >= 9]
    makers: list[tuple[float, Callable[..., Lesson | None]]] = [(3, _click), (1.2, _row_button), (8, _read), (1, _read_at), (0.8, _stepper),
                                                                (5, _field), (1.5, _sequence), (0.7, _switch), (1, _which), (0.4, _count)]  # fmt: skip
    if facts:
        makers += [(7, _collect), (1, _place)]
    out: list[Lesson] = []
    for _ in range(count * 4):
        maker = rng.choices([m for _, m in makers], [w for w, _ in makers])[0]
        lesson = maker(rng, seen, facts) if maker in (_collect, _place) else maker(rng, seen)
        if lesson:
            out.append(lesson)
        if len(out) == count:
            break
    return out


def _say(rng: random.Random, text: str) -> str:
    """People write labels in their own case."""
    kind = rng.random()
    return text if kind < 0.7 else text.lower() if kind < 0.92 else f'"{text}"'


def _unique(elements: list[Element], *kinds: str) -> list[Element]:
    """Elements of these kinds whose label nothing else on the page shares."""
    names: dict[str, int] = {}
    for e in elements:
        if e["k"] not in ("value", "count", "line"):
            names[e["l"].lower()] = names.get(e["l"].lower(), 0) + 1
    return [e for e in elements if e["k"] in kinds and names.get(e["l"].lower(), 0) == 1]


CLICKABLE = ("button", "tab", "item", "row", "key", "pick", "finish", "placekey")


def _click(rng: random.Random, seen: list[Element]) -> Lesson | None:
    pool = _unique(seen, *CLICKABLE)
    if not pool:
        return None
    e = rng.choice(pool)
    instruction = rng.choice(CLICK).format(x=_say(rng, e["l"]))
    if rng.random() < 0.15:
        return Lesson(instruction, (act(e),), "<done>")
    return Lesson(instruction, (), act(e))


def _row_button(rng: random.Random, seen: list[Element]) -> Lesson | None:
    pool = [e for e in seen if e["k"] == "rowbutton"]
    if not pool:
        return None
    e = rng.choice(pool)
    signs = {"×": ("Remove",), "+": ("Add", "More", "One more"), "−": ("Less", "One less", "Take off one")}
    verb = rng.choice(signs.get(e["l"].replace("-", "−"), (e["l"],)))
    pattern = rng.choice(("{v} {x}.", "{v} {x}", "{v} the row {x}.", "Click {v} for {x}.", "{x}: {v}."))
    instruction = pattern.format(v=verb, x=_say(rng, e["g"]))
    if rng.random() < 0.12:
        return Lesson(instruction, (act(e),), "<done>")
    return Lesson(instruction, (), act(e))


def _read(rng: random.Random, seen: list[Element]) -> Lesson | None:
    pool = [e for e in seen if e["k"] in ("value", "count", "item", "pick", "field") and e.get("v")]
    if not pool:
        return None
    e = rng.choice(pool)
    name = e["g"] if e.get("g") and rng.random() < 0.7 else e["l"]
    return Lesson(rng.choice(READ).format(x=_say(rng, name)), (), f"<answer>{e['v']}")


def _read_at(rng: random.Random, seen: list[Element]) -> Lesson | None:
    pool = [e for e in seen if e["k"] in (*CLICKABLE, "value", "line", "place") and e["k"] != "row"]
    if not pool:
        return None
    e = rng.choice(pool)
    text = e["v"] if e["k"] == "value" else f"{e['l']} {e['v']}" if e["k"] == "place" and e.get("v") else e["l"]
    return Lesson(f"Read {act(e)[7:]}", (), f"<answer>{text}")


def _stepper(rng: random.Random, seen: list[Element]) -> Lesson | None:
    counts = [e for e in seen if e["k"] == "count"]
    if not counts:
        return None
    e = rng.choice(counts)
    sides = {s["k"]: s for s in seen if s.get("g") == e["l"] and s["k"] in ("plus", "minus")}
    if len(sides) < 2:
        return None
    now, goal = int(e["v"]), max(0, int(e["v"]) + rng.choice((-2, -1, 0, 1, 1, 2, 3)))
    if rng.random() < 0.25:
        kind = rng.choice(("plus", "minus"))
        verb = rng.choice(("Increase", "Raise", "More") if kind == "plus" else ("Decrease", "Lower", "Less"))
        return Lesson(f"{verb} {_say(rng, e['l'])}.", (), act(sides[kind]))
    instruction = rng.choice(("Set {x} to {n}.", "Change {x} to {n}.", "{x}: {n}", "Make {x} {n}.")).format(
        x=_say(rng, e["l"]), n=goal
    )
    if now == goal:
        return Lesson(
            instruction, tuple(act(sides[rng.choice(("plus", "minus"))]) for _ in range(rng.randrange(3))), "<done>"
        )
    side = sides["plus" if goal > now else "minus"]
    return Lesson(instruction, (act(side),) * rng.randrange(3), act(side))


def _field(rng: random.Random, seen: list[Element]) -> Lesson | None:
    """Click a field, type what the instruction gives, and perhaps press a button then."""
    pool = [e for e in seen if e["k"] == "field"]
    if not pool:
        return None
    focused = [e for e in pool if e["s"] == "focus"]
    e = rng.choice(focused if focused and rng.random() < 0.5 else pool)
    wanted = e.get("v") or words.typed(rng)
    quote = rng.choice(("{w}", '"{w}"', "'{w}'")).format(w=wanted)
    pattern = rng.choice(TYPE)
    instruction = pattern.format(w=quote, x=_say(rng, e["l"]))
    buttons = _unique(seen, "button")
    button = rng.choice(buttons) if buttons and rng.random() < 0.4 else None
    if button:
        instruction = f"{instruction.rstrip('.')}, then {_say(rng, button['l'])}."
    if e.get("v"):
        past = (act(e), f"<type>{wanted}")
        if button and rng.random() < 0.6:
            return Lesson(instruction, past, act(button))
        return Lesson(instruction, (*past, act(button)) if button else past, "<done>")
    if e["s"] == "focus":
        return Lesson(instruction, (act(e),), f"<type>{wanted}")
    return Lesson(instruction, (), act(e))


def dictation(rng: random.Random) -> Lesson:
    """Type what the instruction gives, once the field has been clicked: the one lesson that needs no picture."""
    wanted = words.typed(rng)
    quote = rng.choice(("{w}", '"{w}"', '"{w}"', "'{w}'")).format(w=wanted)
    pattern = rng.choice((*TYPE, "Type {w}.", "Write {w}.", "Type {w}, then {x}.", "{x}: type {w}."))
    instruction = pattern.format(w=quote, x=words.label(rng))
    if rng.random() < 0.3:
        instruction = f"{instruction.rstrip('.')}, then {words.label(rng)}."
    past = () if rng.random() < 0.4 else (f"<click><x{rng.randrange(COLUMNS)}><y{rng.randrange(ROWS)}>",)
    return Lesson(instruction, past, f"<type>{wanted}")


def _sequence(rng: random.Random, seen: list[Element]) -> Lesson | None:
    """Two or three clicks in order; what has been done is known from the past actions."""
    pool = _unique(seen, *CLICKABLE)
    if len(pool) < 2:
        return None
    steps = rng.sample(pool, min(len(pool), rng.choice((2, 2, 3))))
    if rng.random() < 0.25:
        steps = [steps[0]] * rng.choice((2, 3))
        instruction = f"{rng.choice(('Click', 'Press', 'Tap'))} {_say(rng, steps[0]['l'])} {['', '', 'twice', 'three times'][len(steps)]}."
    else:
        names = [_say(rng, e["l"]) for e in steps]
        glue = rng.choice((", then ", " and then ", " then ", ", "))
        instruction = f"{rng.choice(('Click', 'Press', 'Open', 'Select'))} {glue.join(names)}."
    done = rng.randrange(len(steps) + 1)
    past = tuple(act(e) for e in steps[:done])
    return Lesson(instruction, past, act(steps[done]) if done < len(steps) else "<done>")


def _switch(rng: random.Random, seen: list[Element]) -> Lesson | None:
    pool = _unique(seen, "switch")
    if not pool:
        return None
    e = rng.choice(pool)
    want = rng.choice(("on", "off"))
    verb = rng.choice(
        {"on": ("Turn on", "Check", "Enable", "Tick", "Choose"), "off": ("Turn off", "Uncheck", "Disable", "Untick")}[
            want
        ]
    )
    past = (act(e),) if want == e["s"] and rng.random() < 0.7 else ()
    return Lesson(f"{verb} {_say(rng, e['l'])}.", past, "<done>" if want == e["s"] else act(e))


def _which(rng: random.Random, seen: list[Element]) -> Lesson | None:
    """The label that belongs to a value, or a click on it."""
    values = [e for e in seen if e["k"] in ("row", "item") and e.get("v")]
    alone = [e for e in values if e.get("s") and sum(o.get("s") == e["s"] for o in values) == 1]
    if alone and rng.random() < 0.6:
        e = rng.choice(alone)
        pattern = rng.choice(
            ("Open the {s} one.", "Show the one that is {s}.", "Open what is {s}.", "Go to the {s} row.")
        )
        return Lesson(pattern.format(s=e["s"].lower() if rng.random() < 0.7 else e["s"]), (), act(e))
    pool = [e for e in values if sum(o["v"] == e["v"] for o in values) == 1]
    if not pool:
        return None
    e = rng.choice(pool)
    if rng.random() < 0.5:
        question = rng.choice(
            ("Which one has {v}?", "What costs {v}?", "Who has {v}?", "Which is {v}?", "Which one is {v}?")
        )
        return Lesson(question.format(v=e["v"]), (), f"<answer>{e['l']}")
    if e.get("g") and rng.random() < 0.5:
        return Lesson(
            rng.choice(("Open the one of {v}.", "Open {v}.", "Show {v}.")).format(v=_say(rng, e["g"])), (), act(e)
        )
    return Lesson(rng.choice(("Open the one with {v}.", "Click the row with {v}.")).format(v=e["v"]), (), act(e))


def _count(rng: random.Random, seen: list[Element]) -> Lesson | None:
    """How many rows a list has."""
    number = sum(e["k"] == "row" for e in seen)
    question = rng.choice(("How many rows are there?", "How many are there?", "Count the rows.", "How many entries?"))
    return Lesson(question, (), f"<answer>{number}") if number else None


def _collect(rng: random.Random, seen: list[Element], facts: dict[str, Any]) -> Lesson | None:
    """Pick what the instruction lists, at the place that it names, then finish; the panel shows what is there."""
    picks = {e["l"]: e for e in seen if e["k"] == "pick"}
    keys = {e["l"]: e for e in seen if e["k"] == "placekey"}
    finish = next((e for e in seen if e["k"] == "finish"), None)
    lines = {e["l"] for e in seen if e["k"] == "line"}
    names = [n for n in facts["names"] if n in picks]
    picked = {n: c for n, c in facts["picked"].items() if n in lines}
    if not finish or len(picked) < len(facts["picked"]) or len(names) < 2 or not picked.keys() <= picks.keys():
        return None
    want, place = _wish(rng, names, picked, facts, keys)
    order = list(want)
    rng.shuffle(order)
    listed = rng.choice((" and ", ", ", " and ")).join(f"{rng.choice(NUMBERS[want[n]])} {_say(rng, n)}" for n in order)
    where = (
        f" {rng.choice(('for', 'to', 'at'))} {facts['noun'].lower() if rng.random() < 0.8 else facts['noun']} {place}"
        if place
        else ""
    )
    verb = rng.choice(("Order", "Add", "Get", "Send", "Pick", "Put", "Take"))
    instruction = rng.choice(
        (
            f"{verb} {listed}{where}.",
            f"{verb} {listed}{where}",
            f"{where.strip().capitalize()}: {listed}." if where else f"{verb} {listed}.",
        )
    )
    missing = [n for n in order if picked.get(n, 0) < want[n]]
    past: list[str] = [act(keys[place])] if place and facts["chosen"] == place else []
    past += [act(picks[n]) for n in order for _ in range(min(picked.get(n, 0), want[n]))]
    if not picked and not missing:
        return None
    if not picked and rng.random() < 0.12 and facts["chosen"] in ("", place):
        whole = (
            ([act(keys[place])] if place else [])
            + [act(picks[n]) for n in order for _ in range(want[n])]
            + [act(finish)]
        )
        return Lesson(instruction, tuple(whole), "<done>")
    if place and facts["chosen"] != place:
        return Lesson(instruction, tuple(past), act(keys[place]))
    return Lesson(instruction, tuple(past), act(picks[missing[0]]) if missing else act(finish))


def _wish(
    rng: random.Random, names: list[str], picked: dict[str, int], facts: dict[str, Any], keys: dict[str, Element]
) -> tuple[dict[str, int], str]:
    """What to ask for, so that what is already picked is a part of it."""
    want = dict(picked)
    if not want or rng.random() < 0.6:
        for name in rng.sample(names, rng.choice((1, 1, 2))):
            if len(want) < 3 or name in want:
                want[name] = min(4, want.get(name, 0) + rng.choice((1, 1, 2)))
    place = rng.choice([p for p in facts["places"] if p in keys] or [""]) if rng.random() < 0.8 else ""
    if facts["chosen"] in keys and rng.random() < 0.75:
        place = facts["chosen"]
    return want, place


def _place(rng: random.Random, seen: list[Element], facts: dict[str, Any]) -> Lesson | None:
    keys = {e["l"]: e for e in seen if e["k"] == "placekey"}
    if not keys:
        return None
    name = rng.choice(list(keys))
    instruction = rng.choice(("Choose {n} {p}.", "Select {n} {p}.", "{n} {p}", "Open {n} {p}.")).format(
        n=facts["noun"].lower(), p=name
    )
    if facts["chosen"] == name:
        return Lesson(instruction, (act(keys[name]),), "<done>")
    return Lesson(instruction, (), act(keys[name]))
