"""The quickstart for several seeds, with its controls: what the README's numbers come from.

    python benchmarks/quickstart.py --seeds 0 1 2 --out benchmarks/results/quickstart.json

Controls: a policy that does nothing and one that acts at random, on the same held-out episodes; and, with
--shuffled, the same training with each group's rewards handed out at random, from which nothing can be learned.
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
from uigym.policy.scripted import NoOpPolicy, RandomPolicy
from uigym.rollout import Pool
from uigym.train import quickstart
from uigym.train.config import RunConfig
from uigym.train.data import choose_tasks, spread_over
from uigym.train.run import about

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


def run(out: Path, seed: int, shuffled: bool) -> dict[str, Any]:
    """One quickstart; a run that is complete is not made again."""
    folder = out / f"{'shuffled' if shuffled else 'seed'}-{seed}"
    summary = folder / "summary.json"
    if not summary.exists():
        settings = quickstart.config(folder, seed)
        if shuffled:
            values = settings.model_dump()
            values["trainer"]["algorithm"]["shuffle_rewards"] = True
            settings = RunConfig.model_validate(values)
        quickstart.main(folder, seed, settings=settings)
    return short(json.loads(summary.read_text()))


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
    for key, seeds, shuffled in (("seeds", options.seeds, False), ("shuffled_rewards", options.shuffled, True)):
        for seed in seeds:
            result[key].append(run(options.runs, seed, shuffled))
            options.out.parent.mkdir(parents=True, exist_ok=True)
            options.out.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
