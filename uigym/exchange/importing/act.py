"""Doing what a recording asks for, by actions on pixels, in an environment's episode."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from uigym.env import Env
from uigym.errors import HarnessError
from uigym.exchange.importing.asked import (
    Asked,
    Cannot,
    Choose,
    Do,
    Fill,
    Give,
    Hover,
    Press,
    Strike,
    Target,
    Tick,
    Turn,
    Visit,
)
from uigym.exchange.importing.locate import locate
from uigym.exchange.importing.pixels import scaled
from uigym.policy.hands import WAIT_S, LocatorByHand
from uigym.types import (
    Action,
    Answer,
    Decision,
    Dialog,
    Done,
    Goto,
    Key,
    Observation,
    Scroll,
    SwitchTab,
    Type,
    Upload,
    Wait,
)

_KIND = """el => ({tag: el.tagName, type: el.type || "", text: el.isContentEditable, value: el.value ?? el.textContent,
    free: el === document.body || el === document.documentElement, multiple: !!el.multiple})"""
_FOCUSED = "el => { const a = el.getRootNode().activeElement; return !!a && (a === el || el.contains(a)); }"
_TYPED_INTO = """el => el.isContentEditable || el.tagName === "TEXTAREA" || (el.tagName === "INPUT" &&
    !["checkbox", "radio", "button", "submit", "reset", "image", "file", "range", "color"].includes(el.type))"""
_SECRET = """() => { let a = document.activeElement;
    for (let next; a; a = next) { next = a.shadowRoot?.activeElement || a.contentDocument?.activeElement; if (!next) break; }
    return a?.tagName === "INPUT" && a.type === "password"; }"""
_DRAWN = "el => ['canvas', 'svg', 'video', 'img', 'embed', 'object'].includes(el.tagName.toLowerCase()) || !!el.closest('svg')"
_RANGE = "el => [Number(el.value), Number(el.min || 0), Number(el.max || 100), el.getBoundingClientRect().width]"
_PLACE = """el => { const e = el || document.scrollingElement, r = e.getBoundingClientRect(), page = e === document.scrollingElement;
    return {x: e.scrollLeft, y: e.scrollTop, right: e.scrollWidth - e.clientWidth, below: e.scrollHeight - e.clientHeight, tall: e.clientHeight,
            at: page ? [innerWidth / 2, innerHeight / 2] : [r.left + r.width / 2, r.top + r.height / 2]}; }"""
_MAX_NUDGES = 200
_DIALOGS = 20


class Ended(Exception):
    """The episode is over, so that nothing more can be done in it."""


class EnvHands:
    """Hands of which every act is a step of an episode."""

    def __init__(self, env: Env, seen: Observation, accept: bool | None = True):
        """
        Args:
            env: Just reset.
            seen: What `reset` returned.
            accept: What dialogs are told that the recording says nothing about; None leaves them to it.
        """
        self.held: list[str] = []
        self.stale = False
        self.wait_s = WAIT_S
        self.text = ""
        """Words for the next action."""
        self.seen = seen
        self.answered: list[str] = []
        """Dialogs that were answered without being asked."""
        self._env, self._accept = env, accept

    @property
    def pointer(self) -> tuple[float, float]:
        """Where the mouse is."""
        return self._env.session.pointer or (0.0, 0.0)

    @property
    def picker(self) -> str:
        """Kind of the picker that is open; empty if none is."""
        return self._env.session.picker

    async def aim_at_option(self, index: int) -> dict[str, Any]:
        """Where an option of the open list is."""
        return await self._env.session.aim_at_option(index)

    async def take(self, action: Action) -> None:
        """Perform an action.

        Raises:
            HarnessError: It is refused.
            Ended: It was the last one.
        """
        if self.stale:
            self.stale = False
            await self.take(Wait(0.1))
        text, self.text = self.text, ""
        step = await self._env.step(Decision(action, text))
        self.seen = step.observation
        if step.observation.error is not None:
            raise HarnessError(f"{type(action).__name__.lower()} was refused: {step.observation.error}")
        if self._env.episode is not None:
            raise Ended
        if not isinstance(action, Dialog):
            await self._answer()

    async def _answer(self) -> None:
        for _ in range(_DIALOGS):
            dialog = self.seen.open.dialog
            if dialog is None or self._accept is None:
                return
            self.answered.append(f"{dialog.type}: {dialog.message}"[:200])
            await self.take(Dialog(self._accept, dialog.default))
        raise HarnessError(f"the page opens one dialog after another: {_DIALOGS} were answered")


class Actor:
    """Does the steps of a recording one after the other."""

    def __init__(self, env: Env, hands: EnvHands):
        self.secrets: dict[int, str] = {}
        """What was typed into password fields, by the number of the episode's step."""
        self.remarks: list[str] = []
        """What came out otherwise than recorded and stopped nothing, for the step that is being done."""
        self._env, self._hands = env, hands
        self._origin = ""  # of the product when it was recorded
        self._named = "<>"  # what Playwright calls the element that was found last
        self._ways: dict[type, Callable[[Any], Any]] = {
            Press: self._press, Hover: self._hover, Fill: self._fill, Choose: self._choose, Tick: self._tick,
            Give: self._give, Strike: self._strike, Turn: self._turn, Visit: self._visit, Do: self._do, Cannot: self._cannot,
        }  # fmt: skip

    async def do(self, asked: Asked) -> None:
        """Do a step.

        Raises:
            HarnessError: It cannot be done; the text says why.
            ProductError, BrowserError: The machinery failed.
        """
        self.remarks = []
        try:
            with suppress(Ended):
                await self._do_it(asked)
        except HarnessError as exc:
            raise HarnessError(str(exc).replace(self._named, "the element")) from exc

    async def _do_it(self, asked: Asked) -> None:
        self._hands.text = asked.text
        if not isinstance(asked.act, Give | Fill | Do):
            await self._leave_chooser()
        if asked.tab is not None:
            await self._show(asked.tab)
        await self._ways[type(asked.act)](asked.act)

    async def end(self, last: Answer | Done) -> None:
        """End the episode."""
        with suppress(Ended):
            await self._hands.take(last)

    # --- on elements ---------------------------------------------------------------------------------------

    async def _found(self, target: Target) -> LocatorByHand:
        found = await locate(self._env.session.page, target)
        if found.after_s:  # whoever plays it again must wait as long, and see what is acted on
            await self._hands.take(Wait(max(0.1, round(found.after_s, 1))))
        if not found.alone:
            self.remarks.append("several elements are as recorded, or none is visible: the first was taken")
        self._named = repr(found.locator)
        return LocatorByHand(found.locator, self._hands)

    async def _press(self, act: Press) -> None:
        found = await self._found(act.target)
        options: dict[str, Any] = {"button": act.button, "modifiers": list(act.modifiers)}
        if act.spot is not None and await found.evaluate(_DRAWN):
            options["position"] = {"x": act.spot[0], "y": act.spot[1]}
        await found.click(click_count=act.count, **options)

    async def _hover(self, act: Hover) -> None:
        await (await self._found(act.target)).hover()

    async def _fill(self, act: Fill) -> None:
        found = await self._found(act.target)
        kind = await found.evaluate(_KIND)
        if kind["type"] == "file":
            await self._give(Give(act.target, (_file_name(act.value),)))
            return
        await self._leave_chooser()
        if kind["tag"] == "SELECT":
            await found.select_option(act.value)
        elif kind["type"] in ("checkbox", "radio"):
            await found.set_checked(act.value.lower() not in ("", "off", "false", "0"))
        elif kind["type"] == "range":
            await self._slide(found, act.value)
        elif kind["tag"] not in ("INPUT", "TEXTAREA") and not kind["text"]:
            raise HarnessError(f"a {kind['tag'].lower()} is no field that can be filled")
        else:
            await self._type(found, act, kind)

    async def _type(self, found: LocatorByHand, act: Fill, kind: dict[str, Any]) -> None:
        before = len(self._env.history)
        if act.keep:
            await found.click()
            await self._hands.take(Key("Control+End"))
            await self._hands.take(Type(act.value))
        else:
            await found.fill(act.value)
        wanted = kind["value"] + act.value if act.keep else act.value
        if kind["type"] == "password":
            typed = self._env.history[before:]
            self.secrets |= {before + i: act.value for i, step in enumerate(typed) if isinstance(step.action, Type)}
            return
        if await found.count() and not kind["text"]:
            now = (await found.evaluate(_KIND, timeout=1000))["value"]
            if now != wanted:
                self.remarks.append(f"the field holds {now!r:.80} where {wanted!r:.80} was recorded")

    async def _slide(self, found: LocatorByHand, value: str) -> None:
        """Click where the value is on the slider, then the arrow keys."""
        _, low, high, width = await found.evaluate(_RANGE)
        wanted = float(value)
        share = (wanted - low) / (high - low) if high > low else 0.0
        if not 0 <= share <= 1:
            raise HarnessError(f"the slider goes from {low:g} to {high:g}; {wanted:g} is not on it")
        height = (await found.bounding_box())["height"]
        await found.click(position={"x": min(width - 1, max(1, share * width)), "y": height / 2})
        for _ in range(_MAX_NUDGES):
            now = (await found.evaluate(_RANGE))[0]
            if now == wanted:
                return
            await self._hands.take(Key("ArrowRight" if now < wanted else "ArrowLeft"))
            if (await found.evaluate(_RANGE))[0] == now:
                break
        raise HarnessError(f"the slider stands at {now:g} and cannot be moved to {wanted:g}")

    async def _choose(self, act: Choose) -> None:
        found = await self._found(act.target)
        kind = await found.evaluate(_KIND)
        if kind["tag"] != "SELECT":
            raise HarnessError(f"a {kind['tag'].lower()} is no native list")
        if len(act.options) > 1 and not kind["multiple"]:
            raise HarnessError(f"{len(act.options)} options were recorded, and this list takes one")
        first, *others = act.options
        await found.select_option(first)
        for option in others:
            number = await found.evaluate(
                "(el, wanted) => [...el.options].findIndex(o => o.value === wanted || o.label === wanted)", option
            )
            if number < 0:
                raise HarnessError(f"the list has no option {option!r:.80}")
            await found.locator("option").nth(number).click(modifiers=["Control"])

    async def _tick(self, act: Tick) -> None:
        await (await self._found(act.target)).set_checked(act.on)

    async def _give(self, act: Give) -> None:
        files: str | tuple[str, ...] = act.files[0] if len(act.files) == 1 else act.files
        if self._hands.seen.open.chooser is not None:
            await self._hands.take(Upload(files))
            return
        await (await self._found(act.target)).set_input_files(files)

    async def _strike(self, act: Strike) -> None:
        if act.target is not None:
            found = await self._found(act.target)
            if not await found.evaluate(_FOCUSED):
                if await found.evaluate(_TYPED_INTO):
                    await found.click()
                elif not (await found.evaluate(_KIND))["free"]:
                    self.remarks.append("the key was recorded with the focus on an element that does not have it")
        await self._hands.take(Key(act.chord))

    # --- on the page ---------------------------------------------------------------------------------------

    async def _turn(self, act: Turn) -> None:
        place = (await self._found(act.target)).evaluate if act.target else self._env.session.page.evaluate
        now = await (place(_PLACE) if act.target else place(_PLACE, None))
        x, y = act.to if act.to is not None else (now["x"], now["y"] + act.heights * now["tall"])
        x, y = min(max(x, 0), now["right"]), min(max(y, 0), now["below"])
        dx, dy = x - now["x"], y - now["y"]
        if abs(dx) < 1 and abs(dy) < 1:
            return
        await self._hands.take(Scroll(now["at"][0], now["at"][1], dx, dy))
        after = await (place(_PLACE) if act.target else place(_PLACE, None))
        if abs(after["x"] - x) > 2 or abs(after["y"] - y) > 2:
            self.remarks.append(f"scrolled to {after['x']:.0f}, {after['y']:.0f} where {x:.0f}, {y:.0f} was recorded")

    async def _visit(self, act: Visit) -> None:
        parts = urlsplit(act.url)
        if parts.scheme not in ("http", "https"):
            raise HarnessError(f"{act.url[:80]!r} is no address of a web page")
        origin = f"{parts.scheme}://{parts.netloc}"
        self._origin = self._origin or origin
        if origin != self._origin:
            await self._hands.take(Goto(act.url))
            return
        path = parts._replace(scheme="", netloc="", path=parts.path or "/").geturl()
        here = urlsplit(self._env.session.url)
        if path in (here._replace(scheme="", netloc="").geturl(), self._env.instance.home):
            return
        if Goto not in self._env.harness.grants:
            raise HarnessError(
                f"the recording opens {path!r:.200} and the page is at {here.path!r:.200}; {self._env.harness.name} does not "
                f"grant Goto. Give the task home={path!r:.200}, or grants=(Goto,) to the harness"
            )
        await self._hands.take(Goto(self._env.product.base_url + path))

    async def _leave_chooser(self) -> None:
        if self._hands.seen.open.chooser is not None:
            await self._hands.take(Key("Escape"))

    async def _show(self, tab: int) -> None:
        open_ = self._hands.seen.open
        if tab != open_.shown and tab < len(open_.tabs):
            await self._hands.take(SwitchTab(tab))

    async def _do(self, act: Do) -> None:
        width, height = self._env.harness.viewport
        own_width, own_height = act.size or (width, height)
        by = width / own_width
        if abs(own_height * by - height) > 1:
            raise HarnessError(
                f"its coordinates are for a viewport of {own_width} x {own_height}, which is no picture of the "
                f"{width} x {height} that {self._env.harness.name} has"
            )
        free = self._hands.seen.open.dialog is None  # else the page cannot be asked
        if isinstance(act.action, Type) and free and await self._env.session.page.evaluate(_SECRET):
            self.secrets[len(self._env.history)] = act.action.text
        await self._hands.take(scaled(act.action, by) if by != 1 else act.action)

    async def _cannot(self, act: Cannot) -> None:
        raise HarnessError(act.why)


def _file_name(value: str) -> str:
    """The file's name in what a page is told that a file field holds."""
    folder, _, name = value.rpartition("\\")
    if folder.lower() != "c:\\fakepath" or not name:
        raise HarnessError("a file field takes files, and the recording does not say which of the episode's files")
    return name
