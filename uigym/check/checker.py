"""The check of a harness, from the first reset to the last mutant."""

from __future__ import annotations

import dataclasses
import inspect
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from pathlib import Path

from uigym.check import rules
from uigym.check.ambiguous import ambiguities
from uigym.check.attacks import attack, targets
from uigym.check.cover import covering
from uigym.check.ends import apart, paid, same_end, worked
from uigym.check.findings import CHECKS, Counts, Finding, Report, listed
from uigym.check.leaks import Hidden, given_away, leaks, look, untried
from uigym.check.mutants import Mutant, Right, boasts, full_plays, played, unplayed
from uigym.check.players import Watched
from uigym.check.stage import Played, Progress, Stage
from uigym.check.unseen import unseen
from uigym.env import Env
from uigym.errors import HarnessError, UIGymError, VerifierError
from uigym.harness import Harness, Instance, Task
from uigym.policy.scripted import NoOpPolicy, OraclePolicy, RandomPolicy, ReplayPolicy
from uigym.rollout import Pool, Request
from uigym.slot import Limits
from uigym.types import Episode, PageView, Stop
from uigym.verify import judge

_ORDER = list(CHECKS)
_ACT_S = 90.0
"""An oracle says by itself that it has waited too long; a page that is frozen does not."""
_RANDOM_STEPS = 12
"""Acts of the policy that does anything; enough to hit what is easily hit."""
_AGAIN = 4
"""Further plays of an oracle that failed, to tell one that flakes from one that is wrong."""
_HINTS = {
    "omitted": "let the verifier ask for what that act does",
    "wrong value": "compare what changed with the task's parameters, whole and typed",
    "twice": "count the rows: added(..., count=1) and unchanged() do",
    "extra": "add unchanged(except_=[...]) to the verifier",
    "undone": "judge what the product holds at the end, not that something happened on the way; name tables "
    "that only tell what happened in the harness's logs=(...)",
    "success text": "never look for words that the agent can write",
    "guesses": "compare the whole answer with a typed value, as equals() does, never by `in`",
    "other task": "ask for what is special about this task",
}


async def check_harness(
    harness: Harness,
    tasks: Iterable[str] | None = None,
    *,
    seeds: Sequence[int] = (0, 1),
    slots: int = 4,
    full: bool = False,
    reach: bool = True,
    progress: Progress | None = None,
) -> Report:
    """Play every task rightly and wrongly, and look at what is paid and what comes back after a reset.

    Args:
        harness: The harness to check.
        tasks: Names of the tasks; None checks all.
        seeds: Each task is played with each of these; wrong ways are made of the first one's right way.
        slots: Episodes at once; two are needed to see whether they share data.
        full: Every wrong way, with every seed, and every task in every appearance, instead of some of each.
        reach: Try also what the page can reach that it must not: the same whatever the tasks, and some seconds long.
        progress: Called after every episode.

    Raises:
        HarnessError: There is no such task, or the harness has none.
        ProductError, BrowserError: The product or the browser cannot be started at all.
    """
    chosen = [harness.find_task(name) for name in tasks] if tasks is not None else list(harness.tasks.values())
    if not chosen or not seeds:
        raise HarnessError(f"{harness.name}: nothing to check ({len(chosen)} tasks, {len(seeds)} seeds)")
    most = 3 * max(task.max_steps for task in chosen) + 20  # for work that is done twice
    limits = Limits(max_steps=most, act_s=_ACT_S)
    async with Pool(harness, slots=slots, limits=limits, max_failure_rate=1.0) as pool:
        return await _Check(Stage(pool, progress), harness, chosen, seeds, full).run(reach)


class _Check:
    """One run over one harness."""

    def __init__(self, stage: Stage, harness: Harness, tasks: Sequence[Task], seeds: Sequence[int], full: bool):
        self.stage = stage
        self.harness = harness
        self.tasks = tasks
        self.seeds = seeds
        self.full = full
        self.began = time.monotonic()
        self.counts = Counts()
        self.watched = Watched()
        self.every: list[Episode] = []
        self.findings: list[Finding] = []
        self.rights: dict[tuple[str, int], Right] = {}

    async def run(self, reach: bool) -> Report:
        """All checks, one after another.

        Raises:
            UIGymError: Not one episode can begin: then there is one thing to say, and not one for each task.
        """
        async with self.stage.pool.borrow() as env:
            await env.reset(self.tasks[0], self.seeds[0])
            self.findings.append(rules.unseen(await unseen(env.product)))
            self.tasks = [task for task in self.tasks if self._can_judge(task, env)]
        if not self.tasks:
            return self._report()
        base = [Request(task.name, seed) for task in self.tasks for seed in self.seeds]
        solvable = [request for request in base if self.harness.tasks[request.task].solve is not None]
        first = base if self.full else [request for request in base if request.seed == self.seeds[0]]
        noop, anything, oracle = await self.stage.play_all(
            (NoOpPolicy(), base), (RandomPolicy(steps=_RANDOM_STEPS), first), (self.watched, solvable)
        )
        looks = await self.stage.play(OraclePolicy(), covering(self.harness, self.tasks, self.seeds, self.full))
        self.every = [*noop.values(), *anything.values(), *oracle.values()]
        luck = await self._try_again([place for place, episode in anything.items() if paid(episode)])
        self._note_rights(oracle)
        await self._tasks(noop, anything, {**looks, **oracle}, luck)
        await self._mutants()
        await self._boasts()
        self._unplayed(noop)
        self._resets()
        await self._try("isolation", self._isolation)
        await self._try("leak", self._leaks)
        if reach:
            await self._try("reach", self._reach)
        return self._report()

    async def _try(self, check: str, doing: Callable[[], Awaitable[None]]) -> None:
        """What breaks here must not take all the rest with it."""
        try:
            await doing()
        except UIGymError as exc:
            self.findings.append(Finding(check, "", None, False, f"could not be tried: {exc}"))

    def _can_judge(self, task: Task, env: Env) -> bool:
        """Whether a task's parameters can be drawn and its verifier asks for nothing that is not there.

        Said once, before anything is played.
        """
        seed, state = self.seeds[0], env.before
        watched = env.harness.watch
        try:
            instance = task.instance(seed, state)
            for wording in (*task.wordings, *task.heldout_wordings):
                task.given(instance.params, seed, wording)
            idle = Episode(
                id="",
                harness=self.harness.name,
                task=task.name,
                seed=seed,
                params=instance.params,
                instruction=instance.instruction,
                steps=(),
                stop=Stop.DONE,
                before=state,
                after=state,
                watched=watched,
                page=PageView(env.session.url) if "page" in watched else None,
            )
            judge(instance.verifier, idle)
        except HarnessError as exc:
            self.findings.append(Finding("sampling", task.name, seed, False, f"{exc}{_place(task)}"))
            return False
        except VerifierError as exc:
            detail = f"where nothing was done, the verifier raised: {exc}{_place(task)}"
            self.findings.append(Finding("verdict", task.name, seed, False, detail))
            return False
        return True

    # --- right ways --------------------------------------------------------------------------------------------

    def _note_rights(self, oracle: Played) -> None:
        for place, episode in oracle.items():
            if paid(episode):
                instance = self.harness.tasks[episode.task].instance(episode.seed, episode.before)
                self.rights[place] = Right(instance, episode)

    async def _tasks(self, noop: Played, anything: Played, oracle: Played, luck: dict[tuple[str, int], int]) -> None:
        for task in self.tasks:
            if len(self.seeds) > 1:
                self.findings += rules.seeds(task, [e for e in self.every if e.task == task.name])
            for seed in self.seeds:
                place = (task.name, seed)
                self.findings.append(rules.must_fail("noop", noop[place]))
                if place in anything:
                    self.findings.append(rules.must_fail("random", anything[place], luck.get(place, 0)))
                if noop[place].verdict is not None:
                    self.findings += rules.still(noop[place]), rules.sampling(task, noop[place])
            if task.solve is None:
                hint = f"nothing shows that it can be solved: write @{task.name}.oracle"
                self.findings += [Finding("oracle", task.name, seed, False, hint) for seed in self.seeds]
            for place, episode in oracle.items():
                if place[0] == task.name:
                    again = [] if paid(episode) else await self._again(episode)
                    self.findings += rules.oracle(task, episode, again)
            self._stored(task)

    def _stored(self, task: Task) -> None:
        for seed in self.seeds:
            own = [episode for episode in self.every if (episode.task, episode.seed) == (task.name, seed)]
            self.findings += rules.verdict(task, seed, own)
            right = self.rights.get((task.name, seed))
            if right is not None:
                trail = self.watched.trails[right.episode.id]
                self.findings.append(rules.partial(task, right.episode, trail))
                unclear = list(ambiguities(right))
                self.findings.append(Finding("ambiguous", task.name, seed, not unclear, listed(unclear, 2)))

    async def _again(self, episode: Episode) -> list[Episode]:
        """An oracle that failed, a few times more."""
        if episode.verdict is None:
            return []
        requests = [(Request(episode.task, episode.seed, member=9000 + n), _AS_IT_IS) for n in range(_AGAIN)]
        return [other for _, other in await self.stage.mutants(requests)]

    async def _try_again(self, lucky: Sequence[tuple[str, int]]) -> dict[tuple[str, int], int]:
        """How many of all tries succeed where the first random play did, with other random actions each time."""
        successes = dict.fromkeys(lucky, 1)
        for number in range(1, rules.TRIES if lucky else 0):
            policy = RandomPolicy(number, steps=_RANDOM_STEPS)
            for place, episode in (await self.stage.play(policy, [Request(*place) for place in lucky])).items():
                successes[place] += paid(episode)
        return successes

    # --- wrong ways --------------------------------------------------------------------------------------------

    async def _mutants(self) -> None:
        chosen = [right for (_, seed), right in self.rights.items() if self.full or seed == self.seeds[0]]
        wanted: list[tuple[Request, Mutant]] = []
        for right in chosen:
            ways = [*self._ways(right, self.full), Mutant("replay", "", _replay_of(right))]
            place = (right.episode.task, right.episode.seed)
            wanted += [(Request(*place, member=1 + number), way) for number, way in enumerate(ways)]
        for mutant, episode in await self.stage.mutants(wanted):
            self.every.append(episode)
            right = self.rights[episode.task, episode.seed]
            if mutant.kind == "replay":
                self.findings += rules.replay(right.episode, episode, self.harness.logs)
            else:
                self._judged(mutant.kind, mutant.how, right, episode)
                self.findings += rules.meant(mutant.meant, episode)

    async def _boasts(self) -> None:
        """What is the same for all tasks of a seed is played once, and judged by each."""
        chosen = {seed: task for task, seed in reversed(self.rights) if self.full or seed == self.seeds[0]}
        wanted = [
            (Request(task, seed, member=7000 + number), way)
            for seed, task in chosen.items()
            for number, way in enumerate(boasts())
        ]
        for mutant, episode in await self.stage.mutants(wanted):
            self.every.append(episode)
            for right in self.rights.values():
                if right.episode.seed == episode.seed and episode.verdict:
                    self._judge(mutant.kind, mutant.how, right, episode)

    def _resets(self) -> None:
        for seed in self.seeds:
            pages: dict[str, list[Episode]] = defaultdict(list)
            for episode in self.every:
                if episode.seed == seed and episode.instruction:
                    home = self.harness.tasks[episode.task].home_with(episode.params, seed)
                    pages[home].append(episode)
            several = [begun for begun in pages.values() if len(begun) > 1]
            for begun in several or [[episode for episode in self.every if episode.seed == seed]]:
                self.findings += rules.reset(seed, begun)

    def _ways(self, right: Right, full: bool) -> list[Mutant]:
        known = [other for (task, _), other in self.rights.items() if task == right.episode.task]
        return list(played(right, self._others(right), known, full))

    def _others(self, right: Right) -> list[Instance]:
        """Other tasks with the same seed whose oracles change the product's data, the next ones first."""
        names = [task.name for task in self.tasks]
        start = names.index(right.episode.task) + 1
        found = [self.rights.get((name, right.episode.seed)) for name in names[start:] + names[: start - 1]]
        return [other.instance for other in found if other and worked(other.episode, self.harness.logs)]

    def _unplayed(self, noop: Played) -> None:
        for (name, seed), right in self.rights.items():
            same_seed = {task: other.episode for (task, own), other in self.rights.items() if own == seed}
            answers = [
                other.episode.answer
                for (task, own), other in self.rights.items()
                if task == name and own != seed and other.episode.answer
            ]
            for kind, how, episode in unplayed(
                right, noop[name, seed], same_seed, answers, self.harness.logs, self.full
            ):
                self._judge(kind, how, right, episode)

    def _judge(self, kind: str, how: str, right: Right, episode: Episode) -> None:
        """Judge an episode as a wrong way of another task than it was played for, or with another end."""
        own = dataclasses.replace(episode, task=right.episode.task, verdict=None)
        try:
            verdict = judge(right.instance.verifier, own)
        except UIGymError as exc:
            place = (right.episode.task, right.episode.seed)
            self.findings.append(
                Finding("verdict", *place, False, f"{how}, the verifier raised, where it should fail: {exc}")
            )
            return
        self._judged(kind, how, right, dataclasses.replace(own, verdict=verdict))

    def _judged(self, kind: str, how: str, right: Right, episode: Episode) -> None:
        """Count a wrong way, and say so if it was paid."""
        place = (kind, right.episode.task, right.episode.seed)
        if episode.verdict is None:
            return
        if same_end(right.episode, episode, self.harness.logs):
            self.counts = dataclasses.replace(self.counts, equal=self.counts.equal + 1)
            return
        bad = paid(episode)
        opinions = [part.score >= 1.0 for part in episode.verdict.parts if part.name.startswith("judge")]
        judged, fooled = self.counts.judged + len(opinions), self.counts.fooled + sum(opinions)
        self.counts = dataclasses.replace(self.counts, judged=judged, fooled=fooled)
        self.counts = dataclasses.replace(self.counts, mutants=self.counts.mutants + 1, paid=self.counts.paid + bad)
        rows = apart(right.episode.after, episode.after, self.harness.logs) if bad else []
        besides = f"; the oracle's own end differs in {listed(rows)}" if rows else ""
        self.findings.append(Finding(*place, not bad, f"paid {how}{besides}: {_HINTS[kind]}" if bad else ""))

    # --- the product ---------------------------------------------------------------------------------------------

    async def _isolation(self) -> None:
        """One slot waits while the others work: its data must not change."""
        working = [place for place, right in self.rights.items() if worked(right.episode, self.harness.logs)]
        trying = [(task.name, self.seeds[0]) for task in self.tasks if task.solve]  # sharing data may be why none works
        place = next(iter(working if self.rights else trying), None)
        if self.stage.pool.slots < 2 or place is None:
            why = "one slot alone" if self.stage.pool.slots < 2 else "no oracle changes the data"
            self.findings.append(Finding("isolation", "", None, True, f"not tried: {why}"))
            return
        task, seed = place
        async with self.stage.pool.borrow() as env:
            await env.reset(task, seed)
            before = await env.product.read_state()
            work = [(Request(task, seed, member=8000 + n), _AS_IT_IS) for n in range(self.stage.pool.slots - 1)]
            await self.stage.mutants(work)
            rows = apart(before, await env.product.read_state())
        why = "give each slot its own data: a folder, a database, a port; {workdir} and {port} are each slot's own"
        detail = f"what one slot did changed another's data: {listed(rows)}. So {why}" if rows else ""
        self.findings.append(Finding("isolation", task, seed, not rows, detail))

    async def _leaks(self) -> None:
        asked = {place: right for place, right in self.rights.items() if right.episode.answer}
        pages: dict[int, Hidden] = {}
        async with self.stage.pool.borrow() as env:
            for (task, seed), _ in asked.items():
                if seed not in pages:
                    await env.reset(task, seed)
                    pages[seed] = await look(env)
        by_task: dict[str, list[Right]] = defaultdict(list)
        for (task, _), right in asked.items():
            by_task[task].append(right)
        for task, rights in by_task.items():
            trails = {right.instance.seed: self.watched.trails[right.episode.id] for right in rights}
            shown = {seed: "\n".join(moment.text for moment in trail) for seed, trail in trails.items()}
            found = list(leaks(rights, pages, shown))
            detail = listed(found) if found else untried(rights)
            self.findings.append(Finding("leak", task, None, not found, detail))

    async def _reach(self) -> None:
        """What a page of the product gets at that it must not."""
        async with self.stage.pool.borrow() as env:
            await env.reset(self.tasks[0], self.seeds[0])
            told = given_away(await look(env), env.product.values.get("secret", ""))
            attempts = await attack(env, targets(env.product))
        through = [f"the secret of the control paths in {place}" for place in told]
        through += [f"{one.target} by {one.channel}: {one.detail}" for one in attempts if one.got_through]
        self.counts = dataclasses.replace(self.counts, attacks=len(attempts), reached=len(through))
        why = "move the control path to another port with a secret, out of what the product serves, or out of `allow`"
        detail = f"the page reached {listed(through)}: {why}" if through else f"{len(attempts)} attempts refused"
        self.findings.append(Finding("reach", "", None, not through, detail))

    # --- the result ----------------------------------------------------------------------------------------------

    def _report(self) -> Report:
        seconds = time.monotonic() - self.began
        counts = dataclasses.replace(
            self.counts, episodes=self.stage.count.done, seconds=seconds, full_seconds=self._full_seconds(seconds)
        )
        findings = sorted(_merged(self.findings), key=lambda finding: _ORDER.index(finding.check))
        return Report(self.harness.name, tuple(findings), counts)

    def _full_seconds(self, seconds: float) -> float:
        """How long the full check takes, if its episodes last as long as those that were played."""
        ways = sum(full_plays(right, self._others(right)) + 1 for right in self.rights.values())
        ways += len(boasts()) * len(self.seeds)
        looks = len(covering(self.harness, self.tasks, self.seeds, True))
        plays = ways + looks + 3 * len(self.tasks) * len(self.seeds)
        return seconds * plays / max(1, self.stage.count.done)


_AS_IT_IS = Mutant("oracle", "", lambda env: OraclePolicy().for_episode(env))


def _place(task: Task) -> str:
    """(crm.py, line 30): where the task is written."""
    code = inspect.unwrap(task.function).__code__
    return f" ({Path(code.co_filename).name}, line {code.co_firstlineno})"


def _replay_of(right: Right):  # type: ignore[no-untyped-def]
    return lambda env: ReplayPolicy(right.actions)


def _merged(findings: Sequence[Finding]) -> Iterator[Finding]:
    """One finding for all that is right of a check, task and seed; each wrong one as it is, and what is lost once."""
    told: dict[tuple[str, int | None], set[str]] = {}
    unequal = any(finding.check == "reset" and not finding.ok for finding in findings)
    seen: dict[tuple[str, str, int | None], list[Finding]] = defaultdict(list)
    for finding in findings:
        seen[finding.check, finding.task, finding.seed].append(finding)
    for group in seen.values():
        wrong = [finding for finding in group if not finding.ok]
        if wrong and unequal and wrong[0].check == "replay":
            wrong = [
                dataclasses.replace(
                    wrong[0], detail="the same acts ended with different data: resets differ, see there"
                )
            ]
        if wrong:
            again = told.setdefault((wrong[0].task, wrong[0].seed), set())
            yield from dict.fromkeys(finding for finding in wrong if finding.detail not in again)
            again |= {finding.detail for finding in wrong}
        else:
            details = dict.fromkeys(finding.detail for finding in group if finding.detail)
            yield dataclasses.replace(group[0], detail="; ".join(details) or f"{len(group)} tried")
