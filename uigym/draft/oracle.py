"""The acts of a demonstration as the lines of an oracle."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from uigym.draft.aim import Target
from uigym.draft.demonstration import Act
from uigym.draft.said import Said, number
from uigym.draft.text import quoted
from uigym.types import Click, Drag, HoldKey, Key, MouseDown, MouseUp, Move, Scroll, Type, Wait

_SELECT_ALL = ("Control+A", "Meta+A")


def lines(acts: Sequence[Act], names: Mapping[Said, str], *, by_place: bool = False) -> list[str]:
    """Statements that do the same, in Playwright's words.

    Args:
        acts: What was done.
        names: Parameters by the text that they stand for.
        by_place: Click where it was clicked, instead of by role and name.
    """
    kept = joined(acts) if by_place else _without_scrolls(joined(acts))
    return [line for at in _merged(kept, by_place) for line in _lines(at, names, by_place)]


def _without_scrolls(acts: Sequence[Act]) -> list[Act]:
    """Without those that only brought an element into view, which a locator does by itself."""
    found: list[Act] = []
    for act in reversed(acts):
        follows = found[-1] if found else None
        if not (isinstance(act.action, Scroll) and (follows is None or follows.target is not None)):
            found.append(act)
    return found[::-1]


def joined(acts: Sequence[Act]) -> list[Act]:
    """The acts, with texts that were typed one after the other as one."""
    found: list[Act] = []
    for act in acts:
        last = found[-1].action if found else None
        if isinstance(act.action, Type) and isinstance(last, Type):
            found[-1] = Act(Type(last.text + act.action.text))
        else:
            found.append(act)
    return found


def spoken(value: str, names: Mapping[Said, str]) -> str:
    """A text as Python source, with the parameters that it holds."""
    for each, name in names.items():
        if str(each) == value:
            return name if isinstance(each, str) else f"str({name})"
    for text in sorted((each for each in names if isinstance(each, str)), key=len, reverse=True):
        if text in value and "{" not in value and "}" not in value:
            head, tail = value.split(text, 1)
            marked = quoted(f"{head}\uffff{tail}")  # a character that no text has
            return "f" + re.sub("\uffff|\\\\uffff", f"{{{names[text]}}}", marked)
    return quoted(value)


def _merged(acts: list[Act], by_place: bool) -> Iterator[list[Act]]:
    """Acts that become one statement: a click into an empty field, and the text that is typed into it."""
    at = 0
    while at < len(acts):
        size = 1
        target = acts[at].target
        if not by_place and target is not None and target.editable and isinstance(acts[at].action, Click):
            rest = acts[at + 1 : at + 3]
            keys = [act.action for act in rest]
            if keys and isinstance(keys[0], Type) and target.empty:
                size = 2
            elif (
                len(keys) > 1
                and isinstance(keys[0], Key)
                and keys[0].chord in _SELECT_ALL
                and isinstance(keys[1], Type)
            ):
                size = 3
        yield acts[at : at + size]
        at += size


def _lines(acts: Sequence[Act], names: Mapping[Said, str], by_place: bool) -> Iterator[str]:
    action, target = acts[0].action, None if by_place else acts[0].target
    if isinstance(action, Click):
        yield from _click(acts, action, target, names)
    elif isinstance(action, Type):
        yield f"await page.keyboard.type({spoken(action.text, names)})"
    elif isinstance(action, Key):
        yield f"await page.keyboard.press({quoted(action.chord)})"
    elif isinstance(action, HoldKey):
        yield f"await page.keyboard.press({quoted(action.chord)})  # it was held for {action.seconds:g} s"
    elif isinstance(action, Scroll):
        yield f"await page.mouse.move({action.x:g}, {action.y:g})"
        yield f"await page.mouse.wheel({action.dx:g}, {action.dy:g})"
    elif isinstance(action, Move):
        yield f"await page.mouse.move({action.x:g}, {action.y:g})"
    elif isinstance(action, Drag):
        yield f"await page.mouse.move({action.path[0][0]:g}, {action.path[0][1]:g})"
        yield "await page.mouse.down()"
        for x, y in action.path[1:]:
            yield f"await page.mouse.move({x:g}, {y:g})"
        yield "await page.mouse.up()"
    elif isinstance(action, MouseDown | MouseUp):
        yield f"await page.mouse.move({action.x:g}, {action.y:g})"
        yield f"await page.mouse.{'down' if isinstance(action, MouseDown) else 'up'}()"
    elif isinstance(action, Wait):
        yield f"await page.wait_for_timeout({action.seconds * 1000:g})"


def _click(acts: Sequence[Act], action: Click, target: Target | None, names: Mapping[Said, str]) -> Iterator[str]:
    act = acts[0]
    options = f", button={quoted(action.button)}" if action.button != "left" else ""
    options += f", click_count={action.count}" if action.count > 1 else ""
    if target is None:
        yield f"await page.mouse.click({action.x:g}, {action.y:g}{options})"
        for rest in acts[1:]:
            yield from _lines([rest], names, True)
        return
    element = located(target, names)
    if act.kind:
        how = "select_option(label=" if act.kind == "list" else "fill("
        yield f"await {element}.{how}{spoken(act.picked, names)})"
    elif len(acts) > 1:
        last = acts[-1].action
        assert isinstance(last, Type)
        yield f"await {element}.fill({spoken(last.text, names)})"
    else:
        modifiers = f", modifiers={list(action.modifiers)!r}" if action.modifiers else ""
        yield f"await {element}.click({(options + modifiers).removeprefix(', ')})"


def located(target: Target, names: Mapping[Said, str]) -> str:
    """A target as Python source."""
    source = "page"
    names = {each: name for each, name in names.items() if isinstance(each, str) and number(each) is None}
    for method, arguments, options in target.way:
        is_role = method == "get_by_role"  # which no parameter stands for
        given = [spoken(each, {} if is_role else names) if isinstance(each, str) else repr(each) for each in arguments]
        given += [f"{key}={spoken(v, names) if isinstance(v, str) else repr(v)}" for key, v in options.items()]
        source += f".{method}({', '.join(given)})"
    return source
