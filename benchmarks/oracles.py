"""Do the oracles always succeed? Every task of a harness, on some seeds, in every appearance.

    python benchmarks/oracles.py desk shop --seeds 5 --out benchmarks/results/oracles.json

An appearance here is one value of each part; so many are played that every value of every part is seen with every seed.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import sys
import time
from collections import Counter
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


async def play(harness: Harness, seeds: int, most: int, slots: int) -> dict[str, Any]:
    """Play and count."""
    tasks = [task for task in harness.tasks.values() if task.solve is not None]
    wanted = [Request(task.name, seed) for task in tasks for seed in range(seeds)]
    looks, wrong, played, began = appearances(harness, most), [], Counter[str](), time.monotonic()
    for appearance in looks:
        async for done in rollout(fixed(harness, appearance), OraclePolicy(), wanted, slots=slots):
            episode = done.episode
            won = episode.verdict is not None and episode.verdict.success
            played["successes" if won else "others"] += 1
            if not won:
                why = episode.failure.message if episode.failure else episode.verdict.reason if episode.verdict else ""
                wrong.append({"task": episode.task, "seed": episode.seed, "appearance": appearance, "why": why[:500]})
                print(f"  {harness.name}/{episode.task} seed {episode.seed} {appearance}: {why[:200]}", flush=True)
    total = played.total()
    print(f"{harness.name}: {played['successes']} of {total} in {time.monotonic() - began:.0f} s", flush=True)
    counts = {"tasks": len(tasks), "seeds": seeds, "appearances": len(looks), "episodes": total}
    return {**counts, "successes": played["successes"], "wrong": wrong}


def main() -> None:
    """Play the harnesses one after the other and write what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("harness", nargs="*", help="all bundled ones without any")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--appearances", type=int, default=99, help="at most so many, evenly chosen")
    parser.add_argument("--slots", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    before, found = load(), dict[str, Any]()
    for name in options.harness or registry.names():
        playing = play(registry.load(name), options.seeds, options.appearances, options.slots)
        found[name] = asyncio.run(playing)
    if options.out:
        results = {"harnesses": found, **circumstances(before, version(find_chromium()))}
        options.out.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    sys.exit(any(each["wrong"] for each in found.values()))


if __name__ == "__main__":
    main()
