"""A page to be used by hand: Playwright's words, but every act is one of the agent's own actions.

Locators chain and read as Playwright's do. What acts (click, fill, press, ...) becomes actions with coordinates that
go through the environment, so that a scripted solution does only what an agent could do.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from uigym.errors import HarnessError
from uigym.types import Action, Back, Click, Dialog, Drag, Goto, Key, MouseDown, MouseUp, Move, Scroll, Type, Wait
from uigym.types import Upload as Upload

WAIT_S = 5.0
"""How long an act of a solution waits for its element, if nothing else is said."""
_POLL_S = 0.05
_MIN_POLLS = 10
"""However long they take: on a busy machine the page needs longer, too."""
_MAX_TURNS = 12
_AIM = Path(__file__).with_name("aim.js").read_text()
_FOCUSED = "el => { const a = el.getRootNode().activeElement; return !!a && (a === el || el.contains(a)); }"
_OPTIONS = """el => ({at: el.selectedIndex, list: el.size > 1, multiple: el.multiple,
    options: [...el.options].map(o => ({value: o.value, label: o.label,
        off: o.disabled || (o.parentElement.tagName === "OPTGROUP" && o.parentElement.disabled)}))})"""
_PICKED = "el => ['date', 'time', 'datetime-local', 'month', 'week', 'color'].includes(el.type)"
_TEXT = "el => el.isContentEditable ? el.innerText.trim() : (el.value ?? '')"
_MODIFIERS = ("Alt", "Control", "Meta", "Shift")
_IGNORED = frozenset({"delay", "force", "no_wait_after", "noWaitAfter", "steps", "strict"})
_NOT_BY_HAND = frozenset(
    {
        "add_init_script", "add_script_tag", "add_style_tag", "blur", "bring_to_front", "check", "clear", "click", "clock",
        "close", "context", "dblclick", "dispatch_event", "drag_and_drop", "drag_to", "expose_binding", "expose_function",
        "fill", "focus", "go_forward", "hover", "press", "press_sequentially", "reload", "request", "route",
        "select_option", "select_text", "set_checked", "set_content", "set_files", "set_input_files", "set_viewport_size",
        "tap", "touchscreen", "type", "uncheck", "unroute"
    }
)  # fmt: skip


class Hands(Protocol):
    """What takes the actions that a page proxy makes."""

    held: list[str]
    """Modifier keys that are down."""
    stale: bool
    """The page has gone on since the last picture."""
    wait_s: float
    """How long an act waits for its element to be there, visible and uncovered."""

    async def take(self, action: Action) -> None:
        """Perform an action; raises HarnessError if it is refused."""

    @property
    def pointer(self) -> tuple[float, float]:
        """Where the mouse is."""

    @property
    def picker(self) -> str:
        """Kind of the picker that is open, such as "list" or "date"; empty if none is."""

    async def aim_at_option(self, index: int) -> dict[str, Any]:
        """Where an option of the open list is, in the words of `aim.js`."""


def by_hand(value: Any, hands: Hands) -> Any:
    """Playwright's object with its acts turned into actions; other values as they are."""
    if isinstance(value, list | tuple):
        return type(value)(by_hand(item, hands) for item in value)
    if not type(value).__module__.startswith("playwright."):
        return value
    return _PROXIES.get(type(value).__name__, ByHand)(value, hands)


class ByHand:
    """Any of Playwright's objects: reads pass through, acts are refused unless a subclass has them."""

    def __init__(self, real: Any, hands: Hands):
        self._real = real
        self._hands = hands

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # so that Playwright's expect(locator) takes it
        return ByHand if self._real is None else type(self._real)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            return getattr(self._real, name)
        if name in _NOT_BY_HAND:
            kind = type(self._real).__name__
            raise HarnessError(
                f"{kind}.{name} is nothing that an agent can do with mouse and keyboard. "
                "Use a locator's click, fill, press, select_option, check, hover or drag_to, or page.mouse and page.keyboard."
            )
        value = getattr(self._real, name)
        return self._calling(value) if inspect.ismethod(value) else by_hand(value, self._hands)

    def __repr__(self) -> str:
        return repr(self._real)

    def _calling(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            result = method(*map(_real, args), **{key: _real(value) for key, value in kwargs.items()})
            return self._later(result) if inspect.isawaitable(result) else by_hand(result, self._hands)

        return call

    async def _later(self, result: Awaitable[Any]) -> Any:
        return by_hand(await result, self._hands)


class LocatorByHand(ByHand):
    """A locator."""

    async def click(self, *, click_count: int = 1, timeout: float | None = None, **options: Any) -> None:
        """Click the middle of what is visible of the element."""
        await self._click(click_count, timeout, options)

    async def dblclick(self, *, timeout: float | None = None, **options: Any) -> None:
        """Click twice."""
        await self._click(2, timeout, options)

    async def hover(self, *, position: Mapping[str, float] | None = None, timeout: float | None = None) -> None:
        """Move the pointer onto the element."""
        await self._hands.take(Move(*await self._aim(timeout, position)))

    async def fill(self, value: str, *, timeout: float | None = None, **options: Any) -> None:
        """Click into the field, select what is there, type over it; dates, times and colours through their picker."""
        _known("fill", options)
        await self._hands.take(Click(*await self._aim(timeout)))
        if await self._real.evaluate(_PICKED):
            await self._fill_by_picker(value)
            return
        if await self._real.evaluate(_TEXT):
            await self._hands.take(Key("Control+A"))
            if not value:
                await self._hands.take(Key("Delete"))
        if value:
            await self._hands.take(Type(value))

    async def clear(self, *, timeout: float | None = None) -> None:
        """Empty the field."""
        await self.fill("", timeout=timeout)

    async def focus(self, *, timeout: float | None = None) -> None:
        """Click into the element unless it has the focus."""
        point = await self._aim(timeout)
        if not await self._real.evaluate(_FOCUSED):
            await self._hands.take(Click(*point))

    async def press(self, key: str, *, timeout: float | None = None, **options: Any) -> None:
        """Press a key or chord with the focus on the element."""
        _known("press", options)
        await self.focus(timeout=timeout)
        await KeyboardByHand(None, self._hands).press(key)

    async def press_sequentially(self, text: str, *, timeout: float | None = None, **options: Any) -> None:
        """Type with the focus on the element."""
        _known("press_sequentially", options)
        await self.focus(timeout=timeout)
        await self._hands.take(Type(text))

    async def type(self, text: str, *, timeout: float | None = None, **options: Any) -> None:
        """Type with the focus on the element."""
        await self.press_sequentially(text, timeout=timeout, **options)

    async def check(self, *, timeout: float | None = None, **options: Any) -> None:
        """Click unless it is checked."""
        await self.set_checked(True, timeout=timeout, **options)

    async def uncheck(self, *, timeout: float | None = None, **options: Any) -> None:
        """Click if it is checked."""
        await self.set_checked(False, timeout=timeout, **options)

    async def set_checked(self, checked: bool, *, timeout: float | None = None, **options: Any) -> None:
        """Click unless it is as wanted."""
        point = await self._aim(timeout)
        if await self._real.is_checked() is checked:
            return
        _known("check", options)
        await self._hands.take(Click(*point))
        if await self._real.is_checked() is not checked:
            raise HarnessError(f"{self!r} was clicked and is still {'not ' * checked}checked")

    async def select_option(
        self,
        value: str | None = None,
        *,
        index: int | None = None,
        label: str | None = None,
        timeout: float | None = None,
    ) -> list[str]:
        """Choose from a native list: open it, scroll to the option, click it."""
        point = await self._aim(timeout)
        found = await self._real.evaluate(_OPTIONS)
        options = found["options"]
        target = _choose(options, value, index, label, repr(self))
        if found["list"] or found["multiple"]:
            await LocatorByHand(self._real.locator("option").nth(target), self._hands).click()
        elif target != found["at"]:
            await self._hands.take(Click(*point))
            await self._click_option(target)
        if (now := (await self._real.evaluate(_OPTIONS))["at"]) != target:
            chosen = options[now]["label"] if now >= 0 else "nothing"
            raise HarnessError(f"{self!r}: clicked {options[target]['label']!r} in its list, but it shows {chosen!r}")
        return [options[target]["value"]]

    async def set_input_files(self, files: str | Sequence[str], *, timeout: float | None = None) -> None:
        """Click the field or its label, and give the file chooser some of the episode's files by name; [] cancels."""
        await self._hands.take(Click(*await self._aim(timeout)))
        await self._hands.take(Upload(files if isinstance(files, str) else tuple(files)))

    async def drag_to(
        self,
        target: Any,
        *,
        source_position: Mapping[str, float] | None = None,
        target_position: Mapping[str, float] | None = None,
        timeout: float | None = None,
    ) -> None:
        """Drag the element onto another one."""
        other = LocatorByHand(_real(target), self._hands)
        await other._aim(timeout, target_position)
        x, y = await self._aim(timeout, source_position)
        to_x, to_y = await other._aim(timeout, target_position)
        middle = ((x + to_x) / 2, (y + to_y) / 2)
        near = (x + (to_x - x) / 10, y + (to_y - y) / 10)
        await self._hands.take(Drag(((x, y), near, middle, (to_x, to_y)), modifiers=_modifiers(self._hands.held)))

    async def scroll_into_view_if_needed(self, *, timeout: float | None = None) -> None:
        """Turn the wheel until the element can be seen."""
        await self._aim(timeout)

    async def wait_for(self, *, state: str = "visible", timeout: float | None = None) -> None:
        """Wait for the element, as Playwright does."""
        if await self._real.is_visible() is not (state == "visible"):
            self._hands.stale = True
        await self._real.wait_for(state=state, timeout=timeout if timeout is not None else WAIT_S * 1000)

    async def _click_option(self, index: int) -> None:
        for _ in range(_MAX_TURNS):
            found = await self._hands.aim_at_option(index)
            if found["kind"] == "point":
                await self._hands.take(Click(found["x"], found["y"]))
                return
            if found["kind"] == "absent":
                raise HarnessError(f"{self!r} was clicked, but no list with that option opened")
            await self._hands.take(Scroll(found["x"], found["y"], found["dx"], found["dy"]))
        raise HarnessError(f"{self!r}: its list cannot be scrolled to the option by the wheel")

    async def _fill_by_picker(self, value: str) -> None:
        if not self._hands.picker:
            await self._hands.take(Key("F4"))
        if not self._hands.picker:
            raise HarnessError(f"{self!r} opens no picker; is it disabled or read-only?")
        await self._hands.take(Type(value) if value else Key("Delete"))
        if self._hands.picker:
            await self._hands.take(Key("Enter"))
        if (now := await self._real.input_value()) != value:
            raise HarnessError(f"{self!r}: its picker took {value!r} as {now!r}; expected a value such as 2026-03-04")

    async def _click(self, count: int, timeout: float | None, options: dict[str, Any]) -> None:
        position, button = options.pop("position", None), options.pop("button", "left")
        keys = [*self._hands.held, *(options.pop("modifiers", None) or ())]
        _known("click", options)
        x, y = await self._aim(timeout, position)
        await self._hands.take(Click(x, y, button, count, _modifiers(keys)))

    async def _aim(self, timeout: float | None, position: Mapping[str, float] | None = None) -> tuple[float, float]:
        """The point to act on, after waiting and scrolling as needed."""
        if self._hands.picker:  # it may cover the element
            await self._hands.take(Key("Escape"))
        began = time.monotonic()
        deadline = began + (self._hands.wait_s if timeout is None else timeout / 1000)
        waited, turns, polls, last = False, 0, 0, None
        while True:
            found = await self._find(position)
            if found["kind"] == "point" and not waited:
                return found["x"], found["y"]
            if found["kind"] == "point":  # the policy must see what it is about to act on
                await self._hands.take(Wait(0.1))
                waited = False
            elif found["kind"] == "scroll":
                if turns == _MAX_TURNS or found == last:
                    raise HarnessError(f"{self!r} cannot be scrolled into view by the wheel")
                turns, last = turns + 1, found
                await self._hands.take(Scroll(found["x"], found["y"], found["dx"], found["dy"]))
            elif time.monotonic() > deadline and polls >= _MIN_POLLS:
                raise HarnessError(
                    f"{self!r} {_WHY[found['kind']].format(**found)} after {time.monotonic() - began:.1f} s"
                )
            else:
                waited, polls = True, polls + 1
                await asyncio.sleep(_POLL_S)

    async def _find(self, position: Mapping[str, float] | None) -> dict[str, Any]:
        """What `aim.js` says, in the page's coordinates."""
        if not await self._real.count():
            return {"kind": "absent"}
        found = await self._real.evaluate(_AIM, dict(position) if position else None, timeout=WAIT_S * 1000)
        if "x" not in found or not found["framed"]:
            return found
        box, handle = await self._real.bounding_box(), await self._real.element_handle()
        frame = await (await handle.owner_frame()).frame_element()
        around = await frame.bounding_box()
        if box is None or around is None:
            return {"kind": "hidden"}
        x, y = box["x"] + found["x"] - found["left"], box["y"] + found["y"] - found["top"]
        outside = await frame.evaluate(_AIM, {"x": x - around["x"], "y": y - around["y"]})  # is that spot in sight?
        return {**found, "x": x, "y": y} if outside["kind"] == "point" else outside


class PageByHand(ByHand):
    """A page, or a frame of it."""

    @property
    def mouse(self) -> MouseByHand:
        """The mouse."""
        return MouseByHand(None, self._hands)

    @property
    def keyboard(self) -> KeyboardByHand:
        """The keyboard."""
        return KeyboardByHand(None, self._hands)

    async def goto(self, url: str) -> None:
        """Open an address, where the harness grants it."""
        await self._hands.take(Goto(url))

    async def go_back(self) -> None:
        """Go back, where the harness grants it."""
        await self._hands.take(Back())

    @asynccontextmanager
    async def expect_file_chooser(self) -> AsyncIterator[OpenByHand]:
        """As Playwright's: the chooser that the acts within open."""
        yield OpenByHand(None, self._hands)

    @asynccontextmanager
    async def expect_event(self, event: str, **options: Any) -> AsyncIterator[OpenByHand]:
        """As Playwright's, of a "dialog" that the acts within open: it stays open until it is answered.

        Raises:
            HarnessError: Of another event, which no hand needs to wait for.
        """
        if event != "dialog":
            raise HarnessError(f'expect_event({event!r}): a hand waits for no other event than a "dialog"')
        yield OpenByHand(None, self._hands)

    async def wait_for_timeout(self, timeout: float) -> None:
        """Wait; `timeout` is in ms, as in Playwright."""
        await self._hands.take(Wait(timeout / 1000))

    async def drag_and_drop(self, source: str, target: str, **options: Any) -> None:
        """Drag one element onto another one."""
        await self._first(source).drag_to(self._first(target), **options)

    def _first(self, selector: str) -> LocatorByHand:
        return LocatorByHand(self._real.locator(selector).first, self._hands)


def _through_locator(name: str) -> Callable[..., Any]:
    async def act(self: PageByHand, selector: str, *args: Any, **options: Any) -> Any:
        return await getattr(self._first(selector), name)(*args, **options)

    act.__name__, act.__doc__ = name, f"The same as `locator(selector).first.{name}(...)`."
    return act


for _name in ("click", "dblclick", "hover", "fill", "type", "press", "check", "uncheck", "set_checked", "select_option", "set_input_files", "focus"):  # fmt: skip
    setattr(PageByHand, _name, _through_locator(_name))


class OpenByHand(ByHand):
    """The file chooser or the dialog that is open, or will be."""

    @property
    async def value(self) -> OpenByHand:
        """Itself, as in Playwright's `async with page.expect_file_chooser() as info`."""
        return self

    async def set_files(self, files: str | Sequence[str]) -> None:
        """Give the chooser some of the episode's files by name; [] cancels it."""
        await self._hands.take(Upload(files if isinstance(files, str) else tuple(files)))

    async def accept(self, prompt_text: str = "") -> None:
        """Say OK to the dialog, with this text where it asks for one."""
        await self._hands.take(Dialog(True, prompt_text))

    async def dismiss(self) -> None:
        """Say no to the dialog."""
        await self._hands.take(Dialog(False))


class MouseByHand(ByHand):
    """The mouse; it presses where the pointer is."""

    async def move(self, x: float, y: float, **options: Any) -> None:
        """Move the pointer."""
        _known("mouse.move", options)
        await self._hands.take(Move(x, y))

    async def click(self, x: float, y: float, *, button: Any = "left", click_count: int = 1, **options: Any) -> None:
        """Click a point."""
        _known("mouse.click", options)
        await self._hands.take(Click(x, y, button, click_count, _modifiers(self._hands.held)))

    async def dblclick(self, x: float, y: float, **options: Any) -> None:
        """Click a point twice."""
        await self.click(x, y, click_count=2, **options)

    async def down(self, *, button: Any = "left") -> None:
        """Press a button and keep it pressed."""
        await self._hands.take(MouseDown(*self._hands.pointer, button))

    async def up(self, *, button: Any = "left") -> None:
        """Release a button."""
        await self._hands.take(MouseUp(*self._hands.pointer, button))

    async def wheel(self, delta_x: float, delta_y: float) -> None:
        """Turn the wheel where the pointer is."""
        await self._hands.take(Scroll(*self._hands.pointer, delta_x, delta_y))


class KeyboardByHand(ByHand):
    """The keyboard; it types where the focus is."""

    async def press(self, key: str, **options: Any) -> None:
        """Press a key or chord."""
        _known("keyboard.press", options)
        chord = key.replace("ControlOrMeta", "Control")
        await self._hands.take(Key("+".join([*self._hands.held, chord])))

    async def type(self, text: str, **options: Any) -> None:
        """Type."""
        _known("keyboard.type", options)
        await self._hands.take(Type(text))

    async def insert_text(self, text: str) -> None:
        """Type."""
        await self.type(text)

    async def down(self, key: str) -> None:
        """Keep a modifier pressed for the acts that follow."""
        (modifier,) = _modifiers([key])
        self._hands.held.append(modifier)

    async def up(self, key: str) -> None:
        """Release a modifier."""
        (modifier,) = _modifiers([key])
        self._hands.held.remove(modifier)


_PROXIES: dict[str, type[ByHand]] = {"Locator": LocatorByHand, "Page": PageByHand, "Frame": PageByHand}
_WHY = {"absent": "is not there", "hidden": "is not visible", "covered": "is covered by {by}"}


def _real(value: Any) -> Any:
    return value._real if isinstance(value, ByHand) else value


def _known(act: str, options: Mapping[str, Any]) -> None:
    if unknown := sorted(options.keys() - _IGNORED):
        raise HarnessError(
            f"{act}: the options {', '.join(unknown)} have no meaning for a person's hands; leave them out"
        )


def _modifiers(keys: Sequence[str]) -> tuple[Any, ...]:
    names = [key.replace("ControlOrMeta", "Control") for key in keys]
    if wrong := [name for name in names if name not in _MODIFIERS]:
        raise HarnessError(f"{wrong[0]!r} is not a modifier key; expected one of {', '.join(_MODIFIERS)}")
    return tuple(dict.fromkeys(names))


def _choose(options: list[dict[str, Any]], value: str | None, index: int | None, label: str | None, where: str) -> int:
    """Index of the wanted option; as in Playwright, a plain value may be a value or a label."""
    for number, option in enumerate(options):
        by_value = value is not None and value in (option["value"], option["label"])
        if by_value or number == index or (label is not None and option["label"] == label):
            if option["off"]:
                raise HarnessError(f"{where}: the option {option['label']!r} is disabled")
            return number
    wanted = next(want for want in (value, label, index, "") if want is not None)
    raise HarnessError(f"{where} has no option {wanted!r}; options: {', '.join(o['label'] for o in options)}")
