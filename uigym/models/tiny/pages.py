"""Generic synthetic pages as HTML: bars, tabs, grids, lists, forms, steppers, keypads, panels, sheets.

They belong to no product. Each element that one can act on or read carries data attributes, which say afterwards
what lies where: k kind, l label, g the label of its row or group, v value, s state.
"""

from __future__ import annotations

import html
import random
from dataclasses import dataclass, field

from uigym.models.tiny import words
from uigym.models.tiny.theme import Theme, make_theme

WIDTH, HEIGHT = 320, 256


@dataclass(slots=True)
class Page:
    """HTML of one page, and what its lessons need to know beyond the elements."""

    markup: str
    facts: dict[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class Pen:
    """Draws elements in one theme."""

    rng: random.Random
    theme: Theme

    def element(
        self,
        kind: str,
        text: str,
        *,
        group: str = "",
        value: str = "",
        state: str = "",
        style: str = "",
        label: str = "",
    ) -> str:
        """A box with text that lessons can speak about."""
        data = {"k": kind, "l": label or text, "g": group, "v": value, "s": state}
        attributes = " ".join(f'data-{k}="{html.escape(v)}"' for k, v in data.items() if v)
        return f'<div {attributes} style="{style}">{html.escape(text)}</div>'

    def box(self, filled: bool = False, accent: bool = False) -> str:
        """CSS of a button-like box."""
        t = self.theme
        back, ink = (t.accent, t.on_accent) if accent else (t.surface if filled else "transparent", t.ink)
        return f"background:{back};color:{ink};border:{t.border}px solid {t.line};border-radius:{t.radius}px;box-shadow:{t.shadow};"

    def button(
        self,
        text: str,
        *,
        accent: bool | None = None,
        state: str = "",
        style: str = "",
        kind: str = "button",
        **data: str,
    ) -> str:
        """A push button."""
        accent = self.rng.random() < 0.4 if accent is None else accent
        pad = (
            f"padding:{self.rng.randrange(3, 9)}px {self.rng.randrange(6, 13)}px;text-align:center;white-space:nowrap;"
        )
        return self.element(kind, text, state=state, style=self.box(True, accent) + pad + CENTRE + style, **data)

    def bar(self, names: list[str], *, vertical: bool = False, kind: str = "tab") -> str:
        """Tabs or navigation; one is active."""
        t, active = self.theme, self.rng.randrange(len(names))
        grow = "flex:1;" if self.rng.random() < 0.6 else ""
        look = self.rng.randrange(3)
        out = []
        for i, name in enumerate(names):
            on = i == active
            css = [
                f"background:{t.accent if on else 'transparent'};color:{t.on_accent if on else t.ink};border-radius:{t.radius}px;",
                f"color:{t.ink if on else t.muted};border-{'left' if vertical else 'bottom'}:3px solid {t.accent if on else 'transparent'};",
                f"background:{t.surface if on else t.background};color:{t.ink if on else t.muted};border:1px solid {t.line};",
            ][look]
            css += f"padding:{self.rng.choice((3, 4, 5, 6))}px 5px;text-align:center;white-space:nowrap;{grow if not vertical else ''}{CENTRE}"
            out.append(self.element(kind, name, state="on" if on else "off", style=css))
        way = "column" if vertical else "row"
        return f'<div style="display:flex;flex-direction:{way};gap:{self.rng.choice((0, 2, 4))}px;flex:none;background:{t.background}">{"".join(out)}</div>'

    def grid(self, count: int, columns: int, priced: bool) -> str:
        """Items to choose from, some with a second line."""
        t = self.theme
        out = []
        accent = self.rng.random() < 0.3
        stacked = self.rng.random() < 0.6
        size, weight = t.size + self.rng.randrange(-2, 4), self.rng.choice((400, 400, 600))
        for name in words.labels(self.rng, count, 15 if columns < 3 else 9):
            price = words.money(self.rng) if priced else ""
            second = ""
            if price:
                tone = t.on_accent if accent else t.muted
                second = (
                    f'<span style="color:{tone};font-size:{size}px;font-weight:{weight}">{html.escape(price)}</span>'
                )
            way = "column" if stacked else "row"
            css = (
                self.box(True, accent)
                + f"display:flex;flex-direction:{way};align-items:center;justify-content:{'center' if stacked else 'space-between'};gap:2px;padding:3px 6px;text-align:center;line-height:1.1;overflow:hidden;"
            )
            out.append(
                f'<div data-k="item" data-l="{html.escape(name)}" data-v="{html.escape(price)}" style="{css}"><span>{html.escape(name)}</span>{second}</div>'
            )
        return f'<div style="display:grid;grid-template-columns:repeat({columns},1fr);gap:{t.gap}px;flex:1;min-height:0;align-content:{self.rng.choice(("stretch", "start"))};grid-auto-rows:{self.rng.choice(("1fr", "minmax(30px,auto)"))}">{"".join(out)}</div>'

    def rows(self, count: int, action: str | None) -> str:
        """Label and value, perhaps with a button at the end of each row."""
        t, out = self.theme, []
        head = self.rng.random() < 0.3
        rule = self.rng.choice(
            (
                f"border-bottom:1px solid {t.line};",
                f"border:1px solid {t.line};border-radius:{t.radius}px;background:{t.surface};",
                "",
            )
        )
        priced = self.rng.random() < 0.5
        amount = f"font-size:{t.size + self.rng.randrange(4)}px;font-weight:{self.rng.choice((400, 600, 700))};"
        amount += f"color:{t.muted if self.rng.random() < 0.4 else t.ink}"
        counted = action is not None and self.rng.random() < 0.4
        chips = self._chips(count)
        keys = zip(self._row_names(count), self._second_keys(count), chips, strict=True)
        for name, second, chip in keys:
            shown = words.money(self.rng) if priced else words.value(self.rng)
            first = f"{self.rng.randrange(1, 5)}{self.rng.choice((' ', ' ', '× '))}{name}" if counted else name
            said = {"l": name, "g": second, "v": shown, "s": chip}
            data = " ".join(f'data-{k}="{html.escape(v)}"' for k, v in said.items() if v)
            cells = f'<span style="flex:1;text-align:left;white-space:nowrap">{html.escape(first)}</span>'
            if second:
                cells += f'<span style="color:{t.muted};flex:1;white-space:nowrap">{html.escape(second)}</span>'
            if chip:
                bold = chips.count(chip) == 1
                css = f"{self.box(True, True)}padding:1px 6px;" if bold else f"color:{t.muted};padding:1px 3px;"
                cells += f'<span style="{css}">{html.escape(chip)}</span>'
            cells += f'<span data-k="value" {data} style="{amount}">{html.escape(shown)}</span>'
            if action:
                look = self.box(True, self.rng.random() < 0.3) + "padding:2px 7px;margin-left:5px;"
                cells += self.element("rowbutton", action, group=name, style=look)
            pad = self.rng.choice((2, 4, 6))
            out.append(
                f'<div data-k="row" {data} style="display:flex;align-items:center;gap:5px;padding:{pad}px 6px;{rule}">{cells}</div>'
            )
        title = (
            f'<div style="font-weight:700;padding:3px 6px">{html.escape(words.label(self.rng))}</div>' if head else ""
        )
        return f'<div style="flex:1;min-width:0;display:flex;flex-direction:column;gap:{self.rng.choice((0, 2, 4))}px">{title}{"".join(out)}</div>'

    def _row_names(self, count: int) -> list[str]:
        """What rows are called: words, numbers, or both."""
        if self.rng.random() < 0.6:
            return words.labels(self.rng, count, 13)
        before = self.rng.choice(("Order ", "Table ", "Room ", "No. ", "#", "", ""))
        first = self.rng.randrange(1, 95)
        near = list(range(first, first + count))
        numbers = (
            near if self.rng.random() < 0.5 else self.rng.sample(range(1, self.rng.choice((10, 100, 1000))), count)
        )
        return [f"{before}{n}" for n in numbers]

    def _chips(self, count: int) -> list[str]:
        """A status for every row, one of them unlike the others, or none at all."""
        if self.rng.random() < 0.7:
            return [""] * count
        most, one = self.rng.sample(words.STATUSES, 2)
        chips = [most] * count
        chips[self.rng.randrange(count)] = one
        return chips

    def _second_keys(self, count: int) -> list[str]:
        """A second name for every row, such as its table, or none at all."""
        if self.rng.random() < 0.5:
            return [""] * count
        if self.rng.random() < 0.6:
            noun = self.rng.choice(("Table", "Room", "Desk", "Seat", "Customer", "Unit"))
            return [f"{noun} {n}" for n in self.rng.sample(range(1, self.rng.choice((10, 30))), count)]
        return words.labels(self.rng, count, 8)

    def steppers(self, count: int) -> str:
        """Rows with a number between a minus and a plus button."""
        t, out = self.theme, []
        minus = self.rng.choice(("−", "-"))
        for name in words.labels(self.rng, count, 13):
            number = str(self.rng.randrange(0, 10))
            css = self.box(True, self.rng.random() < 0.3) + "width:26px;text-align:center;padding:2px 0;"
            cells = f'<span style="flex:1">{html.escape(name)}</span>'
            cells += self.element("minus", minus, group=name, style=css, label="-")
            cells += f'<span data-k="count" data-l="{html.escape(name)}" data-v="{number}" style="width:24px;text-align:center">{number}</span>'
            cells += self.element("plus", "+", group=name, style=css, label="+")
            out.append(
                f'<div style="display:flex;align-items:center;gap:3px;padding:3px 6px;border-bottom:1px solid {t.line}">{cells}</div>'
            )
        return f'<div style="flex:1;min-width:0">{"".join(out)}</div>'

    def form(self, count: int) -> str:
        """Fields with labels; one may have the focus, some are filled."""
        t, out = self.theme, []
        focus = self.rng.randrange(count) if self.rng.random() < 0.75 else -1
        beside = self.rng.random() < 0.5
        names = self.rng.sample(words.FIELDS, count) if self.rng.random() < 0.5 else words.labels(self.rng, count, 10)
        for i, name in enumerate(names):
            text = words.typed(self.rng)[:18] if self.rng.random() < 0.35 else ""
            on = i == focus
            ring = f"outline:2px solid {t.accent};" if on else ""
            caret = f'<span style="border-left:1px solid {t.ink}">&#8203;</span>' if on else ""
            css = f"background:{t.surface};color:{t.ink};border:1px solid {t.line};border-radius:{min(t.radius, 8)}px;padding:{self.rng.choice((3, 4, 5))}px 6px;min-height:1.2em;flex:1;white-space:nowrap;overflow:hidden;{ring}"
            field_ = f'<div data-k="field" data-l="{html.escape(name)}" data-v="{html.escape(text)}" data-s="{"focus" if on else "blur"}" style="{css}">{html.escape(text)}{caret}</div>'
            way = "row" if beside else "column"
            name_css = f"color:{t.muted};{'width:72px;' if beside else 'font-size:12px;'}"
            out.append(
                f'<div style="display:flex;flex-direction:{way};gap:3px;align-items:{"center" if beside else "stretch"}"><span style="{name_css}">{html.escape(name)}</span>{field_}</div>'
            )
        return f'<div style="flex:1;min-width:0;display:flex;flex-direction:column;gap:{t.gap}px;padding:4px">{"".join(out)}</div>'

    def switches(self, count: int) -> str:
        """Checkboxes, radio buttons or switches."""
        t, out = self.theme, []
        shape = self.rng.randrange(3)
        for name in words.labels(self.rng, count, 14):
            on = self.rng.random() < 0.5
            if shape == 2:
                knob = f'<span style="width:30px;height:16px;border-radius:8px;background:{t.accent if on else t.line};display:inline-flex;justify-content:{"flex-end" if on else "flex-start"}"><span style="width:16px;height:16px;border-radius:8px;background:#fff;border:1px solid #888;box-sizing:border-box"></span></span>'
            else:
                mark = "✓" if shape == 0 else "●"
                knob = f'<span style="width:15px;height:15px;border:2px solid {t.accent};border-radius:{0 if shape == 0 else 9}px;font-size:11px;line-height:15px;text-align:center;color:{t.on_accent if shape == 0 else t.accent};background:{t.accent if on and shape == 0 else "transparent"}">{mark if on else ""}</span>'
            out.append(
                f'<div data-k="switch" data-l="{html.escape(name)}" data-s="{"on" if on else "off"}" style="display:flex;align-items:center;gap:7px;padding:4px 6px">{knob}<span>{html.escape(name)}</span></div>'
            )
        return f'<div style="flex:1;min-width:0">{"".join(out)}</div>'

    def keypad(self) -> str:
        """Numbers to press: digits or places."""
        count = self.rng.choice((6, 9, 9, 12))
        names = [
            str(n) for n in (range(1, count + 1) if self.rng.random() < 0.7 else self.rng.sample(range(1, 100), count))
        ]
        if self.rng.random() < 0.3:
            names = [f"Table {n}" for n in names]
        cells = "".join(self.button(n, accent=self.rng.random() < 0.1, kind="key") for n in names)
        return f'<div style="display:grid;grid-template-columns:repeat({self.rng.choice((3, 3, 4))},1fr);gap:{self.theme.gap}px;flex:1;padding:4px">{cells}</div>'

    def text(self) -> str:
        """A heading and a sentence: something to be read past."""
        t = self.theme
        body = " ".join(words.word(self.rng).lower() for _ in range(self.rng.randrange(3, 9)))
        return f'<div style="padding:3px 6px"><b>{html.escape(words.label(self.rng))}</b><div style="color:{t.muted};font-size:{max(11, t.size - 2)}px">{html.escape(body)}.</div></div>'

    def buttons(self, count: int, *, vertical: bool = False) -> str:
        """A row or column of buttons."""
        wrap = "flex-direction:column;" if vertical else "flex-wrap:wrap;"
        return f'<div style="display:flex;{wrap}gap:{self.theme.gap}px;padding:4px;flex:none">{"".join(self.button(n) for n in words.labels(self.rng, count, 12))}</div>'


CENTRE = "display:flex;align-items:center;justify-content:center;"


def make_page(rng: random.Random) -> Page:
    """A random page of 320 x 256 px."""
    pen = Pen(rng, make_theme(rng))
    kind = rng.random()
    if kind < 0.12:
        return Page(_frame(pen, _scatter(pen)))
    if kind < 0.36:
        return _collector(pen)
    body = _split(pen)
    if kind > 0.9:
        body += _sheet(pen)
    return Page(_frame(pen, body))


def _frame(pen: Pen, body: str) -> str:
    t = pen.theme
    spacing = pen.rng.choice((0, 0, 0, 0.2, -0.2))
    return f'<div class="page" style="background:{t.background};color:{t.ink};font:{t.weight} {t.size}px \'{t.font}\';letter-spacing:{spacing}px;line-height:1.2">{body}</div>'


def _block(pen: Pen) -> str:
    rng = pen.rng
    kind = rng.randrange(18)
    if kind <= 1 or kind == 12:
        return pen.grid(rng.choice((4, 6, 6, 8)), rng.choice((2, 2, 3)), rng.random() < 0.7)
    if kind <= 3 or kind > 12:
        ends = (None, None, None, "Open", "Edit", "×", "Remove", "Delete", "+", "View", "−", "−", "-")
        return pen.rows(rng.randrange(3, 7), rng.choice(ends))
    if kind in (4, 9, 10, 11):
        return pen.form(rng.randrange(2, 5))
    if kind == 5:
        return pen.steppers(rng.randrange(3, 6))
    if kind == 6:
        return pen.switches(rng.randrange(3, 7))
    if kind == 7:
        return pen.keypad()
    return f'<div style="flex:1;min-width:0">{pen.text()}{pen.buttons(rng.randrange(2, 5))}{pen.text()}</div>'


def _split(pen: Pen) -> str:
    """Bars around one or two blocks."""
    rng = pen.rng
    names = words.labels(rng, rng.randrange(3, 5), 8)
    place = rng.randrange(4)
    middle = _block(pen)
    if rng.random() < 0.3:
        side = pen.buttons(rng.randrange(2, 5), vertical=True) if rng.random() < 0.5 else pen.rows(3, None)
        parts = [middle, f'<div style="width:{rng.randrange(96, 140)}px;flex:none;overflow:hidden">{side}</div>']
        rng.shuffle(parts)
        middle = f'<div style="display:flex;gap:4px;flex:1;min-height:0">{"".join(parts)}</div>'
    foot = pen.buttons(rng.randrange(1, 4)) if rng.random() < 0.5 else ""
    head = pen.text() if rng.random() < 0.2 else ""
    if place == 0:
        body = pen.bar(names) + head + middle + foot
    elif place == 1:
        body = head + middle + foot + pen.bar(names)
    elif place == 2:
        sides = [
            pen.bar(names, vertical=True),
            f'<div style="flex:1;min-width:0;display:flex;flex-direction:column">{head}{middle}{foot}</div>',
        ]
        if rng.random() < 0.3:
            sides.reverse()
        return f'<div style="display:flex;width:100%;height:100%;gap:4px">{"".join(sides)}</div>'
    else:
        body = head + middle + foot
    return f'<div style="display:flex;flex-direction:column;height:100%;gap:{rng.choice((0, 3, 6))}px">{body}</div>'


def _scatter(pen: Pen) -> str:
    """Buttons anywhere."""
    rng, out = pen.rng, list[str]()
    taken: list[tuple[float, float, float, float]] = []
    for name in words.labels(rng, rng.randrange(4, 11), 14):
        wide, high = len(name) * pen.theme.size * 0.68 + 26, pen.theme.size + 18
        for _ in range(20):
            x, y = rng.uniform(0, WIDTH - wide), rng.uniform(0, HEIGHT - high)
            if all(x > b + 2 or x + wide < a - 2 or y > d + 2 or y + high < c - 2 for a, b, c, d in taken):
                taken.append((x, x + wide, y, y + high))
                out.append(pen.button(name, style=f"position:absolute;left:{x:.1f}px;top:{y:.1f}px;"))
                break
    return "".join(out)


def _sheet(pen: Pen) -> str:
    """A sheet over the page; what it covers cannot be clicked."""
    t, rng = pen.theme, pen.rng
    wide = rng.randrange(170, 290)
    options = rng.choice(
        (lambda: pen.switches(rng.randrange(2, 4)), lambda: pen.form(1), pen.text, lambda: pen.grid(4, 2, True))
    )()
    return (
        f'<div style="position:absolute;inset:0;background:#0007;display:flex;align-items:{rng.choice(("center", "flex-end", "flex-start"))};justify-content:center">'
        f'<div style="width:{wide}px;background:{t.surface};border-radius:{t.radius}px;padding:8px;box-sizing:border-box">{options}{pen.buttons(rng.randrange(2, 4))}</div></div>'
    )


def _collector(pen: Pen) -> Page:
    """Things to pick, a panel with what has been picked so far, and a button that ends it."""
    rng, t = pen.rng, pen.theme
    columns = rng.choice((1, 2, 2))
    count = rng.choice((3, 4)) if columns == 1 else rng.choice((4, 4, 6))
    names = words.labels(rng, count, 13)
    places = [str(n) for n in rng.sample(range(1, 13), rng.randrange(4, 8))] if rng.random() < 0.6 else []
    noun = rng.choice(("Table", "Room", "Desk", "Seat", "Group", "Box"))
    chosen = rng.choice(places) if places and rng.random() < 0.6 else ""
    picked = {name: rng.choice((1, 1, 1, 2, 2, 3)) for name in rng.sample(names, rng.randrange(0, min(4, count)))}
    last = rng.choice(("Send", "Submit", "Confirm", "Done", "Place order", "Finish", "Save", "Order", "Go"))
    price = {name: words.money(rng) for name in names} if rng.random() < 0.6 else {}
    items = "".join(
        f'<div data-k="pick" data-l="{html.escape(n)}" data-v="{html.escape(price.get(n, ""))}" style="{pen.box(True)}display:flex;flex-direction:column;align-items:center;justify-content:center;padding:2px 4px;text-align:center;line-height:1.1">'
        f"<span>{html.escape(n)}</span>{f'<span style=color:{t.muted};font-weight:400>{html.escape(price[n])}</span>' if n in price else ''}</div>"
        for n in names
    )
    form = rng.choice(("{n} {x}", "{n} {x}", "{n}× {x}", "{x} ×{n}", "{x} {n}"))
    lines = "".join(
        f'<div data-k="line" data-l="{html.escape(n)}" data-v="{c}" style="padding:1px 0">{html.escape(form.format(n=c, x=n))}</div>'
        for n, c in picked.items()
    )
    tag = (
        f'<div data-k="place" data-l="{noun}" data-v="{chosen}" style="font-weight:700">{noun} {chosen or rng.choice(("–", "?", "none"))}</div>'
        if places
        else ""
    )
    small = f"font-size:{max(12, t.size - rng.randrange(3))}px;"
    empty = f'<span style="color:{t.muted}">{rng.choice(("Empty", "Nothing yet", "No items"))}</span>'
    panel = f'<div style="{small}flex:1;overflow:hidden">{tag}{lines or empty}</div>{pen.button(last, accent=True, kind="finish")}'
    wide = rng.randrange(104, 140)
    side = rng.random() < 0.75
    shape = (
        f"width:{wide}px;flex:none;display:flex;flex-direction:column;"
        if side
        else f"height:{rng.randrange(62, 84)}px;flex:none;display:flex;flex-direction:{rng.choice(('row', 'column'))};"
    )
    panel = f'<div style="{shape}background:{t.surface};border:1px solid {t.line};border-radius:{t.radius}px;padding:4px;gap:3px">{panel}</div>'
    pad = f'<div style="display:grid;grid-template-columns:repeat({columns},1fr);gap:{t.gap}px;flex:1;min-width:0;min-height:0;grid-auto-rows:1fr">{items}</div>'
    parts = [pad, panel]
    if rng.random() < 0.4:
        parts.reverse()
    strip = (
        f'<div style="display:flex;gap:2px;flex:none">{"".join(pen.element("placekey", p, state="on" if p == chosen else "off", label=p, style=pen.box(True, p == chosen) + CENTRE + "flex:1;padding:4px 2px;") for p in places)}</div>'
        if places
        else ""
    )
    tabs = pen.bar(words.labels(rng, 3, 8)) if rng.random() < 0.6 else ""
    bars = [tabs, strip] if rng.random() < 0.5 else [strip, tabs]
    way = "row" if side else "column"
    body = f'<div style="display:flex;flex-direction:column;height:100%;gap:4px;padding:{rng.choice((0, 3, 5))}px;box-sizing:border-box">{bars[0]}<div style="display:flex;flex-direction:{way};gap:5px;flex:1;min-height:0">{"".join(parts)}</div>{bars[1]}</div>'
    facts: dict[str, object] = {
        "names": names,
        "picked": picked,
        "noun": noun,
        "chosen": chosen,
        "places": places,
        "last": last,
    }
    return Page(_frame(pen, body), facts)
