"""What must hold of the episodes that were played: one function for each check."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
from collections.abc import Collection, Iterator, Sequence

from uigym.check.ends import apart
from uigym.check.findings import Finding, listed
from uigym.check.players import Moment
from uigym.errors import UIGymError
from uigym.harness import Instance, Task
from uigym.store import episode_from_json, episode_to_json
from uigym.types import Answer, Done, Episode, Stop, Verdict, Wait
from uigym.verify import judge

TRIES = 9
"""Random plays of a task and seed of which the first succeeded: on a small screen one may be luck."""
_DRAWS = 12
"""Seeds whose parameters are drawn where the ones that were played gave the same."""
LUCK = 1 / 3
"""Share of random plays that may succeed."""
_CLOCK = "take times and ids from the seed, not from the clock or the process, or leave the column out by the probe's ignore=(...)"


def reset(seed: int, episodes: Sequence[Episode]) -> Iterator[Finding]:
    """All episodes of one seed and first page, whatever the task and slot, begin with the same data and picture."""
    begun = [episode for episode in episodes if episode.before.tables and episode.steps]
    if len(begun) < 2:
        yield Finding("reset", "", seed, False, f"fewer than two resets worked{lost(episodes)}")
        return
    first = begun[0]
    for other in begun[1:]:
        if rows := apart(first.before, other.before):
            why = f"two resets gave different data: {listed(rows)}. Let the reset put everything back; if it does, {_CLOCK}"
            yield Finding("reset", "", seed, False, why)
            return
    yield Finding("reset", "", seed, True, f"{len(begun)} equal resets")
    pictures = {episode.steps[0].image for episode in begun}
    what = f"{len(begun)} resets gave {len(pictures)} different first pictures"
    hint = "look for times, random values or unfinished loading on the first page, and for what the product keeps in memory"
    good = len(pictures) == 1
    yield Finding("pixels", "", seed, good, f"{len(begun)} equal first pictures" if good else f"{what}: {hint}")


def still(episode: Episode) -> Finding:
    """Nothing changes while nobody acts."""
    rows = apart(episode.before, episode.after)
    why = f"the data changed though nobody did anything: {listed(rows)}. Do two slots share it, or does the product work by itself?"
    return Finding("still", episode.task, episode.seed, not rows, why if rows else "")


def seeds(task: Task, episodes: Sequence[Episode]) -> Iterator[Finding]:
    """Different seeds give different episodes."""
    begun = [episode for episode in episodes if episode.instruction]
    if len({episode.seed for episode in begun}) < 2:  # what lost the others is told elsewhere
        return
    told = [[e.params, e.before.digest(), e.appearance, [step.image for step in e.steps[:1]]] for e in begun]
    different = {json.dumps(each, sort_keys=True, default=str) for each in told}
    if len(different) > 1:
        yield Finding("seeds", task.name, None, True, f"{len(different)} different")
        return
    first = begun[0]
    if task.samplers and first.before.tables:  # two seeds may draw the same by chance
        draws = (task.instance(seed, first.before) for seed in range(_DRAWS))
        if len({json.dumps(dict(draw.params), sort_keys=True, default=str) for draw in draws}) > 1:
            yield Finding("seeds", task.name, None, True, "the same by chance")
            return
    why = "all seeds gave the same data, look and parameters, and the same first picture: let the reset or a sampler depend on the seed"
    yield Finding("seeds", task.name, None, False, why)


def sampling(task: Task, episode: Episode) -> Finding:
    """A seed gives the same parameters, whatever the process has drawn before."""
    place = ("sampling", task.name, episode.seed)
    kept = random.getstate()
    try:
        drawn = []
        for number in (1, 2):
            random.seed(number)
            again = task.instance(episode.seed, episode.before)
            drawn.append(json.dumps([dict(again.params), again.instruction], sort_keys=True, default=str))
    except UIGymError as exc:
        return Finding(*place, False, f"the second time its parameters could not be drawn: {exc}")
    finally:
        random.setstate(kept)
    told = json.dumps([dict(episode.params), episode.instruction], sort_keys=True, default=str)
    if {told, *drawn} == {told}:
        return Finding(*place, True)
    other = next(text for text in drawn if text != told) if drawn[0] != told or drawn[1] != told else drawn[1]
    why = (
        "draw with the samplers of uigym.params, which take the seed, never with `random`, a clock or an unordered set"
    )
    return Finding(*place, False, f"one seed gave different parameters, {told:.200} and {other:.200}: {why}")


def must_fail(name: str, episode: Episode, lucky: int = 0) -> Finding:
    """Doing nothing, or anything, is not paid."""
    verdict, place = episode.verdict, (name, episode.task, episode.seed)
    ask = "the verifier must ask for a change or an answer"
    if verdict is None:
        return Finding(*place, False, f"no verdict{lost([episode])}")
    if verdict.success and name == "noop":
        return Finding(*place, False, f"doing nothing passed as a success: the goal is reached from the start; {ask}")
    if verdict.success:
        how_often = f"{lucky} of {TRIES} random plays passed as a success"
        bad = lucky > LUCK * TRIES
        return Finding(*place, not bad, f"{how_often}: {ask} that is not hit by chance" if bad else how_often)
    return Finding(*place, True, f"score {verdict.score:g}")


def unseen(tables: Sequence[str]) -> Finding:
    """No table is left out of the state, but what only tells what happened."""
    why = (
        f"the state leaves out {' and '.join(tables)}, so that no verifier sees what is done there: let the probe read all "
        "tables, or name those that only tell what happened in the harness's logs=(...) as well"
    )
    return Finding("unseen", "", None, not tables, why if tables else "")


def oracle(task: Task, episode: Episode, again: Sequence[Episode] = ()) -> Iterator[Finding]:
    """The oracle passes, in time; `again` are further plays of one that did not."""
    verdict, place, steps = episode.verdict, (episode.task, episode.seed), len(episode.steps)
    rate = ""
    if again:
        passed = sum(other.verdict is not None and other.verdict.success for other in again)
        rate = f" (it passed {passed} of {len(again) + 1} plays)"
    if verdict is None:
        yield Finding("oracle", *place, False, f"no verdict{lost([episode])}{_told(episode)}{rate}")
        return
    if not verdict.success:
        ended = f"stopped by {episode.stop} after {steps} steps{_told(episode)}"
        yield Finding("oracle", *place, False, f"the oracle failed, {ended}: {verdict.reason}{rate}")
        return
    acts = [step for step in episode.steps if not isinstance(step.action, Wait | Done | Answer)]
    if not acts and episode.after != episode.before:
        why = (
            "the oracle changed the data without an act of mouse or keyboard, so nothing shows that an agent can do it"
        )
        yield Finding("oracle", *place, False, f"{why}: let it click and type")
    enough = steps <= task.max_steps
    yield Finding("oracle", *place, enough, f"{steps} steps of at most {task.max_steps}")
    if task.expected_steps is not None:
        good = steps <= task.expected_steps
        yield Finding("expected_steps", *place, good, f"{steps} steps, expected at most {task.expected_steps}")


def meant(instance: Instance | None, episode: Episode) -> Iterator[Finding]:
    """What the oracle did with other values of the parameters is right for the task with those."""
    if instance is None or episode.verdict is None:
        return
    try:
        found = judge(instance.verifier, dataclasses.replace(episode, verdict=None))
        why = "" if found.success else found.reason
    except UIGymError as exc:
        why = str(exc)
    if why:
        told = f"the oracle failed, stopped by {episode.stop} after {len(episode.steps)} steps, told {instance.instruction!r}"
        yield Finding("oracle", episode.task, episode.seed, False, f"{told}: {why}")


def _told(episode: Episode) -> str:
    looks = f" as {dict(episode.appearance)}" if episode.appearance else ""
    return f", told {episode.instruction!r}{looks}" if episode.instruction else ""


def replay(first: Episode, second: Episode, logs: Collection[str]) -> Iterator[Finding]:
    """The same acts from the same reset: the same data, and the same pictures."""
    place = (first.task, first.seed)
    if second.verdict is None:
        yield Finding("replay", *place, False, f"the oracle's acts could not be done again{lost([second])}")
        return
    if rows := apart(first.after, second.after, logs):
        yield Finding("replay", *place, False, f"the same acts ended with different data: {listed(rows)}. So {_CLOCK}")
        return
    yield Finding("replay", *place, True)
    pairs = zip(first.steps, second.steps, strict=False)
    differ = [number for number, (a, b) in enumerate(pairs, 1) if a.image != b.image]
    why = (
        f"the same acts gave another picture before act {differ[0]}: look for times, random values and animations"
        if differ
        else ""
    )
    yield Finding("pixels", *place, not differ, why)


def verdict(task: Task, seed: int, episodes: Sequence[Episode]) -> Iterator[Finding]:
    """The verdict of each stored episode, run again with parameters drawn again."""
    judged = [episode for episode in episodes if episode.verdict]
    for episode in judged:
        stored = episode_from_json(json.loads(json.dumps(episode_to_json(episode))))
        try:
            again = judge(task.instance(seed, stored.before).verifier, dataclasses.replace(stored, verdict=None))
        except UIGymError as exc:
            yield Finding("verdict", task.name, seed, False, f"on the stored episode the verifier raised: {exc}")
            return
        if stored != episode or again != episode.verdict:
            was = f"{episode.verdict}" if stored == episode else "the episode itself changed in storage"
            why = "a verifier must be a pure function of the episode"
            yield Finding("verdict", task.name, seed, False, f"first {was}, then {again}: {why}")
            return
    if judged:  # else what lost them is told elsewhere
        yield Finding("verdict", task.name, seed, True, f"{len(judged)} verdicts the same again")


def partial(task: Task, episode: Episode, trail: Sequence[Moment]) -> Finding:
    """Credit along the oracle's way never falls, and is not whole before the end of the work."""
    place = ("partial", task.name, episode.seed)
    verifier = task.instance(episode.seed, episode.before).verifier
    plain = dataclasses.replace(episode, verdict=None)
    scores = []
    for number, moment in enumerate(trail):
        so_far = dataclasses.replace(
            plain, after=moment.state, url=moment.url, steps=plain.steps[:number], answer=None, stop=Stop.MAX_STEPS
        )
        try:
            found: Verdict = judge(verifier, so_far)
        except UIGymError:  # asks for what only the end holds
            continue
        scores.append(found.score)
    scores.append(episode.reward or 0.0)
    for number, (before, after) in enumerate(itertools.pairwise(scores), 1):
        if after < before - 1e-9:
            why = f"act {number} of the oracle lowered the score from {before:g} to {after:g}"
            return Finding(*place, False, f"{why}: a policy would learn to stop before it, or to undo it")
    return Finding(*place, True, " ".join(f"{score:.2g}" for score in dict.fromkeys(scores)))


def lost(episodes: Sequence[Episode]) -> str:
    """The first failure among the episodes, as the end of a sentence."""
    failures = [episode.failure for episode in episodes if episode.failure]
    return f"; lost to the {failures[0].cause}: {failures[0].message}" if failures else ""
