"""How families spell keys: uigym's "Control+ArrowLeft" is "ctrl+Left" to one and ["ctrl", "left"] to another."""

from __future__ import annotations

from collections.abc import Mapping

PYAUTOGUI: Mapping[str, str] = {
    "Control": "ctrl", "Meta": "win", "ArrowLeft": "left", "ArrowRight": "right", "ArrowUp": "up", "ArrowDown": "down", " ": "space",
    "ContextMenu": "apps",
}  # fmt: skip
"""As pyautogui says it; the others in lower case."""
XDOTOOL: Mapping[str, str] = {
    "Control": "ctrl", "Alt": "alt", "Shift": "shift", "Meta": "super", "ArrowLeft": "Left", "ArrowRight": "Right", "ArrowUp": "Up",
    "ArrowDown": "Down", "Enter": "Return", "Backspace": "BackSpace", "PageUp": "Page_Up", "PageDown": "Page_Down", " ": "space",
    "ContextMenu": "Menu", "+": "plus",
}  # fmt: skip
"""As X says it; the others as they are."""


def keys(chord: str) -> list[str]:
    """The keys of a chord, each by its own name.

    Example:
        >>> keys("Control+Shift+ArrowLeft"), keys("Control++"), keys("+")
        (['Control', 'Shift', 'ArrowLeft'], ['Control', '+'], ['+'])
    """
    if chord == "+":
        return ["+"]
    return [*chord[:-2].split("+"), "+"] if chord.endswith("++") else chord.split("+")


def lower(chord: str, names: Mapping[str, str] = PYAUTOGUI) -> list[str]:
    """The keys of a chord in lower case, but for a capital letter that stands alone.

    Example:
        >>> lower("Control+A"), lower("A"), lower("PageUp")
        (['ctrl', 'a'], ['A'], ['pageup'])
    """
    parts = keys(chord)
    return [names.get(part, part if len(part) == 1 and len(parts) == 1 else part.lower()) for part in parts]


def xdotool(chord: str) -> str:
    """A chord as xdotool takes it.

    Example:
        >>> xdotool("Control+A"), xdotool("PageUp")
        ('ctrl+a', 'Page_Up')
    """
    parts = keys(chord)
    plain = [part.lower() if len(part) == 1 and len(parts) > 1 else part for part in parts]
    return "+".join(XDOTOOL.get(part, part) for part in plain)
