"""Recordings of the Recorder in Chrome's DevTools: "Export as JSON file"; the format is that of @puppeteer/replay.

Its selectors are lists of ways to one element, each a list of parts through shadow roots; offsets count from the
element's corner; a scroll step says where the page came to stand; keys that only typed into a field are left out by
the Recorder itself, which says what the field held in the end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from uigym.errors import ConfigError
from uigym.exchange.importing.asked import (
    Act,
    Asked,
    Cannot,
    Fill,
    Hover,
    Leave,
    Press,
    Recording,
    Strike,
    Target,
    Turn,
    Visit,
    tidy,
)
from uigym.exchange.importing.files import a_list, a_mapping, a_number, a_text, brief, parse, quoted, read_text

_BUTTONS = {"primary": "left", "auxiliary": "middle", "secondary": "right"}
_MODIFIERS = {"Alt": "Alt", "Control": "Control", "Meta": "Meta", "Shift": "Shift"} | {
    f"{name}{side}": name for name in ("Alt", "Control", "Meta", "Shift") for side in ("Left", "Right")
}
_ARIA_PART = re.compile(r"""\[\s*(name|role)\s*=\s*(["'])((?:\\.|(?!\2).)*)\2\s*\]""")
_NAMED_BY_PEOPLE = (
    "button", "link", "textbox", "searchbox", "combobox", "checkbox", "radio", "switch", "option", "listbox", "menuitem", "menuitemcheckbox",
    "menuitemradio", "tab", "slider", "spinbutton", "img", "heading", "cell", "gridcell", "row", "columnheader", "rowheader", "listitem", "treeitem",
    "group", "region", "dialog", "article", "figure", "paragraph", "progressbar", "table", "list", "navigation", "main", "form", "tabpanel",
)  # fmt: skip
"""Roles that an element may have that is told by its name alone."""


def read(path: Path) -> Recording:
    """What a file of the Recorder asks for.

    Raises:
        ConfigError: It is no such file.
    """
    flow = a_mapping(parse(read_text(path), str(path)), str(path))
    if "steps" not in flow:
        raise ConfigError(
            f'{path} has no "steps": expected a recording that Chrome\'s DevTools exported as JSON (Recorder, Export)'
        )
    told = a_list(flow, "steps", str(path))
    return Recording(
        tidy(list(_Reader(path).steps(told))),
        size=_size(told, path),
        about={"title": brief(str(flow.get("title", "")), 200)},
    )


class _Reader:
    """Reads steps one by one; keeps which modifier keys are down."""

    def __init__(self, path: Path):
        self._path = path
        self._held: list[Any] = []
        self._kinds: dict[str, Callable[[Mapping[str, Any], str], Act]] = {
            "setViewport": lambda step, where: Leave("the harness says how large the window is"),
            "emulateNetworkConditions": lambda step, where: Leave("the harness says how the network is"),
            "close": lambda step, where: Leave("a window is closed with its episode"),
            "waitForElement": lambda step, where: Leave("every step waits for its own element"),
            "waitForExpression": lambda step, where: Leave("code of a recording is never run"),
            "customStep": lambda step, where: Cannot(f"only its own tool knows the step {step.get('name')!r:.60}"),
            "navigate": lambda step, where: Visit(a_text(step, "url", where)),
            "click": lambda step, where: self._press(step, where, 1),
            "doubleClick": lambda step, where: self._press(step, where, 2),
            "hover": lambda step, where: Hover(target(step, where)),
            "change": lambda step, where: Fill(target(step, where), a_text(step, "value", where)),
            "scroll": _turn,
            "keyDown": self._key_down,
            "keyUp": self._key_up,
        }

    def steps(self, told: list[Any]) -> Iterator[Asked]:
        """Every step, in order."""
        windows: list[str] = ["main"]
        for number, entry in enumerate(told, 1):
            where = f"{self._path}, step {number}"
            step = a_mapping(entry, where)
            kind = a_text(step, "type", where)
            if kind not in self._kinds:
                raise ConfigError(f"{where}: {kind!r:.60} is no step of DevTools' Recorder")
            window = a_text(step, "target", where, "main")
            if window not in windows:
                windows.append(window)
            act = self._kinds[kind](step, where)
            yield Asked(number, _words(kind, step), act, None if isinstance(act, Leave) else windows.index(window))

    def _press(self, step: Mapping[str, Any], where: str, count: int) -> Act:
        button = _BUTTONS.get(a_text(step, "button", where, "primary"))
        if button is None:
            return Cannot(f"a mouse button {step['button']!r} is none that the gym's mouse has")
        spot = (a_number(step, "offsetX", where, 0), a_number(step, "offsetY", where, 0))
        has_spot = "offsetX" in step and "offsetY" in step
        return Press(target(step, where), button, count, tuple(self._held), spot if has_spot else None)  # type: ignore[arg-type]

    def _key_down(self, step: Mapping[str, Any], where: str) -> Act:
        key = a_text(step, "key", where)
        modifier = _MODIFIERS.get(key)
        if modifier is None:
            return Strike("+".join([*self._held, "Space" if key == " " else key]))
        if modifier not in self._held:
            self._held.append(modifier)
        return Leave("held for the next steps")

    def _key_up(self, step: Mapping[str, Any], where: str) -> Act:
        modifier = _MODIFIERS.get(a_text(step, "key", where))
        if modifier in self._held:
            self._held.remove(modifier)
        return Leave("a key that was pressed is released by itself")


def target(step: Mapping[str, Any], where: str) -> Target:
    """The element of a step.

    Raises:
        ConfigError: It names none.
    """
    ways = [way for given in a_list(step, "selectors", where) if (way := selector(given, where))]
    if not ways:
        raise ConfigError(f"{where} names no element: its selectors are empty")
    frame = a_list(step, "frame", where)
    if not all(isinstance(index, int) and not isinstance(index, bool) and 0 <= index < 1000 for index in frame):
        raise ConfigError(f"{where}: frame must be a list of numbers of frames, not {frame!r:.60}")
    return Target(tuple(dict.fromkeys(ways)), tuple(frame))


def selector(given: Any, where: str) -> str:
    """One way to an element in Playwright's words.

    Raises:
        ConfigError: It is no selector.

    Example:
        >>> selector(["#app", "aria/Save[role=\\"button\\"]"], "step 1")
        'css=#app >> internal:role=button[name="Save"s]'
    """
    parts = given if isinstance(given, list) else [given]
    if not parts or len(parts) > 20 or not all(isinstance(part, str) and 0 < len(part) < 5000 for part in parts):
        raise ConfigError(f"{where}: {given!r:.80} is no selector; expected a text or a list of texts")
    return " >> ".join(_part(part) for part in parts)


def _part(part: str) -> str:
    kind, slash, rest = part.partition("/")
    if not slash or kind not in ("aria", "text", "xpath", "pierce"):
        return f"css={part}"
    if kind == "aria":
        return _aria(rest)
    return {"text": f"internal:text={json.dumps(rest)}i", "xpath": f"xpath={rest}", "pierce": f"css={rest}"}[kind]


def _aria(text: str) -> str:
    """By name and role, either of which may be missing."""
    said = {name: re.sub(r"\\(.)", r"\1", value) for name, _, value in _ARIA_PART.findall(text)}
    name = said.get("name") or _ARIA_PART.sub("", text).strip()
    named = f"[name={quoted(name)}s]" if name else ""
    if "role" in said:
        role = said["role"] if re.fullmatch(r"[a-zA-Z]+", said["role"]) else "none"
        return f"internal:role={role}{named}"
    first, *others = [f"internal:role={role}{named}" for role in _NAMED_BY_PEOPLE]
    return " >> ".join([first, *(f"internal:or={json.dumps(other)}" for other in others)])


def _turn(step: Mapping[str, Any], where: str) -> Act:
    to = (a_number(step, "x", where, 0), a_number(step, "y", where, 0))
    return Turn(target(step, where) if step.get("selectors") else None, to)


def _size(told: list[Any], path: Path) -> tuple[int, int] | None:
    for number, step in enumerate(told, 1):
        if step.get("type") == "setViewport":
            where = f"{path}, step {number}"
            return int(a_number(step, "width", where)), int(a_number(step, "height", where))
    return None


def _words(kind: str, step: Mapping[str, Any]) -> str:
    """The step in a few words; not what was typed, which may be a password."""
    ways = step.get("selectors") or []
    first = ways[0] if isinstance(ways, list) and ways else ""
    named = " ".join(map(str, first)) if isinstance(first, list) else first
    return brief(" ".join(str(part) for part in (kind, step.get("key") or step.get("url") or named) if part))
