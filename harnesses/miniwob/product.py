"""MiniWoB++ as PyPI has it: each page draws a problem from the episode's seed, and keeps its own reward."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from uigym import Harness, Verifier, all_of
from uigym.harnesses.miniwob.words import REWARD, rewarded, told
from uigym.params import computed
from uigym.product.installs import Pip
from uigym.surroundings import Surroundings
from uigym.types import State
from uigym.verifiers.page import url_matches
from uigym.verifiers.state import unchanged

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
    html = next(Path(pip).glob("lib/python3*/site-packages/miniwob/html"))
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


def add(page: str, *tags: str, max_steps: int) -> None:
    """A page of MiniWoB as a task of the same name."""

    def task(utterance: str = computed(lambda state, _: told(state)["utterance"])) -> Verifier:
        return all_of(rewarded, url_matches(f"/miniwob/{page}.html"), unchanged(except_=REWARD))

    task.__name__, home = page, f"/miniwob/{page}.html"
    MINIWOB.task(*WORDINGS, heldout_wordings=HELDOUT, max_steps=max_steps, tags=tags, home=home)(task)


def oracle(*names: str, steps: int) -> Callable[[Oracle], Oracle]:
    """Decorator: the solution of these tasks, which takes at most so many actions."""

    def note(solution: Oracle) -> Oracle:
        for name in names:
            task = MINIWOB.find_task(name)
            task.oracle(solution)
            task.expected_steps, task.max_steps = steps, 3 * steps
        return solution

    return note
