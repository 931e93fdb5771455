"""What a browser's own window does: keys that it acts on where the page leaves them to it."""

from __future__ import annotations

from typing import Literal

from uigym.browser.keys import parse_chord

_SHORTCUTS: dict[tuple[str, ...], Literal["reload", "back", "forward"]] = {
    ("F5",): "reload",
    ("Control", "F5"): "reload",
    ("Shift", "F5"): "reload",
    ("Control", "r"): "reload",
    ("Control", "Shift", "R"): "reload",
    ("BrowserRefresh",): "reload",
    ("Alt", "ArrowLeft"): "back",
    ("BrowserBack",): "back",
    ("Alt", "ArrowRight"): "forward",
    ("BrowserForward",): "forward",
}
"""Modifiers and key; every other shortcut of a browser (a tab, the address bar, printing) is the page's alone."""


def shortcut(chord: str) -> Literal["reload", "back", "forward", ""]:
    """What a browser does on a chord, unless the page prevents it; empty for nothing.

    Example:
        >>> shortcut("ctrl+r"), shortcut("ctrl+t")
        ('reload', '')
    """
    parsed = parse_chord(chord)
    key = parsed.stroke.key if parsed.stroke else ""
    return _SHORTCUTS.get((*sorted(parsed.modifiers), key), "")
