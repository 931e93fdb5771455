"""Is what a policy must find out given away where no person would see it?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uigym.check.mutants import Right
from uigym.check.players import ask

if TYPE_CHECKING:
    from uigym.env import Env

_LOOK = Path(__file__).with_name("leak.js").read_text()
_MOST_BODIES = 20
_TEXTUAL = re.compile(r"json|text/(?!css)|xml")
SHORTEST = 3
"""A shorter answer, such as a 7, is met anywhere by chance."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """What an agent could reach on the first page without seeing it."""

    texts: tuple[tuple[str, str], ...]
    """(where, text)."""
    answers: tuple[tuple[str, str], ...]
    """(address, text) of what the product sent for the page."""
    seen: str
    """What a person sees."""


async def look(env: Env) -> Hidden:
    """Everything on the first page of the episode that `env` was reset to."""
    page = env.session.page
    found: Any = await ask(page, _LOOK)
    cookies = [(f"the cookie {each.get('name')}", str(each.get("value", ""))) for each in await page.context.cookies()]
    bodies = []
    for url in dict.fromkeys(found["urls"][:_MOST_BODIES]):
        answer = await page.context.request.get(url, max_redirects=0, timeout=5000)
        if _TEXTUAL.search(answer.headers.get("content-type", "")):
            bodies.append((url, await answer.text()))
    return Hidden((*map(tuple, found["hidden"]), *cookies), tuple(bodies), found["seen"])


def leaks(rights: Sequence[Right], pages: Mapping[int, Hidden], shown: Mapping[int, str]) -> Iterator[str]:
    """Where the answer of a task can be had without looking for it, with every one of its seeds.

    One seed alone may be chance: a number is met in many places.

    Args:
        rights: A task's right ways, of several seeds.
        pages: What is hidden on the first page, by seed.
        shown: All that a person sees along the oracle's way, by seed.
    """
    told = [right for right in rights if right.episode.answer and len(right.episode.answer) >= SHORTEST]
    if len({right.episode.answer for right in told}) < 2:
        return
    if all(_holds(right.episode.instruction, right.episode.answer or "") for right in told):
        yield "the instruction itself says the answer"
    places = [set(_places(right, pages[right.instance.seed], shown)) for right in told if right.instance.seed in pages]
    for place in sorted(set.intersection(*places)) if len(places) > 1 else ():
        yield f"the answer stands in {place} of the first page, where a program finds it and no person does"


def given_away(hidden: Hidden, secret: str) -> list[str]:
    """Where the first page, or what the product sent for it, holds the secret of the control paths."""
    if not secret:
        return []
    texts = (*hidden.texts, *hidden.answers, ("the page", hidden.seen))
    return [place for place, text in texts if secret in text]


def untried(rights: Sequence[Right]) -> str:
    """Why a task's answers say nothing about leaks; empty if they do."""
    answers = {right.episode.answer for right in rights if len(right.episode.answer or "") >= SHORTEST}
    if len(answers) > 1:
        return ""
    return f"not tried: it takes two seeds with different answers of {SHORTEST} characters or more"


def _places(right: Right, hidden: Hidden, shown: Mapping[int, str]) -> Iterable[str]:
    answer = right.episode.answer or ""
    if _holds(hidden.seen, answer):
        return
    for place, text in hidden.texts:
        if _holds(text, answer):
            yield place
    if not _holds(shown.get(right.instance.seed, ""), answer):  # else it is what a page was sent to show later on
        for url, text in hidden.answers:
            if _holds(text, answer):
                yield f"what the product sent from {re.sub(r'^https?://[^/]+', '', url).partition('?')[0]}"


def _holds(text: str, answer: str) -> bool:
    """Whether the text has the answer as a word of its own."""
    return re.search(rf"(?<![\w.,]){re.escape(answer)}(?![\w]|[.,]\d)", text, re.IGNORECASE) is not None
