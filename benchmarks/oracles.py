"""Do the oracles always succeed? Every task of a harness, on some seeds, in every appearance.

    python benchmarks/oracles.py desk shop --seeds 5 --processes 2 --out benchmarks/results/oracles.json

An appearance here is one value of each part; so many are played that every value of every part is seen with every seed.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from uigym import registry
from uigym.bench.machine import circumstances, load
from uigym.browser.find import find_chromium, version
from uigym.harness import Harness, Looks
from uigym.policy.scripted import OraclePolicy
from uigym.rollout import Request, rollout


def appearances(harness: Harness, most: int) -> list[dict[str, str]]:
    """As many as the part with most values has, at most `most`: together they show every value, unless cut short."""
    values = {part: list(dict.fromkeys((*looks.train, *looks.heldout))) for part, looks in harness.looks.items()}
    count = max((len(each) for each in values.values()), default=1)
    shown = range(count) if count <= most else [i * count // most for i in range(most)]
    return [{part: each[i % len(each)] for part, each in values.items()} for i in shown]


def fixed(harness: Harness, appearance: dict[str, str]) -> Harness:
    """The same harness in that appearance alone."""
    logs = tuple(log for log in harness.logs if log.partition(".")[0] not in harness.beside)
    found = dataclasses.replace(harness, logs=logs, looks={part: Looks((value,)) for part, value in appearance.items()})
    for task in harness.tasks.values():
        found.tasks[task.name] = dataclasses.replace(task, harness=found)
    return found


def play(name: str, number: int, seeds: list[int], most: int, slots: int) -> dict[str, Any]:
    """Play all oracles of a harness in its appearance of that number; in a process of its own."""
    return asyncio.run(_play(registry.load(name), number, seeds, most, slots))


async def _play(harness: Harness, number: int, seeds: list[int], most: int, slots: int) -> dict[str, Any]:
    appearance, wrong, successes = appearances(harness, most)[number], list[dict[str, Any]](), 0
    wanted = [Request(task.name, seed) for task in harness.tasks.values() if task.solve for seed in seeds]
    async for done in rollout(fixed(harness, appearance), OraclePolicy(), wanted, slots=slots):
        episode = done.episode
        if episode.verdict is not None and episode.verdict.success:
            successes += 1
            continue
        why = episode.failure.message if episode.failure else episode.verdict.reason if episode.verdict else ""
        wrong.append({"task": episode.task, "seed": episode.seed, "appearance": appearance, "why": why[:500]})
    return {"harness": harness.name, "episodes": len(wanted), "successes": successes, "wrong": wrong}


def summed(name: str, parts: list[dict[str, Any]], seeds: int) -> dict[str, Any]:
    """What came of all appearances of a harness."""
    tasks = sum(task.solve is not None for task in registry.load(name).tasks.values())
    totals: Mapping[str, int] = {key: sum(part[key] for part in parts) for key in ("episodes", "successes")}
    wrong = [each for part in parts for each in part["wrong"]]
    return {"tasks": tasks, "seeds": seeds, "appearances": len(parts), **totals, "wrong": wrong}


def main() -> None:
    """Play the harnesses and write what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("harness", nargs="*", help="all bundled ones without any")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--deal", action="store_true", help="one seed for each appearance, instead of each with each")
    parser.add_argument("--appearances", type=int, default=99, help="at most so many, evenly chosen")
    parser.add_argument("--processes", type=int, default=1, help="appearances at once")
    parser.add_argument("--slots", type=int, default=3, help="episodes at once in each process")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    before, began = load(), time.monotonic()
    names, every = options.harness or registry.names(), list(range(options.seeds))
    jobs = [(name, at) for name in names for at in range(len(appearances(registry.load(name), options.appearances)))]
    parts: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    with ProcessPoolExecutor(options.processes, get_context("spawn"), max_tasks_per_child=1) as pool:
        dealt = [[at % options.seeds] if options.deal else every for _, at in jobs]
        asked = [(*job, seeds, options.appearances, options.slots) for job, seeds in zip(jobs, dealt, strict=True)]
        for running in [pool.submit(play, *each) for each in asked]:
            part = running.result()
            parts[part["harness"]].append(part)
            print(
                f"{part['harness']}: {part['successes']} of {part['episodes']}", *part["wrong"], sep="\n  ", flush=True
            )
    found = {name: summed(name, parts[name], options.seeds) for name in names}
    if options.out:
        results = {"seconds": round(time.monotonic() - began), "harnesses": found}
        results |= {"command": "python " + " ".join(sys.argv), **circumstances(before, version(find_chromium()))}
        options.out.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    sys.exit(any(each["wrong"] for each in found.values()))


if __name__ == "__main__":
    main()
