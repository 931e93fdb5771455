"""MiniWoB++ as PyPI has it: each page draws a problem from the episode's seed, and keeps its own reward."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from uigym import Harness, Verifier, all_of
from uigym.params import computed
from uigym.product.installs import Pip
from uigym.surroundings import Surroundings
from uigym.types import Episode, Part, State, Verdict
from uigym.verifiers.page import url_matches
from uigym.verifiers.state import unchanged
from uigym.verify import failed

VALUES = "browser.values"
WORDINGS = ("{utterance}", "Do what the page asks for: {utterance}", "{utterance} The page says the same in yellow.")
HELDOUT = ("Your task on this page: {utterance}",)
Oracle = Callable[..., Awaitable[str | None]]


async def no_data(product: Any) -> State:
    """The product keeps none: all that there is lies in the page."""
    return State({"package": ({"id": "miniwob", "version": "1.0"},)})


async def as_it_is(product: Any, seed: int, appearance: Any) -> None:
    """Nothing is left behind that could be put back."""


def pages(workdir: Path, pip: str) -> Starlette:
    """What the package brings along, as it is."""
    (html,) = Path(pip).glob("lib/python3*/site-packages/miniwob/html")
    return Starlette(routes=[Mount("/", StaticFiles(directory=html))])


MINIWOB = Harness(
    name="miniwob",
    install=(Pip("miniwob==1.0", deps=False),),
    asgi=pages,
    ready="/core/core.js",
    home="/miniwob/click-test.html",
    state=no_data,
    reset=as_it_is,
    init=Path(__file__).with_name("start.js").read_text(encoding="utf-8"),
    reads={
        "utterance": "(said => said.utterance ?? said)(core.getUtterance())",
        "done": "WOB_DONE_GLOBAL",
        "raw_reward": "WOB_RAW_REWARD_GLOBAL",
        "reason": "WOB_REWARD_REASON",
    },
    until="done",
    viewport=(320, 240),
    surroundings=Surroundings(random_seed=0),
)


def told(state: State) -> Mapping[str, Any]:
    """What the page said, by name."""
    return {row["name"]: row["value"] for row in state.tables.get(VALUES, ())}


def rewarded(episode: Episode) -> Verdict:
    """MiniWoB gave a reward above 0: that is its own measure of success, whatever the reward is."""
    end = told(episode.after)
    reward = end.get("raw_reward") or 0
    said = f"MiniWoB's own reward is {reward:g}" + (f" ({end['reason']})" if end.get("reason") else "")
    if not end.get("done"):
        return failed("reward", "expected a reward above 0, but MiniWoB was not done")
    if reward <= 0:
        return failed("reward", f"expected a reward above 0: {said}")
    return Verdict(1.0, True, (Part("reward", 1.0, said),))


def add(page: str, *tags: str, max_steps: int) -> None:
    """A page of MiniWoB as a task of the same name."""

    def task(utterance: str = computed(lambda state, _: told(state)["utterance"])) -> Verifier:
        given = [(VALUES, name) for name in ("done", "raw_reward", "reason")]
        return all_of(rewarded, url_matches(path), unchanged(except_=given))

    path = f"/miniwob/{page}.html"
    task.__name__ = page
    MINIWOB.task(*WORDINGS, heldout_wordings=HELDOUT, max_steps=max_steps, tags=tags, home=path)(task)


def oracle(*names: str, steps: int) -> Callable[[Oracle], Oracle]:
    """Decorator: the solution of these tasks, which takes at most so many actions."""

    def note(solution: Oracle) -> Oracle:
        for name in names:
            task = MINIWOB.find_task(name)
            task.oracle(solution)
            task.expected_steps, task.max_steps = steps, 3 * steps
        return solution

    return note


# --- words of the oracles ---


def quoted(utterance: str) -> list[str]:
    """What stands in quotes."""
    return re.findall(r'"([^"]*)"', utterance)


def whole(text: str) -> re.Pattern[str]:
    """This text and nothing else, for Playwright's has_text."""
    return re.compile(rf"^\s*{re.escape(text)}\s*$")


async def submit(page: Any) -> None:
    """Press the button that most pages end with."""
    await page.locator("#subbtn").click()
