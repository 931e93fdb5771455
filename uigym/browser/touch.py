"""A person's hand at a session: parts of actions go in as they come, and pictures are taken when they are asked for.

A policy's action is one piece with a settled picture after it. What a hand does comes in parts (a button goes down,
the pointer moves, the button comes up), and a page may answer each of them. The parts go the way of whole actions,
through native lists, dialogs, choosers and the clipboard; only nothing waits for what they cause.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, TypeAlias

from playwright.async_api import Error

from uigym.browser.frame import Frame
from uigym.browser.input import Input, check
from uigym.browser.keyboard import half_press, modifier_bits
from uigym.browser.keys import parse_chord
from uigym.browser.session import Session
from uigym.browser.settle import LIMIT_S
from uigym.browser.tab import Tab
from uigym.browser.wire import WireError
from uigym.types import Action, Dialog, Event, Key, Modifier, MouseDown, MouseUp

PART_S = 10.0
"""How long a page may take over one part; then it hangs."""
_SECRET = """(() => {
  let el = document.activeElement;
  while (el?.shadowRoot?.activeElement) el = el.shadowRoot.activeElement;
  if (el instanceof HTMLIFrameElement) return 'inside';
  if (!(el instanceof HTMLInputElement)) return null;
  const ever = globalThis.uigymSecrets ??= new WeakSet();
  if (el.type === 'password' || /(^|\\s)(current|new)-password($|\\s)/.test(el.autocomplete)) ever.add(el);
  return ever.has(el) ? {value: el.value} : null;
})()"""
"""What the field with the focus holds, if it is a password's: also one that shows its text now and did not before."""


@dataclass(frozen=True, slots=True)
class Press(MouseDown):
    """A button goes down, for the `count`-th time at this place."""

    count: int = 1
    modifiers: tuple[Modifier, ...] = ()


@dataclass(frozen=True, slots=True)
class Release(MouseUp):
    """A button comes up."""

    count: int = 1
    modifiers: tuple[Modifier, ...] = ()


@dataclass(frozen=True, slots=True)
class KeyDown(Key):
    """The last key of a chord goes down; its modifiers are down already."""

    repeat: bool = False


@dataclass(frozen=True, slots=True)
class KeyUp:
    """The last key of a chord comes up."""

    chord: str


@dataclass(frozen=True, slots=True)
class Compose:
    """What an input method shows before the person has chosen; empty takes it back."""

    text: str


@dataclass(frozen=True, slots=True)
class Insert:
    """What an input method gives in the end, in place of what it showed."""

    text: str


Part: TypeAlias = Action | KeyUp | Compose | Insert
_RELEASES = (Release, KeyUp)


class Fingers(Input):
    """The mouse and keyboard of a session that a hand uses."""

    async def perform(self, action: Any, tab: Tab) -> None:
        """Do a part, or a whole action as always."""
        match action:
            case Press(count=count, modifiers=modifiers):
                await self.mouse.press(action, tab, count, modifier_bits(modifiers))
            case Release(count=count, modifiers=modifiers):
                await self.mouse.release(action, tab, count, modifier_bits(modifiers))
            case KeyDown(chord=chord, repeat=repeat):
                await tab.send([half_press(parse_chord(chord), repeat=repeat)])
            case KeyUp(chord=chord):
                await tab.send([half_press(parse_chord(chord), up=True)])
            case Compose(text=text):
                place = {"selectionStart": len(text), "selectionEnd": len(text)}
                await tab.send([("Input.imeSetComposition", {"text": text, **place})])
            case Insert(text=text):
                await tab.send([("Input.insertText", {"text": text})])
            case _:
                await super().perform(action, tab)


class Hand:
    """A person's hand at one session. Its calls must not overlap."""

    def __init__(self, session: Session):
        self.session = session
        self._events: tuple[Event, ...] = ()  # told while no picture was taken
        self._owed: list[Part] = []  # releases that an open dialog has kept from the page
        fingers = Fingers(session._input.typing_delay_s)
        fingers.mouse = session._input.mouse
        session._input = fingers

    @property
    def stopped(self) -> bool:
        """Whether the page stands still at a dialog."""
        return self.session._beside.dialogs.open is not None

    @property
    def clipboard(self) -> str:
        """The text that was copied last in the session."""
        return self.session._beside.clipboard.content.get("text/plain", "")

    async def touch(self, part: Part) -> None:
        """Do a part of an action; returns when the page has handled its events, or stands still at a dialog.

        Raises:
            ActionRefused: It cannot be done now; nothing was sent to the page.
            ProductError, BrowserError: As with `Session.step`.
        """
        session = self.session
        if isinstance(part, _RELEASES) and self.stopped:
            self._owed.append(part)
            return
        checked: Any = part
        check(checked, session.viewport, session._grants)
        if not isinstance(part, _RELEASES):
            session._check(checked)
        limit_s = PART_S + session._input.duration_s(checked)
        async with session._deadline(limit_s, f"a part of an action ({type(part).__name__.lower()})"):
            frame = await session._until_stopped(self._do(checked))
        self._events += frame.events

    async def step(self, action: Action) -> Frame:
        """Do a whole action, such as the answer to a dialog, and see what came of it.

        Raises:
            ActionRefused, ProductError, BrowserError: As with `Session.step`.
        """
        frame = await self.session.step(action)
        if not isinstance(action, Dialog) or self.stopped:
            return self._with_events(frame)
        self._events += frame.events
        owed, self._owed = self._owed, []
        for part in owed:
            await self.touch(part)
        return await self.look()  # the frame is that of a part, which has no picture of its own

    async def rest(self) -> None:
        """Wait until the page has settled, or stands still at a dialog; who cancels this leaves the page as it was."""
        session, tab = self.session, self.session.tab
        if self.stopped:
            return
        settling = asyncio.ensure_future(tab.settler.settle(LIMIT_S))
        try:
            async with tab.camera.watched():
                waiting: set[asyncio.Future[Any]] = {settling, session._beside.stopped}
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        except (Error, WireError):
            return  # whoever looks next is told
        finally:
            settling.cancel()
            settling.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def look(self) -> Frame:
        """A picture of the settled page, with what was told since the last one.

        Raises:
            ProductError, BrowserError: As with `Session.step`.
        """
        await self.session._catch_up()
        return self._with_events(await self.session.look())

    async def secret(self) -> str | None:
        """What the password field that has the focus holds; None where none has it."""
        if self.stopped:
            return None
        settler = self.session.tab.settler
        said = await settler.run(_SECRET, main=True)
        if "inside" in said:
            said = await settler.run(_SECRET)
        return next((one["value"] for one in said if isinstance(one, dict)), None)

    async def _do(self, part: Any) -> Frame:
        session, tab = self.session, self.session.tab
        try:
            async with tab.camera.watched():
                await session._perform(part, tab)
        except (Error, WireError):
            if not await session._tabs.outlives(tab):
                raise
        return Frame(session._png, True)

    def _with_events(self, frame: Frame) -> Frame:
        told, self._events = self._events, ()
        return Frame(frame.png, frame.settled, told + frame.events, frame.spent, frame.open) if told else frame


class Screencast:
    """What a session shows, as it changes: Chromium's own stream, running only while somebody asks for it."""

    def __init__(self, session: Session):
        self._session = session
        self._tab: Tab | None = None  # that is streamed
        self._heard: set[str] = set()
        self._jpeg = ""
        self._changed = asyncio.Event()
        self._asked_at = 0.0
        self.number = 0
        """Of the newest picture."""

    @property
    def running(self) -> bool:
        """Whether Chromium streams."""
        return self._tab is not None

    async def next(self, after: int, patience_s: float) -> str | None:
        """The newest picture, JPEG in base64, once there is one after number `after`; None if none comes."""
        await self._follow()
        if self.number <= after:
            try:
                await asyncio.wait_for(self._changed.wait(), patience_s)
            except TimeoutError:
                return None
        return self._jpeg

    async def stop_unasked(self, idle_s: float) -> None:
        """End the stream if nobody has asked for it so long."""
        if self._tab is not None and asyncio.get_running_loop().time() - self._asked_at > idle_s:
            tab, self._tab = self._tab, None
            tab.channel.tell("Page.stopScreencast")

    async def _follow(self) -> None:
        self._asked_at = asyncio.get_running_loop().time()
        shown = self._session.tab
        if shown is self._tab:
            return
        if self._tab is not None:
            self._tab.channel.tell("Page.stopScreencast")
        self._tab = shown
        if shown.target not in self._heard:
            self._heard.add(shown.target)
            shown.channel.on("Page.screencastFrame", lambda event: self._take(shown, event))
        shown.channel.tell("Page.startScreencast", {"format": "jpeg", "quality": 80})

    def _take(self, tab: Tab, event: dict[str, Any]) -> None:
        tab.channel.tell("Page.screencastFrameAck", {"sessionId": event["sessionId"]})
        if tab is self._tab:
            self._jpeg = event["data"]
            self.number += 1
            self._changed.set()
            self._changed = asyncio.Event()
