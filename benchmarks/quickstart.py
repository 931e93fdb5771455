"""The quickstart for several seeds, with its controls: what the README's numbers come from.

    python benchmarks/quickstart.py --seeds 0 1 2 --out benchmarks/results/quickstart.json

Controls: a policy that does nothing and one that acts at random, on the same held-out episodes; and, with
--shuffled, GRPO once more from the warm start of a seed, with each group's rewards handed out at random, from which
nothing can be learned.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from uigym import registry
from uigym.evaluate import evaluate
from uigym.harness import Split
from uigym.loop import run_sync
from uigym.policy.scripted import NoOpPolicy, RandomPolicy
from uigym.rollout import Pool
from uigym.train import quickstart
from uigym.train.config import RunConfig
from uigym.train.data import choose_tasks, spread_over
from uigym.train.folder import about
from uigym.train.run import Run

KEPT = ("success_rate", "low", "high", "episodes", "valid")


async def controls(count: int) -> dict[str, Any]:
    """Success of policies that cannot know anything."""
    harness = registry.load("kiosk")
    tasks = choose_tasks(harness, quickstart.CONFIG["data"]["tags"])
    wanted = spread_over(tasks, Split.HELDOUT, count)
    found = {}
    async with Pool(harness, slots=8) as pool:
        for name, policy in (("do nothing", NoOpPolicy()), ("random", RandomPolicy(seed=0))):
            result = evaluate([done.episode async for done in pool.run(policy, wanted)]).to_json()
            found[name] = {key: result[key] for key in KEPT}
    return found


def short(summary: dict[str, Any]) -> dict[str, Any]:
    """What is kept of a run's summary."""
    rates = {
        when: {way: {key: summary[when][way][key] for key in KEPT} for way in ("sampled", "greedy")}
        for when in ("before", "after")
    }
    points = {
        way: round(100 * (rates["after"][way]["success_rate"] - rates["before"][way]["success_rate"]), 1)
        for way in ("sampled", "greedy")
    }
    kept = ("seed", "wall_s", "phases", "episodes", "steps_per_s", "failures")
    return {**{key: summary[key] for key in kept}, "updates": len(summary["curve"]), **rates, "points_gained": points}


def run(out: Path, seed: int) -> dict[str, Any]:
    """One quickstart; a run that is complete is not made again."""
    folder = out / f"seed-{seed}"
    summary = folder / "summary.json"
    if not summary.exists():
        quickstart.main(folder, seed)
    return short(json.loads(summary.read_text()))


def run_shuffled(out: Path, seed: int) -> dict[str, Any]:
    """GRPO with shuffled rewards from a seed's warm start, for as long as in the quickstart, and the same test."""
    before = run(out, seed)["before"]
    values = quickstart.config(out / f"shuffled-{seed}", seed).model_dump()
    values["policy"]["model"]["path"] = str(out / f"seed-{seed}" / "warm")
    values["trainer"]["algorithm"]["shuffle_rewards"] = True
    return run_sync(_shuffled(RunConfig.model_validate(values), before))


async def _shuffled(settings: RunConfig, before: dict[str, Any]) -> dict[str, Any]:
    run = Run.begin(settings, print)
    try:
        async with run.pool() as pool:
            await run.reinforce(pool)
            found = {way: (await run.test(pool, greedy=way == "greedy"))[0].to_json() for way in ("sampled", "greedy")}
    finally:
        run.log.close()
    after = {way: {key: result[key] for key in KEPT} for way, result in found.items()}
    points = {way: round(100 * (after[way]["success_rate"] - before[way]["success_rate"]), 1) for way in after}
    return {"seed": settings.seed, "updates": run.done, "before": before, "after": after, "points_gained": points}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--shuffled", type=int, nargs="*", default=[], help="seeds of runs with shuffled rewards")
    parser.add_argument("--controls", type=int, default=150, help="episodes of each control")
    parser.add_argument("--runs", type=Path, default=Path("runs/benchmark"), help="folder of the runs")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/quickstart.json"))
    options = parser.parse_args()
    result: dict[str, Any] = {"command": "python " + " ".join(sys.argv), **about()}
    result["controls"] = asyncio.run(controls(options.controls)) if options.controls else {}
    result["seeds"], result["shuffled_rewards"] = [], []
    for key, seeds, play in (("seeds", options.seeds, run), ("shuffled_rewards", options.shuffled, run_shuffled)):
        for seed in seeds:
            result[key].append(play(options.runs, seed))
            options.out.parent.mkdir(parents=True, exist_ok=True)
            options.out.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
