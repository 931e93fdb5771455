"""Histories of browser-use: `agent.save_history("history.json")`.

An agent's turn has several actions, by the number of an element in its own list; the history keeps, beside each, the
element's path, attributes and name. What only reads or writes the agent's own files is left out; code is never run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from uigym.errors import ConfigError
from uigym.exchange.importing.asked import (
    Act,
    Asked,
    Cannot,
    Choose,
    Do,
    Fill,
    Give,
    Leave,
    Press,
    Recording,
    Strike,
    Target,
    Turn,
    Visit,
)
from uigym.exchange.importing.files import a_list, a_mapping, a_number, a_text, brief, parse, quoted, read_text
from uigym.types import Answer, Back, Click, SwitchTab, Type, Wait

_TELLING = (
    "id",
    "data-testid",
    "data-test",
    "data-cy",
    "name",
    "aria-label",
    "placeholder",
    "type",
    "value",
    "href",
    "role",
    "title",
    "for",
)
"""Attributes that tell an element from others, and not how it looks just now."""
_READING = {
    "extract", "extract_structured_data", "search_page", "find_elements", "find_text", "scroll_to_text", "screenshot", "dropdown_options",
    "get_dropdown_options", "save_as_pdf", "read_file", "write_file", "replace_file", "replace_file_str", "read_long_content",
}  # fmt: skip
_NAMES = {
    "go_to_url": "navigate", "open_tab": "navigate", "click_element": "click", "click_element_by_index": "click", "input_text": "input",
    "select_dropdown_option": "select_dropdown", "upload_file_to_element": "upload_file", "switch_tab": "switch", "close_tab": "close",
    "search_google": "search", "execute_js": "evaluate", "scroll_down": "scroll", "scroll_up": "scroll",
}  # fmt: skip
"""What earlier versions called them."""


@dataclass(frozen=True, slots=True)
class _Action:
    """One action of a turn."""

    name: str
    given: Mapping[str, Any]
    element: Mapping[str, Any]
    """What the history keeps of its element; empty if it has none."""
    tabs: tuple[str, ...]
    where: str

    @property
    def target(self) -> Target | None:
        """The element; None if the history does not tell it."""
        found = tuple(_ways(self.element))
        return Target(found, anywhere=True) if found else None


def read(path: Path) -> Recording:
    """What a history asks for.

    Raises:
        ConfigError: It is no such file.
    """
    history = a_mapping(parse(read_text(path), str(path)), str(path))
    if "history" not in history:
        raise ConfigError(f'{path} has no "history": expected what agent.save_history("...json") of browser-use writes')
    steps: list[Asked] = []
    answer: Answer | None = None
    for number, turn in enumerate(a_list(history, "history", str(path)), 1):
        for asked, said in _turn(a_mapping(turn, f"{path}, step {number}"), number, path):
            steps.append(asked)
            answer = said or answer
    return Recording(tuple(steps), answer=answer)


def _turn(turn: Mapping[str, Any], number: int, path: Path) -> Iterator[tuple[Asked, Answer | None]]:
    where = f"{path}, step {number}"
    output = a_mapping(turn.get("model_output") or {}, where)
    state = a_mapping(turn.get("state") or {}, where)
    results, elements = a_list(turn, "result", where), a_list(state, "interacted_element", where)
    tabs = tuple(_tab(tab) for tab in a_list(state, "tabs", where))
    text = "\n".join(
        str(output[name])
        for name in ("thinking", "evaluation_previous_goal", "memory", "next_goal")
        if output.get(name)
    )
    for index, entry in enumerate(a_list(output, "action", where)):
        said = a_mapping(entry, where)
        if len(said) != 1:
            raise ConfigError(f"{where}: an action is an object with one name, not {sorted(said)!r:.80}")
        ((name, given),) = said.items()
        element = elements[index] if index < len(elements) else None
        action = _Action(
            _NAMES.get(name, name),
            a_mapping(given or {}, where),
            a_mapping(element or {}, where),
            tabs,
            where,
        )
        result = results[index] if index < len(results) else {}
        failed = a_mapping(result or {}, where).get("error")
        act = Leave(f"it failed when it was recorded: {brief(str(failed))}") if failed else _act(action, name)
        yield Asked(number, _words(action), act, text=text if index == 0 else ""), _answer(action)


def _act(action: _Action, name: str) -> Act:
    if action.name in _READING:
        return Leave("it only reads, or writes the agent's own files")
    kind = _KINDS.get(action.name)
    if kind is None:
        return Cannot(f"{name!r:.60} is no action of browser-use that a hand can do")
    return kind(action)


def _press(action: _Action) -> Act:
    given = action.given
    if (found := action.target) is not None:
        return Press(found)
    if given.get("coordinate_x") is not None and given.get("coordinate_y") is not None:
        where = action.where
        return Do(Click(a_number(given, "coordinate_x", where), a_number(given, "coordinate_y", where)))
    return Cannot("the history does not keep which element it was")


def _fill(action: _Action) -> Act:
    text = a_text(action.given, "text", action.where)
    if "<secret>" in text:
        return Cannot("the history withholds the text that was typed")
    if (found := action.target) is None:
        return Cannot("the history does not keep which element it was")
    return Fill(found, text, keep=action.given.get("clear") is False)


def _scroll(action: _Action) -> Act:
    down = action.given.get("down", True) is not False
    heights = a_number(action.given, "pages" if "pages" in action.given else "num_pages", action.where, 1.0)
    return Turn(action.target, heights=heights if down else -heights)


def _keys(action: _Action) -> Act:
    keys = a_text(action.given, "keys", action.where)
    if len(keys) > 1 and not re.fullmatch(r"[A-Za-z]+\d{0,2}|([A-Za-z]+\+)+(.|[A-Za-z]+\d{0,2})", keys):
        return Do(Type(keys))
    return Strike(keys)


def _with_element(make: Callable[[Target, _Action], Act]) -> Callable[[_Action], Act]:
    def act(action: _Action) -> Act:
        found = action.target
        return make(found, action) if found else Cannot("the history does not keep which element it was")

    return act


def _switch(action: _Action) -> Act:
    wanted = str(action.given.get("tab_id", action.given.get("page_id", "")))[-4:]
    if wanted not in action.tabs:
        return Cannot(f"the history does not say which window {wanted!r} was")
    return Do(SwitchTab(action.tabs.index(wanted)))


_KINDS: dict[str, Callable[[_Action], Act]] = {
    "click": _press,
    "input": _fill,
    "navigate": lambda action: Visit(a_text(action.given, "url", action.where)),
    "search": lambda action: Cannot("a search engine is no part of the product"),
    "evaluate": lambda action: Cannot("code of a recording is never run"),
    "go_back": lambda action: Do(Back()),
    "wait": lambda action: Do(Wait(min(30.0, max(0.0, a_number(action.given, "seconds", action.where, 3))))),
    "scroll": _scroll,
    "send_keys": _keys,
    "select_dropdown": _with_element(
        lambda found, action: Choose(found, (a_text(action.given, "text", action.where),))
    ),
    "upload_file": _with_element(
        lambda found, action: Give(found, (PurePosixPath(a_text(action.given, "path", action.where)).name,))
    ),
    "switch": _switch,
    "close": lambda action: Leave("a window is closed with its episode"),
    "done": lambda action: Leave("the end of the run"),
}


def _answer(action: _Action) -> Answer | None:
    text = action.given.get("text") if action.name == "done" else None
    return Answer(text) if isinstance(text, str) and text else None


def _ways(element: Mapping[str, Any]) -> Iterator[str]:
    """By attributes, by path, by name; what finds several is no way."""
    tag = str(element.get("node_name") or "").lower()
    if not re.fullmatch(r"[a-z][a-z0-9-]*", tag):
        return
    given = element.get("attributes")
    attributes = given if isinstance(given, dict) else {}
    told = {name: str(attributes[name]) for name in _TELLING if isinstance(attributes.get(name), str)}
    css = tag + "".join(f"[{name}={quoted(value)}]" for name, value in told.items())
    name, path = element.get("ax_name"), element.get("x_path")
    if told:
        yield f"css={css}"
    if isinstance(name, str) and name:
        yield f"css={css} >> internal:has-text={json.dumps(name)}s"
    if isinstance(path, str) and re.fullmatch(r"[\w/\[\].:-]{1,2000}", path):
        yield f"xpath=/{path.lstrip('/')}"


def _tab(tab: Any) -> str:
    told = [tab[name] for name in ("tab_id", "target_id", "page_id") if name in tab] if isinstance(tab, dict) else []
    return str(told[0])[-4:] if told else ""


def _words(action: _Action) -> str:
    shown = action.element.get("ax_name") or action.element.get("x_path") or action.given.get("url") or ""
    return brief(f"{action.name} {shown}".strip())
