"""What becomes of an attempt that a person calls done: an episode in the store, its record, and whether it counts."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

from uigym.errors import StoreError, attribute
from uigym.harness import Harness
from uigym.record.demo import Demo, Proof, Way, write_demo
from uigym.record.events import Raw
from uigym.record.live import Live
from uigym.record.reduce import Act
from uigym.record.withhold import Withheld, withhold
from uigym.store import RunStore
from uigym.types import Answer, Done, Episode, StepRecord

HOVERS = (1, 4)
"""So many movements before an act are put back, one number after the other, where it does not count without."""


class Prove(Protocol):
    """`uigym.record.prove`, or what stands in for it."""

    def __call__(
        self, harness: Harness, episode: Episode, demo: Demo, *, told: Mapping[int, str] | None = None
    ) -> Awaitable[Proof]: ...


@dataclass(frozen=True, slots=True)
class Attempt:
    """A finished attempt."""

    episode: Episode
    """As it is stored."""
    demo: Demo
    """With its proof."""

    @property
    def proof(self) -> Proof:
        """Whether it counts."""
        proof = self.demo.proof
        assert proof is not None
        return proof


@dataclass(frozen=True, slots=True)
class Giver:
    """Who gives demonstrations, and through which door."""

    by: str = "person"
    way: Way = "web"


async def conclude(
    live: Live, ending: Answer | Done, store: RunStore, giver: Giver, prove: Prove, *, tell: Callable[[], None]
) -> Attempt:
    """End the attempt's episode, store it and prove it.

    A hover that may have been meant is left out if the demonstration counts without it; else it is put back.

    Args:
        live: The attempt; nothing is done in it any more.
        ending: What the person ends it with; the page may have ended it before.
        store: Where it goes.
        giver: For its record.
        prove: Plays it again.
        tell: Called once it is stored and the proof begins.

    Raises:
        ProductError, BrowserError, VerifierError: The machinery failed; nothing counts.
        StoreError: The folder cannot be written.
    """
    env, last = live.env, None if live.over else ending
    live.reducer.finish()
    lean, full = live.reducer.acts(), live.reducer.acts(HOVERS[-1])
    played = await env.end_by_hand(steps_of(live, lean), live.pictures(full), live.marks[-1].image, last)
    held = _withheld(live, played, lean)
    demo = _demo(played, env.harness, giver, held)
    with attribute(StoreError, f"cannot write the episode {played.id}"):
        _store(store, held.episode, env.images, demo, live.reducer.raws)
    tell()
    proof = await proven(prove, env.harness, held, demo)
    if not proof.counts and played.verdict is not None and played.verdict.success:
        for other in _with_hovers(live, played, lean):
            noted = replace(demo, notes=dict(other.notes))
            if (second := await proven(prove, env.harness, other, noted)).counts:
                held, demo, proof = other, noted, second
                _store(store, held.episode, env.images, demo, live.reducer.raws)
                break
    demo = replace(demo, proofs=(*demo.proofs, proof))
    write_demo(store, played.id, demo)
    return Attempt(held.episode, demo)


def _with_hovers(live: Live, played: Episode, lean: Sequence[Act]) -> Iterator[Withheld]:
    """The episode with movements that may have been needed, fewest first."""
    ends, counts = played.steps[len(lean) :], {len(lean)}
    for hovers in HOVERS:
        acts = live.reducer.acts(hovers)
        if len(acts) not in counts:
            counts.add(len(acts))
            yield _withheld(live, replace(played, steps=(*steps_of(live, acts), *ends)), acts)


async def proven(prove: Prove, harness: Harness, held: Withheld, demo: Demo) -> Proof:
    """The proof; what did not pass when it was recorded is not played again."""
    verdict = held.episode.verdict
    assert verdict is not None
    if verdict.success:
        return await prove(harness, held.episode, demo, told=held.told)
    reason = f"the verifier did not pass: {verdict.reason or f'score {verdict.score:g}'}"
    at = datetime.now(UTC).isoformat(timespec="seconds")
    return Proof(False, False, False, reason=f"{reason}; it was not played again", at=at)


def steps_of(live: Live, acts: Sequence[Act]) -> tuple[StepRecord, ...]:
    """The episode's steps: each act on the settled picture that it began on, with what came of it."""
    begins = [live.before(act) for act in acts]
    places = [live.marks.index(mark) for mark in begins] + [len(live.marks) - 1]
    steps = []
    for number, act in enumerate(acts):
        after = live.marks[places[number] + 1 : places[number + 1] + 1]
        seen = after[-1] if after else begins[number]
        steps.append(
            StepRecord(
                begins[number].image,
                act.action,
                events=tuple(event for mark in after for event in mark.events),
                settled=seen.settled,
                latency_ms=round(max(seen.at - act.until, 0.0) * 1000, 3),
                open=seen.open,
            )
        )
    return tuple(steps)


def write_events(store: RunStore, episode_id: str, raws: Sequence[Raw]) -> None:
    """Keep what the person did, event by event, beside the episode.

    Raises:
        StoreError: The folder cannot be written.
    """
    path = store.directory / "episodes" / episode_id / "events.jsonl"
    with attribute(StoreError, f"cannot write {path}"):
        path.write_text("".join(f"{json.dumps(raw.to_json())}\n" for raw in raws), encoding="utf-8")


def _store(store: RunStore, episode: Episode, images: Mapping[str, bytes], demo: Demo, raws: Sequence[Raw]) -> None:
    store.write(episode, images)
    write_events(store, episode.id, raws)
    write_demo(store, episode.id, demo)


def _withheld(live: Live, episode: Episode, acts: Sequence[Act]) -> Withheld:
    return withhold(episode, [n for n, act in enumerate(acts) if act.withheld], live.secrets)


def _demo(episode: Episode, harness: Harness, giver: Giver, held: Withheld) -> Demo:
    width, height = harness.viewport
    return Demo(giver.by, giver.way, width, height, episode.scale, notes=dict(held.notes))
