"""Whether a demonstration counts: its actions played again from the same seed, and beside them an idle episode.

What counts as the same state is the harness's to say, as everywhere: columns that its probe leaves out, and tables and
columns that it names in `logs`, do not. Pictures are compared too, but alone they break no demonstration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import aclosing
from datetime import UTC, datetime

from uigym.check.findings import listed
from uigym.env import CAUSES
from uigym.harness import Harness
from uigym.record.again import Again, Wanted, play_again
from uigym.record.alike import diverged_at, recast, refused_at, unlike, without
from uigym.record.demo import Demo, Proof
from uigym.record.spelt import cleared
from uigym.record.vary import variation_of, varied
from uigym.record.withheld import with_texts, withheld_texts
from uigym.rollout import Pool
from uigym.slot import Limits
from uigym.types import Episode, Verdict

_ERRORS = {cause: kind for kind, cause in CAUSES.items()}


async def prove(
    harness: Harness,
    episode: Episode,
    demo: Demo,
    *,
    product_version: str = "",
    told: Mapping[int, str] | None = None,
    pool: Pool | None = None,
) -> Proof:
    """Play a demonstration again and say whether it counts.

    Args:
        harness: The product and its tasks.
        episode: The demonstration.
        demo: Its record.
        product_version: Of the product that is played on; for the proof.
        told: Texts of steps that were withheld and that a person has said just now.
        pool: Where it is played: open, of the demonstration's variation, with room for its steps; None makes one.

    Raises:
        ConfigError: A text that was withheld cannot be known.
        HarnessError: The task is not there any more, or its parameters cannot be drawn.
        ProductError, BrowserError, VerifierError: The machinery failed again and again: nothing is proven.
    """
    harness.find_task(episode.task)
    one = want(episode, demo, told)
    harness = varied(harness, variation_of(demo))
    if pool is None:
        async with Pool(harness, slots=1, limits=room(harness, len(episode.steps)), max_failure_rate=1.0) as own:
            again = await _once(own, one)
    else:
        again = await _once(pool, one)
    if (lost := again.lost) is not None:
        raise _ERRORS[lost.cause](cleared(lost.message, one.secrets))
    return proof(harness, again, product_version)


def want(episode: Episode, demo: Demo, told: Mapping[int, str] | None = None) -> Wanted:
    """What is to be played again.

    Raises:
        ConfigError: A text that was withheld cannot be known.
    """
    texts = withheld_texts(episode, demo, told)
    return Wanted(episode, with_texts(episode, texts), tuple(texts.values()))


def room(harness: Harness, steps: int) -> Limits:
    """Limits under which an episode of so many steps comes to its end."""
    return Limits(max_steps=max(steps + 1, *(task.max_steps for task in harness.tasks.values())))


def proof(harness: Harness, again: Again, product_version: str = "") -> Proof:
    """What was proven by a demonstration that was played again and not lost."""
    recorded, found = again.wanted.episode, again.episode
    verdict, idle = found.verdict, again.idle
    assert verdict is not None and isinstance(idle, Verdict)
    names, texts = recast(recorded, found), again.wanted.texts
    rows = unlike(without(recorded.after, names), without(found.after, names), harness.logs, texts)
    reasons = []
    if rows:
        reasons.append(f"it ended with other data, recorded -> now: {listed(rows)}")
    if not verdict.success:
        reasons.append(f"the verifier did not pass: {verdict.reason or f'score {verdict.score:g}'}")
    if reasons:
        reasons = [*_why(harness, again), *reasons]
    if idle.success:
        reasons.append("doing nothing passes as well, so that it shows nothing")
    return Proof(
        same_state=not rows,
        passes=verdict.success,
        idle_fails=not idle.success,
        diverged_at=diverged_at(recorded, found, again.late),
        reason=cleared("; ".join(reasons), again.wanted.secrets),
        product_version=product_version,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _why(harness: Harness, again: Again) -> Iterator[str]:
    """What went another way before the end, in that order."""
    recorded, found = again.wanted.episode, again.episode
    names = recast(recorded, found)
    if rows := unlike(without(recorded.before, names), without(found.before, names), harness.logs):
        yield f"it began with other data, recorded -> now: {listed(rows)}"
    if names:
        yield f"only one of the two products has {listed(names)}"
    for what, old, new in (
        ("parameter", recorded.params, found.params),
        ("appearance", recorded.appearance, found.appearance),
    ):
        for name in sorted({*old, *new}):
            if old.get(name) != new.get(name):
                yield f"{what} {name} was {old.get(name)!r:.100} and is {new.get(name)!r:.100}"
    if (number := refused_at(recorded, found)) is not None:
        yield f"step {number + 1} was refused: {found.steps[number].error}"
    if len(found.steps) < len(recorded.steps):
        yield f"it was over after {len(found.steps)} of {len(recorded.steps)} steps, by {found.stop}"


async def _once(pool: Pool, one: Wanted) -> Again:
    async with aclosing(play_again(pool, [one])) as playing:
        async for again in playing:
            return again
    raise AssertionError("a demonstration that is played comes to an end")
