"""A person's attempt at a task: events go into the page as they come, and settled pictures are kept beside them.

Whenever something new is begun, the page is given the time to settle first and its picture is taken: what is recorded
is what a policy would have seen at that place. What goes on with an act (the next letter, a drag's next point, the
second press of a double click) goes in at once.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from uigym.browser.frame import Frame
from uigym.browser.touch import Compose, Hand, Insert, KeyDown, KeyUp, Part, Press, Release, Screencast
from uigym.env import Env
from uigym.errors import ActionRefused, UIGymError
from uigym.record.events import Raw
from uigym.record.reduce import Act, Reducer, answer, chord
from uigym.types import Event, Move, Open, Scroll, Type, Wait

GLANCE_S = 0.5
"""How often a page at which nobody does anything is looked at."""
IDLE_S = 3.0
"""Who has not asked for a picture for so long does not look."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A settled picture among the events."""

    index: int
    """How many events came before it."""
    image: str
    """sha256 of the PNG, hex."""
    settled: bool
    events: tuple[Event, ...]
    """What was told since the mark before."""
    open: Open
    at: float
    """Seconds since the attempt began."""
    late: bool = False
    """The page has changed by itself since the mark before."""


class Live:
    """One attempt, from the first picture to the last. `env` must have been reset; `run` does the work."""

    def __init__(self, env: Env, png: bytes, tell: Callable[[], None] = lambda: None):
        """
        Args:
            env: With a running episode of which no step was taken.
            png: Its first picture.
            tell: Called whenever something has changed that the page shows.
        """
        self.env = env
        self.hand = Hand(env.session)
        self.cast = Screencast(env.session)
        self.reducer = Reducer()
        self.marks: list[Mark] = []
        self.images: dict[str, bytes] = {}
        self.secrets: set[str] = set()
        """What password fields held."""
        self._growing = ""
        self.note = ""
        """What the person should read: why something was refused, what the page said."""
        self.closed = False
        self.over = False
        """The page has ended the episode."""
        self.failure: UIGymError | None = None
        self._tell = tell
        self._began = time.monotonic()
        self._queue: deque[Raw] = deque()
        self._come = asyncio.Event()
        self._idle = asyncio.Event()
        self._stale = False  # something was done since the last mark
        self._drawn = 0  # number of the stream's picture at the last mark
        self._mark(Frame(png, True))

    @property
    def now(self) -> float:
        """Seconds since the attempt began."""
        return time.monotonic() - self._began

    @property
    def open(self) -> Open:
        """What is open beside the page."""
        return self.marks[-1].open

    @property
    def png(self) -> bytes:
        """The last settled picture."""
        return self.images[self.marks[-1].image]

    @property
    def looks_still(self) -> bool:
        """Whether the stream lacks what the settled picture has: a native list, or a page that stands still."""
        return self.closed or self.hand.stopped or bool(self.hand.session.picker)

    def put(self, raws: Sequence[Raw]) -> None:
        """Take events; they are done in their order, one after another."""
        for raw in raws:
            if raw.kind == "move" and self._queue and self._queue[-1].kind == "move" and not self.reducer.busy:
                self._queue.pop()
            self._queue.append(raw)
        self._idle.clear()
        self._come.set()

    async def idle(self) -> None:
        """Returns when all that has come so far is done, and the page has settled."""
        self._idle.clear()
        self._come.set()
        if self.failure is None:
            await self._idle.wait()

    async def run(self) -> None:
        """Do what comes, until this is cancelled or the machinery fails; then `failure` says why."""
        try:
            while True:
                await self._turn()
        except UIGymError as error:
            self.failure = error
            self._idle.set()
            self._tell()

    async def replay(self, raws: Sequence[Raw], acts: Sequence[Act]) -> None:
        """Do the events of an earlier attempt again, and wait where it had to wait.

        Args:
            raws: The events.
            acts: What they came to.

        Raises:
            ProductError, BrowserError: The machinery failed.
        """
        waits = {act.begin: act.action.seconds for act in acts if act.idle and isinstance(act.action, Wait)}
        for number, raw in enumerate(raws):
            if number in waits:
                await asyncio.sleep(waits[number])
                await self._see()
                self.reducer.changed_late(raw.at)
            await self._take(raw)
        await self._see()
        self._began = time.monotonic() - (raws[-1].at if raws else 0.0)

    # --- the loop ------------------------------------------------------------------------------------------

    async def _turn(self) -> None:
        if self._queue:
            await self._take(self._queue.popleft())
            return
        if self._stale and not await self._rested():
            return
        if self._stale:
            await self._see()
        self._come.clear()
        if self._queue:
            return
        self._idle.set()
        try:
            await asyncio.wait_for(self._come.wait(), GLANCE_S)
        except TimeoutError:
            await self._glance()

    async def _rested(self) -> bool:
        """Wait until the page has settled; False as soon as there is something to do."""
        self._come.clear()
        resting, coming = asyncio.ensure_future(self.hand.rest()), asyncio.ensure_future(self._come.wait())
        await asyncio.wait({resting, coming}, return_when=asyncio.FIRST_COMPLETED)
        done = resting.done()
        for task in (resting, coming):
            task.cancel()
        await asyncio.gather(resting, coming, return_exceptions=True)
        return done or not self._queue

    async def _glance(self) -> None:
        """A page may change by itself: see it, if somebody looks and the stream says that there is something."""
        await self.cast.stop_unasked(IDLE_S)
        if self.cast.number == self._drawn or self.reducer.busy or self.over:
            return
        before = self.marks[-1]
        await self._see()
        if self.marks[-1].image != before.image:
            self.marks[-1] = replace(self.marks[-1], late=True)
            self.reducer.changed_late(self.now)

    async def _take(self, raw: Raw) -> None:
        """Do one event."""
        if self.over:
            return
        joins = self.reducer.joins(raw)
        if self._stale and not joins:
            await self._see()
        self.hand.session.guard.step = len(self.reducer.acts())
        try:
            await self._do(self._pasted(raw))
        except ActionRefused as refusal:
            if raw.kind not in ("move", "up", "keyup"):
                self.note = str(refusal)
                self._tell()

    def _pasted(self, raw: Raw) -> Raw:
        """What was copied in the session is pasted by the keys that do it; what comes from elsewhere is typed."""
        if raw.kind == "paste" and raw.text == self.hand.clipboard:
            return replace(raw, kind="keydown", key="v", text="", modifiers=("Control",))
        return raw

    async def _do(self, raw: Raw) -> None:
        if whole := answer(raw):
            frame = await self.hand.step(whole)
            self.reducer.feed(raw)
            await self._seen(frame)
            return
        held = await self._secret(raw)
        if (part := self._part(raw)) is not None:
            await self.hand.touch(part)
        held = held or await self._secret(raw)
        self.reducer.feed(replace(raw, withheld=True) if held else raw)
        self._stale = True
        if raw.kind not in ("move", "keyup", "compose"):
            self.note = ""
            self._tell()
        if self.hand.stopped:
            await self._see()

    async def _secret(self, raw: Raw) -> bool:
        """Whether what an event types goes into a password field; its content is noted, so that it can be left out."""
        types = raw.kind in ("text", "paste", "compose") or (raw.kind == "keydown" and not raw.key[1:])
        if not types:
            return False
        value = await self.hand.secret()
        if value:
            if self._growing and value.startswith(self._growing):  # of a text in the making, only the whole is secret
                self.secrets.discard(self._growing)
            self.secrets.add(value)
        self._growing = value or ""
        return value is not None

    def _part(self, raw: Raw) -> Part | None:
        width, height = self.hand.session.viewport
        x, y = min(raw.x, width - 0.1), min(raw.y, height - 0.1)
        match raw.kind:
            case "move":
                return Move(x, y)
            case "down":
                return Press(x, y, raw.button, self.reducer.count(raw), raw.modifiers)
            case "up":
                return Release(x, y, raw.button, self.reducer.pressed, raw.modifiers)
            case "wheel":
                return Scroll(x, y, raw.dx, raw.dy, raw.modifiers)
            case "keydown":
                return KeyDown(chord(raw), raw.repeat)
            case "keyup":
                return KeyUp(chord(raw))
            case "compose":
                return Compose(raw.text)
            case "text" if self._composing:
                return Insert(raw.text)
            case "text" | "paste":
                return Type(raw.text)
        return None

    @property
    def _composing(self) -> bool:
        """Whether an input method shows something that is not chosen yet."""
        last = self.reducer.raws[-1] if self.reducer.raws else None
        return last is not None and last.kind == "compose" and bool(last.text)

    # --- pictures ------------------------------------------------------------------------------------------

    async def _see(self) -> None:
        await self._seen(await self.hand.look())

    async def _seen(self, frame: Frame) -> None:
        before = self.marks[-1]
        self._drawn = self.cast.number
        if frame.open.dialog and (acts := self.reducer.acts()):  # what a policy then sees is what its act began on
            frame = replace(frame, png=self.images[self.before(acts[-1]).image])
        self._mark(frame)
        after = self.marks[-1]
        if after.image != before.image and self.reducer.raws and self.reducer.raws[-1].kind == "move":
            self.reducer.rested()
        if said := [text for event in frame.events if (text := _said(event, frame.open))]:
            self.note = " ".join(said)
        if not frame.open.dialog and not self.over and await self.env.is_over():
            self.over = True
        self._tell()

    def _mark(self, frame: Frame) -> None:
        name = hashlib.sha256(frame.png).hexdigest()
        self.images[name] = frame.png
        self._stale = False
        self.marks.append(Mark(len(self.reducer.raws), name, frame.settled, frame.events, frame.open, self.now))

    def before(self, act: Act) -> Mark:
        """The settled picture that an act began on."""
        earlier = [mark for mark in self.marks if mark.index <= act.begin and not (act.idle and mark.late)]
        return next((mark for mark in reversed(earlier) if mark.settled), earlier[-1])

    def pictures(self, acts: Sequence[Act]) -> Mapping[str, bytes]:
        """Those that the acts began on, and the last one, by name."""
        names = {self.before(act).image for act in acts} | {self.marks[-1].image}
        return {name: self.images[name] for name in names}

    def close(self) -> None:
        """Nothing is done any more; what is shown is the last settled picture."""
        self.closed = True


def _said(event: Event, there: Open) -> str:
    """What a person should read of something that no picture shows; empty if it is shown otherwise."""
    match event.kind, event.type:
        case "dialog", _ if there.dialog is None:
            return f'The page said: "{event.text}"'
        case "download", "finished":
            return f"The page gave the file {event.text}."
        case "filechooser", "cancelled":
            return "The page asked for a file, which this harness does not grant."
        case (("print" | "tooltip" | "crash" | "navigation"), _):
            return event.text
    return ""
