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
    location: int = 0
    """DOM's KeyboardEvent.location: 1 for a left modifier, 3 for the number pad."""


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
    "Backspace": 8, "Tab": 9, "Clear": 12, "Enter": 13, "Pause": 19, "CapsLock": 20, "Escape": 27, "PageUp": 33, "PageDown": 34, "End": 35,
    "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "PrintScreen": 44, "Insert": 45, "Delete": 46, "ContextMenu": 93,
    "NumLock": 144, "ScrollLock": 145,
}  # fmt: skip
# Keys that many keyboards have beside the usual ones. The page gets their events; nothing else comes of them.
_RARE = {
    "KanaMode": 21, "JunjaMode": 23, "FinalMode": 24, "HanjaMode": 25, "Convert": 28, "NonConvert": 29, "Accept": 30, "ModeChange": 31,
    "Select": 41, "Print": 42, "Execute": 43, "Help": 47, "Standby": 95, "BrowserBack": 166, "BrowserForward": 167, "BrowserRefresh": 168,
    "BrowserStop": 169, "BrowserSearch": 170, "BrowserFavorites": 171, "BrowserHome": 172, "AudioVolumeMute": 173, "AudioVolumeDown": 174,
    "AudioVolumeUp": 175, "MediaTrackNext": 176, "MediaTrackPrevious": 177, "MediaStop": 178, "MediaPlayPause": 179, "LaunchMail": 180,
    "LaunchMediaPlayer": 181, "LaunchApplication1": 182, "LaunchApplication2": 183,
}  # fmt: skip
_NUMPAD = {
    "NumpadMultiply": ("*", 106), "NumpadAdd": ("+", 107), "NumpadSubtract": ("-", 109), "NumpadDecimal": (".", 110), "NumpadDivide": ("/", 111),
    "NumpadEqual": ("=", 187), "NumpadComma": (",", 194), **{f"Numpad{digit}": (str(digit), 96 + digit) for digit in range(10)},
}  # fmt: skip
_MODIFIER_KEYS = {
    "Shift": ("ShiftLeft", 16),
    "Control": ("ControlLeft", 17),
    "Alt": ("AltLeft", 18),
    "Meta": ("MetaLeft", 91),
}
_SPELLINGS = {
    "Enter": "return linefeed", "NumpadEnter": "kpenter numenter", "Escape": "esc", "Backspace": "bksp", "Delete": "del kpdelete",
    "Insert": "ins kpinsert", "Tab": "kptab", "Space": "spacebar kpspace", "ContextMenu": "menu apps application",
    "PageUp": "pgup prior kppageup kpprior", "PageDown": "pgdn pgdown next kppagedown kpnext", "Home": "kphome", "End": "kpend",
    "Clear": "begin kpbegin", "ArrowLeft": "left kpleft", "ArrowUp": "up kpup", "ArrowRight": "right kpright", "ArrowDown": "down kpdown",
    "PrintScreen": "prntscrn prtsc prtscr printscrn snapshot sysreq", "Pause": "break cancel",
    "Control": "ctrl ctl controll controlr ctrlleft ctrlright controlleft controlright controlormeta cmd command commandorcontrol",
    "Alt": "option opt altl altr altleft altright altgr altgraph isolevel3shift optionleft optionright",
    "Shift": "shiftl shiftr shiftleft shiftright",
    "Meta": "super superl superr win windows winleft winright metal metar metaleft metaright os",
    "KanaMode": "kana kanji hangul hanguel", "HanjaMode": "hanja", "JunjaMode": "junja", "FinalMode": "final", "Standby": "sleep",
    "BrowserBack": "xf86back", "BrowserForward": "xf86forward", "BrowserRefresh": "xf86reload xf86refresh", "BrowserStop": "xf86stop",
    "BrowserSearch": "xf86search", "BrowserFavorites": "xf86favorites", "BrowserHome": "xf86homepage",
    "AudioVolumeMute": "volumemute xf86audiomute", "AudioVolumeDown": "volumedown xf86audiolowervolume",
    "AudioVolumeUp": "volumeup xf86audioraisevolume", "MediaTrackNext": "nexttrack xf86audionext", "MediaTrackPrevious": "prevtrack xf86audioprev",
    "MediaStop": "stop xf86audiostop", "MediaPlayPause": "playpause xf86audioplay xf86audiopause", "LaunchMail": "xf86mail",
    "LaunchMediaPlayer": "launchmediaselect", "LaunchApplication1": "launchapp1", "LaunchApplication2": "launchapp2 xf86calculator",
    "NumpadMultiply": "multiply kpmultiply", "NumpadAdd": "add kpadd", "NumpadSubtract": "subtract kpsubtract",
    "NumpadDecimal": "decimal kpdecimal", "NumpadDivide": "divide kpdivide", "NumpadEqual": "kpequal", "NumpadComma": "separator kpseparator",
    **{f"Numpad{digit}": f"num{digit} kp{digit}" for digit in range(10)},
    "+": "plus", "-": "minus hyphen dash", "=": "equal equals", ",": "comma", ".": "period dot", "/": "slash", "\\": "backslash",
    "`": "grave backtick backquote quoteleft", "~": "asciitilde tilde", "[": "bracketleft leftbracket", "]": "bracketright rightbracket",
    "{": "braceleft", "}": "braceright", ";": "semicolon", ":": "colon", "'": "apostrophe quote quoteright singlequote",
    '"': "quotedbl doublequote", "<": "less", ">": "greater", "?": "question", "!": "exclam", "@": "at", "#": "numbersign", "$": "dollar",
    "%": "percent", "^": "asciicircum caret", "&": "ampersand", "*": "asterisk", "(": "parenleft", ")": "parenright", "_": "underscore", "|": "bar pipe",
}  # fmt: skip
"""Key -> how xdotool, pyautogui and the model families spell it beside its own name, in lower case, without "_" and "-".

"cmd" is Control: the page's system is not a Mac, and Control is its main modifier.
"""


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
    **{name: Stroke(name, name, number) for name, number in _RARE.items()},
    **{f"F{n}": Stroke(f"F{n}", f"F{n}", 111 + n) for n in range(1, 25)},
    **{name: Stroke(sign, name, number, sign, location=3) for name, (sign, number) in _NUMPAD.items()},
    "NumpadEnter": Stroke("Enter", "NumpadEnter", 13, "\r", location=3),
    "Space": CHARACTERS[" "],
}
"""Name -> key, as DOM spells them."""
MODIFIER_STROKES = {name: Stroke(name, code, number, location=1) for name, (code, number) in _MODIFIER_KEYS.items()}

_BY_LOWER = (
    {name.lower(): name for name in (*NAMED, *MODIFIERS)}
    | {spelling: name for name, spellings in _SPELLINGS.items() for spelling in spellings.split()}
    | {"\n": "Enter", "\r": "Enter", "\t": "Tab"}
)


def parse_chord(chord: str) -> Chord:
    """Read a key or chord in one of its usual spellings: "Enter", "ctrl+a", "Control+Shift+ArrowLeft", "KP_1", "+".

    Raises:
        ActionRefused: A part of it is no key, or a plain key comes before the last place.
    """
    if not isinstance(chord, str) or not chord:
        raise ActionRefused(f'a chord is a text such as "Enter" or "Control+A", not {chord!r}')
    if _plain(chord) == "isolefttab":  # what an X keyboard calls Tab with Shift
        chord = "Shift+Tab"
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
    if "Shift" in modifiers and not stroke.shift and stroke.key in _SHIFTED and not stroke.location:
        return Chord(modifiers, CHARACTERS[_SHIFTED[stroke.key]])
    if stroke.shift and "Shift" not in modifiers:
        return Chord((*modifiers, "Shift"), stroke)
    return Chord(modifiers, stroke)


def _parts(chord: str) -> list[str]:
    """Split at "+", which is itself a key at the end ("Control++"), or at "-" as in "Ctrl-C"."""
    if chord == "+":
        return ["+"]
    if chord.endswith("++"):
        return [*(part.strip() for part in chord[:-2].split("+")), "+"]
    if "+" not in chord and "-" in chord[1:-1] and _plain(chord) not in _BY_LOWER:
        return chord.split("-")
    return [part.strip() or part for part in chord.split("+")]


def _plain(spelling: str) -> str:
    return spelling.lower().translate({ord(sign): None for sign in "_- "})


def _name(part: str, chord: str) -> str:
    if part in CHARACTERS:
        return part
    name = _BY_LOWER.get(_plain(part))
    if name is None:
        raise ActionRefused(f'"{part}" in the chord "{chord}" is no key{_hint(part)}')
    return name


def _hint(part: str) -> str:
    if len(part) == 1:
        return " of this keyboard; a type action can type it"
    near = difflib.get_close_matches(_plain(part), _BY_LOWER, n=3)
    return f"; did you mean {', '.join(dict.fromkeys(_BY_LOWER[key] for key in near))}?" if near else ""
