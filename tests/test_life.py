"""Life and death: whatever breaks in one slot is one failure of the right cause, and no other slot notices."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from uigym import slot
from uigym.browser import Browser, launch, orphans, session
from uigym.browser.wire import WireError
from uigym.env import Env
from uigym.product import strays
from uigym.registry import load
from uigym.rollout import Finished, Pool, Request
from uigym.slot import Limits
from uigym.types import Action, Cause, Click, Done, Verdict, Wait

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
GYM = Path(__file__).parent / "gyms"
FRAIL = load(str(GYM / "frail.py"))
SLOTS = 3
ADD = Click(30, 10)
Deed = Callable[[Env], Awaitable[object]]


def button(name: str) -> Click:
    """The click on one of the product's faults."""
    listed = (GYM / "frail_product.py").read_text().split("FAULTS = (")[1].split(")")[0]
    place = re.findall(r'"(\w+)"', listed).index(name)
    return Click(32 + 64 * (place % 4), 30 + 20 * (place // 4))


# --- deeds -------------------------------------------------------------------------------------------------


def browser_of(env: Env) -> Browser:
    steady: Any = env._slot._given_browser
    return steady._shift.browser


def ticks(pid: int) -> int:
    """The CPU time that a process has had, in clock ticks; none once it is gone, as a spare renderer may be any time."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11])
    except OSError:
        return 0


def children(browser: Browser, kind: str) -> list[int]:
    """Chromium's processes of a kind, such as renderer."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            ours = os.getpgid(int(entry.name)) == browser.pid
            if ours and f"--type={kind} ".encode() in (entry / "cmdline").read_bytes().replace(b"\0", b" "):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


async def renderer_of(env: Env) -> int:
    """The process that draws the page: the one that is busy when the page is."""
    before = {pid: ticks(pid) for pid in children(browser_of(env), "renderer")}
    await env.session.page.evaluate("() => { const end = Date.now() + 300; while (Date.now() < end); }")
    return max(before, key=lambda pid: ticks(pid) - before[pid])


def sent_to(signal_: signal.Signals, who: Callable[[Env], int]) -> Deed:
    async def send(env: Env) -> None:
        os.kill(who(env), signal_)

    return send


def sent_to_product(signal_: signal.Signals) -> Deed:
    async def send(env: Env) -> None:
        launched: Any = env.product._launched
        os.killpg(launched.pid, signal_)

    return send


async def kill_renderer(env: Env) -> None:
    os.kill(await renderer_of(env), signal.SIGKILL)


async def kill_zygotes(env: Env) -> None:
    """The processes that Chromium makes others from."""
    for pid in children(browser_of(env), "zygote"):
        os.kill(pid, signal.SIGKILL)


async def crash(env: Env) -> None:
    going = asyncio.create_task(env.session.page.goto("chrome://crash"))
    await asyncio.wait([going], timeout=5)
    going.cancel()
    await asyncio.gather(going, return_exceptions=True)


async def cut_wire(env: Env) -> None:
    browser_of(env)._wire._socket._transport.abort()


def blind(times: int) -> Deed:
    """Pictures fail, so many times."""

    async def deed(env: Env) -> None:
        left, channel = times, env.session._shown.channel
        send = channel.send

        def failing(method: str, parameters: Any = None) -> Any:
            nonlocal left
            if method != "Page.captureScreenshot" or not left:
                return send(method, parameters)
            left -= 1
            failed = asyncio.get_running_loop().create_future()
            failed.set_exception(WireError("Unable to capture screenshot"))
            return failed

        channel.send = failing  # type: ignore[method-assign]

    return deed


# --- the matrix --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fault:
    """What is done in one episode, and what must come of it."""

    deed: Deed | Click | Wait
    cause: Cause | None
    """None: the episode goes on to its verdict."""
    says: str = ""
    shared: bool = False
    """It strikes all episodes of the browser, each once at most."""


NONE = Fault(Wait(0), None)
PRODUCT, BROWSER = Cause.PRODUCT, Cause.BROWSER
HUNG = "the page hung: .* in a browser that is sound"
FAULTS = {
    "a page hangs": Fault(button("hang"), PRODUCT, HUNG),
    "a frame hangs": Fault(button("hangframe"), PRODUCT, HUNG),
    "a worker spins": Fault(button("hangworker"), None),
    "a page takes all memory": Fault(button("oom"), PRODUCT, HUNG),
    "a page reloads for ever": Fault(button("reload"), PRODUCT, "the page (hung|reloaded)|reloads itself"),
    "a page closes itself": Fault(button("close"), PRODUCT, "the page closed itself"),
    "a page never rests": Fault(button("restless"), None),
    "a tab crashes": Fault(crash, BROWSER, "the page crashed"),
    "a renderer is killed": Fault(kill_renderer, BROWSER, "the page crashed"),
    "the browser is killed": Fault(sent_to(signal.SIGKILL, lambda e: browser_of(e).pid), BROWSER, "", True),
    "the browser stands still": Fault(sent_to(signal.SIGSTOP, lambda e: browser_of(e).pid), BROWSER, "", True),
    "the zygotes are killed": Fault(kill_zygotes, None, "", True),
    "the driver is killed": Fault(sent_to(signal.SIGKILL, lambda e: browser_of(e)._driver), BROWSER, "", True),
    "the driver stands still": Fault(sent_to(signal.SIGSTOP, lambda e: browser_of(e)._driver), None, "", True),
    "the wire is cut": Fault(cut_wire, BROWSER, "closed the connection", True),
    "a picture fails once": Fault(blind(1), None),
    "pictures always fail": Fault(blind(99), BROWSER, "Unable to capture"),
    "the product is killed": Fault(sent_to_product(signal.SIGKILL), PRODUCT, "signal SIGKILL"),
    "the product stands still": Fault(sent_to_product(signal.SIGSTOP), PRODUCT, "hangs"),
    "the product answers with an error": Fault(button("error"), PRODUCT, "HTTP status 500"),
    "the product answers nothing": Fault(button("silence"), PRODUCT),
    "the product answers garbage": Fault(button("garbage"), PRODUCT, "did not come"),
    "the product answers half": Fault(button("half"), PRODUCT),
    "the product resets the connection": Fault(button("reset"), PRODUCT, "did not come"),
    "the product sends in a circle": Fault(button("circle"), PRODUCT, "did not come"),
    "the product talks without end": Fault(button("talk"), None),
}


class Hand:
    """Adds one note, meets the fault if its episode is the first try of the victim, adds another if its seed is even."""

    name = "hand"

    def __init__(self, fault: Fault, envs: list[Env], env: Env | None = None):
        self.fault, self.envs, self.env = fault, envs, env

    def for_episode(self, env: Env) -> Hand:
        self.envs.append(env)
        return Hand(self.fault, self.envs, env)

    async def act(self, observation: Any, history: Any) -> Action:
        env = self.env
        assert env is not None and env._draft is not None
        match len(history):
            case 0:
                return ADD
            case 1 if env._draft.seed == 0 and env._draft.attempt == 0:
                if isinstance(self.fault.deed, Click | Wait):
                    return self.fault.deed
                await self.fault.deed(env)
                return Wait(0.1)
            case 1:
                return Wait(0.3)
            case 2:
                return ADD if env._draft.seed % 2 == 0 else Wait(0)
        return Done()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def warm() -> AsyncIterator[Pool]:
    async with Pool(
        FRAIL, slots=SLOTS, browsers=1, limits=Limits(step_s=4.0, reset_s=20.0), max_failure_rate=1
    ) as pool:
        yield pool
    assert census([]) == (0, 0, 0)


@pytest.fixture
def pool(warm: Pool, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pool]:
    monkeypatch.setattr(slot, "ANSWER_S", 1.0)
    monkeypatch.setattr(session, "LIMIT_S", 1.0)
    monkeypatch.setattr(launch, "SOUND_TIMEOUT_S", 4.0)
    monkeypatch.setattr(launch, "PREPARE_TIMEOUT_S", 5.0)
    warm._recent.clear()
    yield warm


def census(folders: Iterable[Path]) -> tuple[int, int, int]:
    """How many browsers, drivers and processes of products of this process there are, with folders that are left."""
    own = orphans.mark().removeprefix(orphans.SWITCH)
    browsers = [pid for pid, command in orphans._marked() if orphans.SWITCH + own in command]
    drivers = [int(e.name) for e in Path("/proc").glob("[0-9]*") if is_driver(e)]
    products = [pid for pid, token in strays._carriers() if token.startswith(own + "/")]
    assert not [folder for folder in folders if folder.exists()]
    return len(browsers), len(drivers), len(products)


def is_driver(entry: Path) -> bool:
    try:
        return orphans.parent(int(entry.name)) == os.getpid() and b"run-driver" in (entry / "cmdline").read_bytes()
    except OSError:
        return False


class Folders:
    """What browsers and products of a pool keep on the disk."""

    def __init__(self, pool: Pool):
        self.pool, self.seen = pool, set[Path]()

    def now(self) -> set[Path]:
        shift: Any = self.pool._browsers[0]._shift
        kept: Any = shift.browser._folder
        profile = Path((kept / "profile").read_text())
        found = {kept, profile, *(env.product.scratch for env in self.pool._envs)}
        self.seen |= found
        return found


async def play(pool: Pool, fault: Fault, seeds: Iterable[int], envs: list[Env]) -> dict[int, Finished]:
    wanted = [Request("two", seed) for seed in seeds]
    return {done.episode.seed: done async for done in pool.run(Hand(fault, envs), wanted)}


def verdicts(finished: Mapping[int, Finished]) -> dict[int, Verdict | None]:
    return {seed: done.episode.verdict for seed, done in finished.items()}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def undisturbed(warm: Pool) -> dict[int, Verdict | None]:
    found = verdicts(await play(warm, NONE, range(2 * SLOTS), []))
    assert [verdict and verdict.success for _, verdict in sorted(found.items())] == [True, False] * SLOTS
    return found


@pytest.mark.parametrize("name", FAULTS)
async def test_a_fault_is_one_failure_and_nobody_else_notices(
    pool: Pool, undisturbed: dict[int, Verdict | None], name: str
) -> None:
    fault, folders = FAULTS[name], Folders(pool)
    folders.now()
    finished = await asyncio.wait_for(play(pool, fault, range(SLOTS), []), 60)
    failures = [failure for failure in pool._recent if failure]
    assert len(failures) <= SLOTS if fault.shared else len(failures) == (fault.cause is not None), failures
    assert {failure.cause for failure in failures} <= {fault.cause or BROWSER}
    assert all(re.search(fault.says, failure.message) for failure in failures), failures
    assert finished[0].episode.attempt == (fault.cause is not None)
    assert all(finished[seed].episode.attempt <= fault.shared for seed in range(1, SLOTS))

    pool._recent.clear()
    after: list[Env] = []
    finished |= await asyncio.wait_for(play(pool, NONE, range(SLOTS, 2 * SLOTS), after), 60)
    assert verdicts(finished) == undisturbed
    assert set(after) == set(pool._envs)  # the slot of the fault is among them
    assert fault.shared or not any(pool._recent)

    await asyncio.gather(*pool._browsers[0]._leaving)
    assert census(folders.seen - folders.now()) == (1, 1, SLOTS)
