"""How fast oracles give demonstrations: recorded, judged, and a sample of them played again.

    python benchmarks/demos.py desk --demos 1000 --workers 2 --slots 3 --out benchmarks/results/demos.json

Every task of the app gets the same number of seeds, so there may be a few demonstrations more than were asked for.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from pathlib import Path
from typing import Any

from uigym import registry
from uigym.bench.machine import circumstances, load
from uigym.browser.find import find_chromium, version
from uigym.record import read_demo, solvable
from uigym.record.oracles import Order, Proven, Recording, record_played
from uigym.store import RunStore


def told(store: RunStore, recording: Recording, proven: Proven, seconds: float) -> dict[str, Any]:
    """What came of it, in numbers."""
    recorded_s = seconds - proven.seconds
    manifests = list(store.manifests())
    proofs = [demo.proof for name in store.ids() if (demo := read_demo(store, name)) is not None and demo.proof]
    return {
        "demonstrations": recording.kept,
        "actions": recording.steps,
        "left_out": dict(recording.left_out),
        "count": proven.counting,
        "played_again": proven.played,
        "do_not_count": proven.broken,
        "pictures_differ": sum(proof.diverged_at is not None for proof in proofs if proof.played),
        "appearances": len({json.dumps(each["appearance"], sort_keys=True) for each in manifests}),
        "instructions": len({each["instruction"] for each in manifests}),
        "seconds": {"recording": round(recorded_s, 1), "proving": round(proven.seconds, 1), "all": round(seconds, 1)},
        "per_minute": {
            "recording": round(60 * recording.kept / recorded_s, 1),
            "all": round(60 * recording.kept / seconds, 1),
        },
        "megabytes": round(sum(path.stat().st_size for path in store.directory.rglob("*") if path.is_file()) / 1e6),
    }


def main() -> None:
    """Record, prove, and write what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("harness", nargs="?", default="desk")
    parser.add_argument("--demos", type=int, default=1000, help="at least so many")
    parser.add_argument("--vary", type=int, default=1, help="looks and wordings of each task and seed")
    parser.add_argument("--prove", choices=("some", "all", "none"), default="some")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    parser.add_argument("--slots", type=int, default=3, help="episodes at once in each process")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    able, _ = solvable(registry.load(options.harness).tasks.values())
    order = Order(
        tasks=tuple(task.name for task in able),
        seeds=tuple(range(math.ceil(options.demos / (len(able) * options.vary)))),
        variations=options.vary,
        proving=options.prove,
        slots=options.slots,
        workers=options.workers,
    )
    before, began, done = load(), time.monotonic(), 0

    def hear(task: str, good: bool) -> None:
        nonlocal done
        done += 1
        if done % 50 == 0 or not good:
            print(f"{time.monotonic() - began:6.0f} s  {done} {task}{'' if good else ' failed'}", flush=True)

    with tempfile.TemporaryDirectory(prefix="uigym-demos-") as folder:
        store = RunStore(folder)
        recording, proven = record_played(options.harness, order, store, hear)
        found = told(store, recording, proven, time.monotonic() - began)
    results = {"harness": options.harness, "tasks": len(able), "seeds": len(order.seeds), **found}
    results |= {"workers": options.workers, "slots": options.slots}
    results |= circumstances(before, version(find_chromium()))
    print(json.dumps(results, indent=1, ensure_ascii=False))
    if options.out:
        options.out.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
