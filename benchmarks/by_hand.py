"""Do demonstrations that were given on the recorder's page count, and play again?

    python benchmarks/by_hand.py --out benchmarks/results/by_hand.json

A second browser does by hand, on the page, what the oracles of the bundled apps do: pointer, wheel and keys, dialogs and
files. Every demonstration is proven as it ends, and once more from the store afterwards.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from uigym import registry
from uigym.bench.machine import circumstances, load
from uigym.browser.find import find_chromium, version
from uigym.policy.scripted import OraclePolicy
from uigym.record import read_demo
from uigym.record.prove import prove
from uigym.rollout import Request, rollout
from uigym.store import RunStore

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from persons import person_at

APPS = ("kiosk", "desk", "shop", "mail", "plan", "books", "frontdesk", "backroom")


def wanted(count: int) -> list[tuple[str, Request]]:
    """Tasks of the apps in turn, each with another seed."""
    harnesses = {app: registry.load(app) for app in APPS}
    able = {app: [t.name for t in h.tasks.values() if t.solve is not None] for app, h in harnesses.items()}
    places = [(app, n // len(APPS)) for n, app in zip(range(count), APPS * count, strict=False)]
    return [(app, Request(able[app][turn * 7 % len(able[app])], turn)) for app, turn in places]


async def one(app: str, request: Request, folder: Path) -> dict[str, Any]:
    """Give one demonstration by hand, and play it again."""
    harness, store = registry.load(app), RunStore(folder)
    async for finished in rollout(harness, OraclePolicy(), [request], slots=1):
        played = finished.episode
    async with person_at(harness, [request], store) as (person, _):
        await person.showing()
        began = time.monotonic()
        result = await person.play([step.action for step in played.steps])
        seconds = time.monotonic() - began
    name = result["id"]
    demo = read_demo(store, name)
    assert demo is not None and demo.proof is not None
    episode = store.episode(name)
    again = await prove(harness, episode, demo)
    return {
        "task": f"{app}/{request.task}",
        "seed": request.seed,
        "steps": len(episode.steps),
        "oracle_steps": len(played.steps),
        "seconds": round(seconds, 1),
        "counts": demo.proof.counts,
        "counts_again": again.counts,
        "same_pictures": demo.proof.diverged_at is None,
        "reason": demo.proof.reason or again.reason,
    }


def main() -> None:
    """Give them all and write what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    before, rows = load(), []
    for app, request in wanted(given.count):
        with tempfile.TemporaryDirectory() as folder:
            rows.append(asyncio.run(one(app, request, Path(folder))))
        print(json.dumps(rows[-1]), flush=True)
    told = {
        "count": len(rows),
        "counting": sum(row["counts"] for row in rows),
        "counting_again": sum(row["counts_again"] for row in rows),
        "same_pictures": sum(row["same_pictures"] for row in rows),
        **circumstances(before, version(find_chromium())),
        "demonstrations": rows,
    }
    if given.out:
        given.out.write_text(json.dumps(told, indent=1) + "\n")
    print(f"{told['counting']} of {len(rows)} count, {told['counting_again']} of {len(rows)} again")


if __name__ == "__main__":
    main()
