"""A US keyboard: which key makes which character, and the usual spellings of keys and chords."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace

from uigym.errors import ActionRefused

MODIFIERS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}
"""Modifier -> its bit in CDP's input events."""


@dataclass(frozen=True, slots=True)
class Stroke:
    """One key with what it types."""

    key: str
    """DOM's KeyboardEvent.key, such as "a", "A" or "Enter"."""
    code: str
    """DOM's KeyboardEvent.code: the place on the keyboard."""
    number: int
    """Windows virtual key code."""
    text: str = ""
    """What it types; empty if nothing."""
    shift: bool = False
    """Needs the Shift key."""


@dataclass(frozen=True, slots=True)
class Chord:
    """Modifiers to hold, and the key to press meanwhile (None: the modifiers alone)."""

    modifiers: tuple[str, ...]
    stroke: Stroke | None


_SHIFTED = dict(zip("1234567890-=[]\\;',./`", '!@#$%^&*()_+{}|:"<>?~', strict=True))
_PUNCTUATION = {
    ";": ("Semicolon", 186), "=": ("Equal", 187), ",": ("Comma", 188), "-": ("Minus", 189), ".": ("Period", 190), "/": ("Slash", 191),
    "`": ("Backquote", 192), "[": ("BracketLeft", 219), "\\": ("Backslash", 220), "]": ("BracketRight", 221), "'": ("Quote", 222),
}  # fmt: skip
_NAMED = {
    "Backspace": 8, "Tab": 9, "Enter": 13, "Pause": 19, "CapsLock": 20, "Escape": 27, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36,
    "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "PrintScreen": 44, "Insert": 45, "Delete": 46, "ContextMenu": 93,
    "NumLock": 144, "ScrollLock": 145,
}  # fmt: skip
_MODIFIER_KEYS = {
    "Shift": ("ShiftLeft", 16),
    "Control": ("ControlLeft", 17),
    "Alt": ("AltLeft", 18),
    "Meta": ("MetaLeft", 91),
}
_SPELLINGS = {
    "return": "Enter", "kp_enter": "Enter", "esc": "Escape", "del": "Delete", "ins": "Insert", "bksp": "Backspace", "back_space": "Backspace",
    "pgup": "PageUp", "page_up": "PageUp", "prior": "PageUp", "pgdn": "PageDown", "pgdown": "PageDown", "page_down": "PageDown",
    "next": "PageDown", "left": "ArrowLeft", "up": "ArrowUp", "right": "ArrowRight", "down": "ArrowDown", "spacebar": "Space", "menu": "ContextMenu",
    "caps_lock": "CapsLock", "ctrl": "Control", "ctl": "Control", "control_l": "Control", "control_r": "Control", "controlormeta": "Control",
    "cmd": "Control", "command": "Control",  # the page's system is not a Mac: its main modifier is Control
    "option": "Alt", "opt": "Alt", "alt_l": "Alt", "alt_r": "Alt", "shift_l": "Shift", "shift_r": "Shift", "super": "Meta", "super_l": "Meta",
    "win": "Meta", "windows": "Meta", "plus": "+", "minus": "-", "comma": ",", "period": ".", "slash": "/", "equal": "=",
}  # fmt: skip


def _keyboard() -> dict[str, Stroke]:
    keys = {" ": Stroke(" ", "Space", 32, " ")}
    for letter in "abcdefghijklmnopqrstuvwxyz":
        upper = letter.upper()
        keys[letter] = Stroke(letter, f"Key{upper}", ord(upper), letter)
        keys[upper] = replace(keys[letter], key=upper, text=upper, shift=True)
    for digit in "0123456789":
        keys[digit] = Stroke(digit, f"Digit{digit}", ord(digit), digit)
    for sign, (code, number) in _PUNCTUATION.items():
        keys[sign] = Stroke(sign, code, number, sign)
    for plain, shifted in _SHIFTED.items():
        keys[shifted] = replace(keys[plain], key=shifted, text=shifted, shift=True)
    return keys


CHARACTERS = _keyboard()
"""Character -> the stroke that types it. Anything else has no key here."""
NAMED = {
    **{name: Stroke(name, name, number, "\r" if name == "Enter" else "") for name, number in _NAMED.items()},
    **{f"F{n}": Stroke(f"F{n}", f"F{n}", 111 + n) for n in range(1, 13)},
    "Space": CHARACTERS[" "],
}
"""Name -> key, as DOM spells them."""
MODIFIER_STROKES = {name: Stroke(name, code, number) for name, (code, number) in _MODIFIER_KEYS.items()}

_BY_LOWER = {name.lower(): name for name in (*NAMED, *MODIFIERS)} | _SPELLINGS


def parse_chord(chord: str) -> Chord:
    """Read a key or chord in one of its usual spellings: "Enter", "ctrl+a", "Control+Shift+ArrowLeft", "+".

    Raises:
        ActionRefused: A part of it is no key, or a plain key comes before the last place.
    """
    if not isinstance(chord, str) or not chord:
        raise ActionRefused(f'a chord is a text such as "Enter" or "Control+A", not {chord!r}')
    *held, last = _parts(chord)
    modifiers = [_name(part, chord) for part in held]
    for part, name in zip(held, modifiers, strict=True):
        if name not in MODIFIERS:
            raise ActionRefused(
                f'"{part}" in "{chord}" is no modifier; only the last key of a chord may be a plain one'
            )
    name = _name(last, chord)
    if name in MODIFIERS:
        return Chord(tuple(dict.fromkeys((*modifiers, name))), None)
    return _with_shift(tuple(dict.fromkeys(modifiers)), NAMED.get(name) or CHARACTERS[name])


def _with_shift(modifiers: tuple[str, ...], stroke: Stroke) -> Chord:
    """Letter case says Shift where a letter stands alone, and nothing where a modifier is held ("Control+A")."""
    if stroke.key.isalpha() and len(stroke.key) == 1:
        if "Shift" in modifiers:
            return Chord(modifiers, CHARACTERS[stroke.key.upper()])
        if modifiers:
            return Chord(modifiers, CHARACTERS[stroke.key.lower()])
    if "Shift" in modifiers and not stroke.shift and stroke.key in _SHIFTED:
        return Chord(modifiers, CHARACTERS[_SHIFTED[stroke.key]])
    if stroke.shift and "Shift" not in modifiers:
        return Chord((*modifiers, "Shift"), stroke)
    return Chord(modifiers, stroke)


def _parts(chord: str) -> list[str]:
    """Split at "+", which is itself a key at the end: "Control++"."""
    if chord == "+":
        return ["+"]
    if chord.endswith("++"):
        return [*(part.strip() for part in chord[:-2].split("+")), "+"]
    return [part if part == " " else part.strip() for part in chord.split("+")]


def _name(part: str, chord: str) -> str:
    if part in CHARACTERS:
        return part
    name = _BY_LOWER.get(part.lower())
    if name is None:
        near = difflib.get_close_matches(part.lower(), _BY_LOWER, n=3)
        hint = f"; did you mean {', '.join(dict.fromkeys(_BY_LOWER[key] for key in near))}?" if near else ""
        raise ActionRefused(f'"{part}" in the chord "{chord}" is no key{hint}')
    return name
