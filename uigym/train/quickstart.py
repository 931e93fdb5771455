"""`make quickstart`: from a tiny model that reads to one that operates the kiosk, in minutes, on a CPU.

Check of the harness, demonstrations of the oracle, warm start, test on held-out seeds, layouts and themes, GRPO in
real Chromium, the same test again. Everything that the report says is measured in this run.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from uigym.errors import HarnessError
from uigym.evaluate import Evaluation
from uigym.loop import run_sync
from uigym.report import Clip, write_report
from uigym.rollout import Finished, Pool
from uigym.store import RunStore
from uigym.testing import check_harness
from uigym.train.config import RunConfig
from uigym.train.folder import about
from uigym.train.learner import Rates
from uigym.train.run import Run

CONFIG: dict[str, Any] = {
    "harness": "kiosk",
    "data": {"tags": ["short"], "val_episodes": 140},
    "trainer": {
        "warm_start": {"demonstrations": 600, "epochs": 2.0, "matrix_lr": 2e-3, "other_lr": 4e-4},
        "max_updates": 1000,
        "max_seconds": 450,
        "algorithm": {"passes": 2},
        "matrix_lr": 5e-4,
        "other_lr": 1.5e-4,
        "final_rate": 0.1,
        "save_every": 20,
    },
    "inference": {"slots": 8},
}


def config(out: Path, seed: int) -> RunConfig:
    """The run file of the quickstart."""
    return RunConfig.model_validate({**CONFIG, "out": out, "seed": seed})


def main(out: Path, seed: int = 0, *, settings: RunConfig | None = None, say: Callable[[str], None] = print) -> Path:
    """Run it all and write `out`/summary.json and `out`/report.html; returns the path of the report.

    Args:
        out: Folder of the results.
        seed: Of demonstrations, training and sampling; the test is the same for every seed.
        settings: Another run file than the quickstart's.
        say: Takes lines meant for a person.
    """
    return run_sync(_main(settings or config(out, seed), say))


async def _main(settings: RunConfig, say: Callable[[str], None]) -> Path:
    clock = Clock(say)
    run = Run.begin(settings, say)
    try:
        with clock.phase("check"):
            await _check(run)
        async with run.pool() as pool:
            with clock.phase("demonstrations"):
                shown = await run.demonstrate(pool)
            with clock.phase("warm start"):
                await run.imitate(shown)
                run.learner.save(settings.out / "warm")
            with clock.phase("test before"):
                before = await _test(run, pool)
            run.learner.set_rates(Rates(settings.trainer.matrix_lr, settings.trainer.other_lr))
            with clock.phase("GRPO"):
                await run.reinforce(pool)
            checkpoint = run.save()
            with clock.phase("test after"):
                after = await _test(run, pool)
        return _report(run, clock, checkpoint, before, after)
    finally:
        run.log.close()


class Clock:
    """Seconds of each phase."""

    def __init__(self, say: Callable[[str], None]):
        self.say = say
        self.phases: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time what is inside."""
        self.say(f"== {name}")
        begun = time.monotonic()
        try:
            yield
        finally:
            self.phases[name] = round(time.monotonic() - begun, 1)
            self.say(f"   {name}: {self.phases[name]:.0f} s")


async def _check(run: Run) -> None:
    report = await check_harness(run.harness, seeds=(0,), slots=run.config.inference.slots)
    bad = [finding for finding in report.findings if not finding.ok]
    if bad:
        raise HarnessError(
            f"{run.harness.name} is not sound: " + "; ".join(f"{f.task} {f.check}: {f.detail}" for f in bad[:5])
        )
    run.say(f"{run.harness.name} is sound: {len(report.findings)} findings, all fine")


async def _test(run: Run, pool: Pool) -> dict[str, tuple[Evaluation, list[Finished]]]:
    found = {"sampled": await run.test(pool), "greedy": await run.test(pool, greedy=True)}
    for way, (result, _) in found.items():
        run.say(f"held-out success, {way}: {result.success_rate:.1%} ({result.low:.1%} to {result.high:.1%})")
        run.log.write({"phase": "test", "way": way, "updates": run.done, **result.to_json()})
    return found


def _report(run: Run, clock: Clock, checkpoint: Path, before: Any, after: Any) -> Path:
    played = [f for found in (before, after) for _, episodes in found.values() for f in episodes]
    grpo_s = clock.phases["GRPO"]
    failures = Counter(str(f.episode.failure.cause) for f in played if f.episode.failure is not None)
    for row in run.curve:
        failures.update(row["failures"])
    summary = {
        "command": f"uigym quickstart --seed {run.config.seed}",
        "harness": run.harness.name,
        "seed": run.config.seed,
        "phases": clock.phases,
        "wall_s": round(sum(clock.phases.values()), 1),
        "before": {way: result.to_json() for way, (result, _) in before.items()},
        "after": {way: result.to_json() for way, (result, _) in after.items()},
        "curve": run.curve,
        "failures": dict(failures),
        "episodes": len(played) + run.config.trainer.warm_start.demonstrations + sum(r["episodes"] for r in run.curve),
        "steps_per_s": round(sum(row["steps"] for row in run.curve) / grpo_s, 2) if grpo_s else 0.0,
        "checkpoint": str(checkpoint),
        **about(),
    }
    out = run.config.out
    (out / "summary.json").write_text(json.dumps(summary, indent=2))
    clips = _clips(before["sampled"][1], after["sampled"][1])
    for clip, when in zip(clips, ("before", "after"), strict=False):
        RunStore(out / "clips" / when).write(clip.episode, clip.images)
    report = write_report(summary, out, clips)
    run.say(f"report: {report}")
    return report


def _clips(before: Sequence[Finished], after: Sequence[Finished]) -> list[Clip]:
    """An episode before training and the same task and seed after it, where training made the difference if it did."""
    first = {(f.episode.task, f.episode.seed): f for f in before if f.episode.verdict}
    pairs = [(first[key], f) for f in after if f.episode.verdict and (key := (f.episode.task, f.episode.seed)) in first]
    if not pairs:
        return []

    def learned(pair: tuple[Finished, Finished]) -> tuple[bool, int]:
        old, new = (bool(f.episode.verdict and f.episode.verdict.success) for f in pair)
        return new and not old, len(pair[1].episode.steps)

    old, new = max(pairs, key=learned)
    return [Clip("before training", old.episode, old.images), Clip("after training", new.episode, new.images)]
