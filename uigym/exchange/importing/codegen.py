"""Recordings of `playwright codegen --target=jsonl`: a line of options, then a line for each action.

Its selectors are Playwright's own. It fills a field with what it held in the end, and says which page each action was
on by an id; pages count here in the order in which they were opened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from uigym.errors import ConfigError
from uigym.exchange.importing.asked import (
    Act,
    Asked,
    Choose,
    Fill,
    Give,
    Hover,
    Leave,
    Press,
    Recording,
    Strike,
    Target,
    Tick,
    Visit,
    tidy,
)
from uigym.exchange.importing.files import MAX_STEPS, a_list, a_mapping, a_number, a_text, brief, lines
from uigym.types import Modifier

_BITS: tuple[tuple[int, Modifier], ...] = ((1, "Alt"), (2, "Control"), (4, "Meta"), (8, "Shift"))


def read(path: Path) -> Recording:
    """What a file of codegen asks for.

    Raises:
        ConfigError: It is no such file.
    """
    told = [(number, record) for number, record in lines(path) if "name" in record]
    if not told:
        raise ConfigError(f"{path} has no action: expected what playwright codegen --target=jsonl writes")
    if len(told) > MAX_STEPS:
        raise ConfigError(f"{path} has {len(told)} actions; at most {MAX_STEPS} can be imported")
    return Recording(tidy(list(_steps(told, path))))


def _steps(told: list[tuple[int, dict[str, Any]]], path: Path) -> Iterator[Asked]:
    pages: list[str] = []
    for line, record in told:
        where = f"{path}, line {line}"
        name = a_text(record, "name", where)
        if name not in _KINDS:
            raise ConfigError(f"{where}: {name!r:.60} is no action of codegen")
        page = a_text(record, "pageGuid", where, "")
        if page not in pages:
            pages.append(page)
        pages += [opened for opened in _opened(record, where) if opened not in pages]
        act = _KINDS[name](record, where)
        yield Asked(line, _words(name, record), act, None if isinstance(act, Leave) else pages.index(page))


def _opened(record: Mapping[str, Any], where: str) -> Iterator[str]:
    """Windows that the action opened."""
    for entry in a_list(record, "signals", where):
        signal = a_mapping(entry, where)
        if signal.get("name") == "popup":
            yield a_text(signal, "popupPageGuid", where)


def _target(record: Mapping[str, Any], where: str) -> Target:
    return Target((a_text(record, "selector", where),))


def _modifiers(record: Mapping[str, Any], where: str) -> tuple[Modifier, ...]:
    bits = int(a_number(record, "modifiers", where, 0))
    return tuple(name for bit, name in _BITS if bits & bit)


def _press(record: Mapping[str, Any], where: str) -> Act:
    button = a_text(record, "button", where, "left")
    count = int(a_number(record, "clickCount", where, 1))
    if button not in ("left", "middle", "right") or not 1 <= count <= 3:
        raise ConfigError(f"{where}: no click with the button {button!r:.40}, {count} times")
    spot = None
    if record.get("position"):
        position = a_mapping(record["position"], where)
        spot = (a_number(position, "x", where), a_number(position, "y", where))
    return Press(_target(record, where), button, count, _modifiers(record, where), spot)  # type: ignore[arg-type]


def _strike(record: Mapping[str, Any], where: str) -> Act:
    key = a_text(record, "key", where)
    chord = "+".join([*_modifiers(record, where), "Space" if key == " " else key])
    return Strike(chord, _target(record, where))


def _open_page(record: Mapping[str, Any], where: str) -> Act:
    url = a_text(record, "url", where, "")
    return Leave("an empty window") if url in ("", "about:blank", "chrome://newtab/") else Visit(url)


def _give(record: Mapping[str, Any], where: str) -> Act:
    files = a_list(record, "files", where)
    if not all(isinstance(file, str) for file in files):
        raise ConfigError(f"{where}: files must be names, not {files!r:.80}")
    return Give(_target(record, where), tuple(PurePosixPath(file.replace("\\", "/")).name for file in files))


def _choose(record: Mapping[str, Any], where: str) -> Act:
    options = a_list(record, "options", where)
    if not options or not all(isinstance(option, str) for option in options):
        raise ConfigError(f"{where}: options must be texts, not {options!r:.80}")
    return Choose(_target(record, where), tuple(options))


def _assertion(record: Mapping[str, Any], where: str) -> Act:
    return Leave("what must be so is the verifier's to say")


_KINDS: dict[str, Callable[[Mapping[str, Any], str], Act]] = {
    "openPage": _open_page,
    "closePage": lambda record, where: Leave("a window is closed with its episode"),
    "navigate": lambda record, where: Visit(a_text(record, "url", where)),
    "click": _press,
    "hover": lambda record, where: Hover(_target(record, where)),
    "check": lambda record, where: Tick(_target(record, where), True),
    "uncheck": lambda record, where: Tick(_target(record, where), False),
    "fill": lambda record, where: Fill(_target(record, where), a_text(record, "text", where)),
    "press": _strike,
    "select": _choose,
    "setInputFiles": _give,
    "assertText": _assertion,
    "assertValue": _assertion,
    "assertChecked": _assertion,
    "assertVisible": _assertion,
    "assertSnapshot": _assertion,
}


def _words(name: str, record: Mapping[str, Any]) -> str:
    """The action in a few words; not what was typed, which may be a password."""
    shown = record.get("url") or record.get("selector") or ""
    return brief(" ".join(part for part in (name, str(record.get("key", "")), str(shown)) if part))
