"""The whole of training on one GPU: warm start, GRPO with vLLM and real Chromium, tests on held-out seeds, for several seeds.

    python benchmarks/gpu/kiosk.py --out runs/gpu                       one GPU, three seeds, the tiny model
    python benchmarks/gpu/kiosk.py --out runs/gpu --model small         49 million random parameters
    python benchmarks/gpu/kiosk.py --out runs/two trainer.max_staleness=1 inference.vllm.gpus=1 inference.vllm.transfer=nccl
    python benchmarks/gpu/kiosk.py --out runs/toy --toy                 a rehearsal on a CPU, minutes

What follows the options changes the run file, as with `uigym train`. Each seed is a run of its own in OUT/seed-N, with
its page; a run that was cut off goes on. OUT/gpu.json, OUT/gpu.html and OUT/gpu.png sum them up; --keep DIR copies them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

sys.path.insert(0, str(Path(__file__).parent))

import summary
from model import small_checkpoint

from uigym.report.gallery import read_lines
from uigym.train.config import RunConfig, load
from uigym.train.folder import about
from uigym.train.start import train

BASE: dict[str, Any] = {
    "harness": "kiosk",
    "data": {"tags": ["short"], "val_episodes": 140},
    "policy": {"context": "hysteresis(1, 4)", "max_tokens": 160, "limit": 4096},
    "trainer": {
        "warm_start": {"demonstrations": 1500, "epochs": 12, "batch_rows": 64, "lr": 6e-4},
        "algorithm": {"name": "dapo", "group_size": 8, "groups_per_step": 16, "normalise": True},
        "max_updates": 1000,
        "max_staleness": 1,
        "lr": 3e-5,
        "warmup": 5,
        "recompute": 0.0,
        "micro_tokens": 65536,
        "picture_gradient": True,
        "save_every": 25,
        "test_every": 50,
        "threads": 8,
    },
    "inference": {
        "backend": "vllm",
        "slots": 32,
        "browsers": 8,
        "vllm": {"memory": 0.4, "replies": 128, "dtype": "bfloat16"},
    },
}
TINY = {
    "policy": {"model": {"path": "tiny"}, "context": "window(1)", "max_tokens": 32, "limit": 1024},
    "trainer": {
        "warm_start": {"demonstrations": 400, "epochs": 4, "batch_rows": 64, "lr": 5e-4},
        "algorithm": {"groups_per_step": 8},
        "precision": "fp32",
        "lr": 1e-4,
        "micro_tokens": 16384,
    },
    # Five small layers gain less by graphs than capturing them takes.
    "inference": {"vllm": {"dtype": "float32", "more": ["--enforce-eager"]}},
}
TOY = {
    "data": {"val_episodes": 4, "tasks": ["add_item", "open_ready"], "tags": []},
    "trainer": {
        "warm_start": {"demonstrations": 4, "epochs": 1, "batch_rows": 8},
        "algorithm": {"group_size": 4, "groups_per_step": 2, "refills": 1},
        **{"max_updates": 2, "test_every": None, "precision": "fp32", "threads": 1, "picture_gradient": False},
    },
    "inference": {"backend": "transformers", "slots": 2, "browsers": 1},
}


def merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """One nested mapping over another."""
    out = dict(base)
    for key, value in over.items():
        out[key] = merged(out[key], value) if isinstance(value, dict) and isinstance(out.get(key), dict) else value
    return out


def run_file(args: argparse.Namespace, seed: int) -> RunConfig:
    """The run file of a seed, written beside its results."""
    values = merged(BASE, {"trainer": {"max_seconds": args.minutes * 60}})
    if args.model == "tiny":
        values = merged(values, TINY)
    else:
        folder = args.out / "small"
        if not (folder / "model.safetensors").is_file():
            small_checkpoint(folder)
        values = merged(values, {"policy": {"model": {"path": str(folder)}}})
    values = merged(values, TOY if args.toy else {})
    if args.toy:
        del values["inference"]["vllm"]
    values |= {"seed": seed, "out": str(args.out / f"seed-{seed}")}
    path = args.out / f"seed-{seed}.yaml"
    path.write_text(yaml.safe_dump(values, sort_keys=False))
    return load(path, args.overrides)


@contextmanager
def watched_gpus(every_s: float = 1.0) -> Iterator[list[dict[str, float]]]:
    """Utilisation and memory of each GPU, sampled while what is inside runs; nothing where there is none."""
    found: list[dict[str, float]] = []
    if shutil.which("nvidia-smi") is None:
        yield found
        return
    over = threading.Event()

    def look() -> None:
        asked = ["nvidia-smi", "--query-gpu=index,utilization.gpu,memory.used", "--format=csv,noheader,nounits"]
        while not over.wait(every_s):
            told = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
            for line in told.splitlines():
                number, busy, memory = (float(part) for part in line.split(","))
                found.append({"at": time.time(), "gpu": number, "busy": busy / 100, "mib": memory})

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        over.set()
        thread.join()


def sum_up(config: RunConfig, gpus: Sequence[dict[str, float]], wall_s: float) -> dict[str, Any]:
    """What one seed's run came to."""
    rows = list(read_lines(config.out / "metrics.jsonl"))
    tests = [row for row in rows if row.get("phase") == "test"]
    updates = list({row["update"]: row for row in rows if row.get("phase") == "grpo"}.values())
    seconds = max((row["wall_s"] for row in updates), default=0.0)
    kept = ("update", "success_rate", "low", "high", "episodes", "valid", "failures")
    episodes, steps = (sum(row.get(key, 0) for row in updates) for key in ("episodes", "steps"))

    def mean(key: str) -> float | None:
        values = [row[key] for row in updates if key in row]
        return round(statistics.fmean(values), 4) if values else None

    update_s = seconds / len(updates) if updates else 0.0
    return {
        "seed": config.seed,
        "before": {key: tests[0][key] for key in kept},
        "after": {key: tests[-1][key] for key in kept},
        "tests": [{key: test[key] for key in kept[:4]} for test in tests],
        "curve": [{key: row.get(key) for key in ("update", "wall_s", "reward/mean", "success/all", "gap/mean", "staleness/mean")} for row in updates],
        "updates": len(updates),
        "wall_s": round(wall_s, 1),
        "grpo_s": round(seconds, 1),
        "actions_per_minute": round(60 * steps / seconds, 1) if seconds else None,
        "episodes_per_hour": round(3600 * episodes / seconds) if seconds else None,
        "utilisation": {name: mean(f"util/{name}") for name in ("env", "env_acting", "sampler", "trainer")},
        "gpu": {f"gpu{int(n)}": round(statistics.fmean(g["busy"] for g in gpus if g["gpu"] == n), 3) for n in sorted({g["gpu"] for g in gpus})},
        "gpu_peak_mib": max((g["mib"] for g in gpus), default=None),
        "seconds_of_an_update": {name: mean(f"time/{name}") for name in ("rollout", "learn", "sync", "pause")},
        "pause_share": round((mean("time/pause") or 0.0) / update_s, 4) if update_s else None,
        "tokens_per_s": mean("tokens/s"),
        "gap": {"mean": mean("gap/mean"), "max": max((row.get("gap/max", 0.0) for row in updates), default=None)},
        "failures": {k.removeprefix("failures/"): sum(row.get(k, 0) for row in updates) for k in sorted({k for row in updates for k in row if k.startswith("failures/")})},
    }  # fmt: skip


def main() -> None:
    """Run all seeds that are not done, and sum up."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/gpu"))
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--minutes", type=float, default=5.0, help="of GRPO, for each seed")
    parser.add_argument("--model", choices=["tiny", "small"], default="tiny")
    parser.add_argument("--toy", action="store_true", help="rehearse on a CPU")
    parser.add_argument("--keep", type=Path, help="folder that the summary is copied to")
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    runs = []
    for seed in [int(n) for n in args.seeds.split(",")]:
        done = args.out / f"seed-{seed}.json"
        if not done.is_file():
            config = run_file(args, seed)
            begun = time.monotonic()
            with watched_gpus() as gpus:
                train(config, lambda line, seed=seed: print(f"[seed {seed}] {line}", flush=True))
            done.write_text(json.dumps(sum_up(config, gpus, time.monotonic() - begun), indent=1))
        runs.append(json.loads(done.read_text()))
        config_json = json.loads((args.out / f"seed-{seed}" / "run.json").read_text())["config"]
        command = " ".join(["python", "benchmarks/gpu/kiosk.py", *sys.argv[1:]])
        found = {"command": command, "model": args.model, **about(), "config": config_json, "runs": runs}
        (args.out / "gpu.json").write_text(json.dumps(found, indent=1))
        asyncio.run(summary.write(found, args.out))
    if args.keep:
        for name in ("gpu.json", "gpu.html", "gpu.png"):
            shutil.copy(args.out / name, args.keep / name)


if __name__ == "__main__":
    main()
