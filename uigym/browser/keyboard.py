"""The keyboard of one session: key by key, and what has no key as from an input method."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from itertools import groupby

from uigym.browser.keys import CHARACTERS, MODIFIER_STROKES, MODIFIERS, NAMED, Chord, Stroke, parse_chord
from uigym.browser.tab import Command, Tab

_REPEAT_DELAY_S, _REPEAT_S = 0.5, 0.033  # what a keyboard does while a key is held


async def type_text(text: str, tab: Tab, delay_s: float) -> None:
    """Type a text, with a pause after each character."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not delay_s:
        await tab.send(list(_commands(text)))
        return
    for character in text:
        await tab.send(list(_commands(character)))
        await asyncio.sleep(delay_s)


async def press_chord(spelling: str, tab: Tab, seconds: float) -> None:
    """Press a chord, hold it for some seconds, and release it."""
    chord = parse_chord(spelling)
    bits = modifier_bits(chord.modifiers)
    events = [*modifiers_down(chord.modifiers), *([_key(chord.stroke, bits)] if chord.stroke else [])]
    if not seconds:
        await tab.send([*events, *_up(chord)])
        return
    await tab.send(events)
    try:
        await (_repeat(tab, chord.stroke, bits, seconds) if chord.stroke else asyncio.sleep(seconds))
    finally:
        await tab.send(list(_up(chord)))


async def release_chord(spelling: str, tab: Tab) -> None:
    """Release the keys of a chord, whether they are down or not."""
    await tab.send(list(_up(parse_chord(spelling))))


def half_press(chord: Chord, *, up: bool = False, repeat: bool = False) -> Command:
    """A chord's last key pressed or released, while its modifiers are down already."""
    bits = modifier_bits(chord.modifiers)
    if chord.stroke is None:
        name = chord.modifiers[-1]
        return _key(MODIFIER_STROKES[name], bits & ~MODIFIERS[name] if up else bits, up)
    return _key(chord.stroke, bits, up, repeat)


def modifier_bits(modifiers: Iterable[str]) -> int:
    """The modifiers as CDP's input events carry them."""
    return sum(MODIFIERS[name] for name in set(modifiers))


def modifiers_down(modifiers: Iterable[str]) -> Iterator[Command]:
    """Each modifier pressed in turn."""
    held: list[str] = []
    for name in dict.fromkeys(modifiers):
        held.append(name)
        yield _key(MODIFIER_STROKES[name], modifier_bits(held))


def modifiers_up(modifiers: Iterable[str]) -> Iterator[Command]:
    """Each modifier released, the last one first."""
    held = list(dict.fromkeys(modifiers))
    while held:
        name = held.pop()
        yield _key(MODIFIER_STROKES[name], modifier_bits(held), up=True)


def _up(chord: Chord) -> Iterator[Command]:
    if chord.stroke:
        yield _key(chord.stroke, modifier_bits(chord.modifiers), up=True)
    yield from modifiers_up(chord.modifiers)


def _commands(text: str) -> Iterator[Command]:
    for has_key, run in groupby(text, lambda character: character in CHARACTERS or character in "\n\t"):
        if has_key:
            yield from _typing(run)
        else:
            yield "Input.insertText", {"text": "".join(run)}


def _typing(characters: Iterable[str]) -> Iterator[Command]:
    """Real key events, with Shift held over each run of characters that needs it."""
    strokes = (NAMED["Enter"] if c == "\n" else NAMED["Tab"] if c == "\t" else CHARACTERS[c] for c in characters)
    for shift, run in groupby(strokes, lambda stroke: stroke.shift):
        modifiers = ("Shift",) if shift else ()
        bits = modifier_bits(modifiers)
        yield from modifiers_down(modifiers)
        for stroke in run:
            yield _key(stroke, bits)
            yield _key(stroke, bits, up=True)
        yield from modifiers_up(modifiers)


async def _repeat(tab: Tab, stroke: Stroke, bits: int, seconds: float) -> None:
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    await asyncio.sleep(min(seconds, _REPEAT_DELAY_S))
    while loop.time() < end:
        await tab.send([_key(stroke, bits, repeat=True)])
        await asyncio.sleep(_REPEAT_S)


def _key(stroke: Stroke, modifiers: int, up: bool = False, repeat: bool = False) -> Command:
    text = stroke.text if not modifiers & ~MODIFIERS["Shift"] else ""
    parameters = {
        "type": "keyUp" if up else "keyDown" if text else "rawKeyDown",
        "modifiers": modifiers,
        "key": stroke.key,
        "code": stroke.code,
        "windowsVirtualKeyCode": stroke.number,
        "location": stroke.location,
        "isKeypad": stroke.location == 3,
        "autoRepeat": repeat,
    }
    if text and not up:
        parameters |= {"text": text, "unmodifiedText": text}
    return "Input.dispatchKeyEvent", parameters
