"""A US keyboard's keys by their usual spellings, and what can be typed on it."""

from __future__ import annotations

import difflib

from uigym.errors import ActionRefused

MODIFIERS = ("Alt", "Control", "Meta", "Shift")
PLAIN = "abcdefghijklmnopqrstuvwxyz0123456789`-=[]\\;',./ "
"""Characters that a key types alone."""
SHIFTED = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ)!@#$%^&*(~_+{}|:"<>?'
"""Characters that need the Shift key, in the order of PLAIN."""
_NAMED = (
    "Backspace", "Tab", "Enter", "Pause", "CapsLock", "Escape", "PageUp", "PageDown", "End", "Home", "ArrowLeft", "ArrowUp", "ArrowRight",
    "ArrowDown", "PrintScreen", "Insert", "Delete", "ContextMenu", "NumLock", "ScrollLock", "Space", *(f"F{n}" for n in range(1, 13)),
)  # fmt: skip
_SPELLINGS = {
    "return": "Enter", "kp_enter": "Enter", "esc": "Escape", "del": "Delete", "ins": "Insert", "bksp": "Backspace", "back_space": "Backspace",
    "pgup": "PageUp", "page_up": "PageUp", "prior": "PageUp", "pgdn": "PageDown", "pgdown": "PageDown", "page_down": "PageDown",
    "next": "PageDown", "left": "ArrowLeft", "up": "ArrowUp", "right": "ArrowRight", "down": "ArrowDown", "spacebar": "Space", "menu": "ContextMenu",
    "caps_lock": "CapsLock", "ctrl": "Control", "ctl": "Control", "control_l": "Control", "control_r": "Control", "controlormeta": "Control",
    "cmd": "Control", "command": "Control",  # the page's system is not a Mac: its main modifier is Control
    "option": "Alt", "opt": "Alt", "alt_l": "Alt", "alt_r": "Alt", "shift_l": "Shift", "shift_r": "Shift", "super": "Meta", "super_l": "Meta",
    "win": "Meta", "windows": "Meta", "plus": "+", "minus": "-", "comma": ",", "period": ".", "slash": "/", "equal": "=",
}  # fmt: skip
_BY_LOWER = {name.lower(): name for name in (*_NAMED, *MODIFIERS)} | _SPELLINGS


def parse_chord(chord: str) -> tuple[str, ...]:
    """The keys of a chord in the order of pressing, as DOM names them, from any of its usual spellings.

    A letter's case says Shift where it stands alone, and nothing where a modifier is held.

    Example:
        >>> parse_chord("ctrl+A"), parse_chord("Page_Down"), parse_chord("shift+1"), parse_chord("A")
        (('Control', 'a'), ('PageDown',), ('Shift', '!'), ('Shift', 'A'))

    Raises:
        ActionRefused: A part of it is no key, or a plain key comes before the last place.
    """
    if not isinstance(chord, str) or not chord:
        raise ActionRefused(f'a chord is a text such as "Enter" or "Control+A", not {chord!r}')
    *held, last = _parts(chord)
    modifiers = tuple(dict.fromkeys(_name(part, chord) for part in held))
    for part in held:
        if _name(part, chord) not in MODIFIERS:
            raise ActionRefused(
                f'"{part}" in "{chord}" is no modifier; only the last key of a chord may be a plain one'
            )
    key = _name(last, chord)
    if key in MODIFIERS:
        return tuple(dict.fromkeys((*modifiers, key)))
    return _with_shift(modifiers, key)


def _with_shift(modifiers: tuple[str, ...], key: str) -> tuple[str, ...]:
    if key.isalpha() and len(key) == 1 and modifiers:
        return (*modifiers, key.upper() if "Shift" in modifiers else key.lower())
    if "Shift" in modifiers and key in PLAIN[:-1]:
        return (*modifiers, SHIFTED[PLAIN.index(key)])
    if key in SHIFTED and "Shift" not in modifiers:
        return (*modifiers, "Shift", key)
    return (*modifiers, key)


def _parts(chord: str) -> list[str]:
    """Split at "+", which is itself a key at the end: "Control++"."""
    if chord == "+":
        return ["+"]
    if chord.endswith("++"):
        return [*(part.strip() for part in chord[:-2].split("+")), "+"]
    return [part if part == " " else part.strip() for part in chord.split("+")]


def _name(part: str, chord: str) -> str:
    if len(part) == 1 and part in PLAIN + SHIFTED:
        return "Space" if part == " " else part
    name = _BY_LOWER.get(part.lower())
    if name is None:
        near = difflib.get_close_matches(part.lower(), _BY_LOWER, n=3)
        hint = f"; did you mean {', '.join(dict.fromkeys(_BY_LOWER[key] for key in near))}?" if near else ""
        raise ActionRefused(f'"{part}" in the chord "{chord}" is no key{hint}')
    return name
