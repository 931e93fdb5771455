"""One rank of an engine that trains: `python engine_rank.py CHECKPOINT OUT PRECISION`. Rank 0 writes OUT.json."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parent.parent))
from rows import sampled

from uigym.models import families
from uigym.train.engine import Engine, EngineSettings


def begin(folder: Path, precision: str) -> Engine:
    """An engine as all ranks make it."""
    given = {"precision": precision, "vision": precision == "fp32"}
    settings = EngineSettings(rate=1e-3, budget=400, recompute=0.5, **given)  # type: ignore[arg-type]
    return Engine(families.open(folder), folder, settings, device="cpu")


def learn(engine: Engine, out: Path) -> dict[str, Any]:
    """Three updates with a checkpoint before the last, and what came of them."""
    rows, pngs = sampled(engine.family, [2, 0, 1])
    scores = engine.score(rows, pngs)
    rows = [dataclasses.replace(row, logprobs=tuple(score)) for row, score in zip(rows, scores, strict=True)]
    numbers = [engine.train(rows, [1.0, -1.0, 0.5], pngs, denominator=20.0), engine.imitate(rows, pngs)]
    engine.checkpoint(out, {"seen": 2})
    numbers.append(engine.imitate(rows, pngs))
    weights = {name: float(value.double().abs().sum()) for name, value in engine.named()}
    return {"numbers": numbers, "weights": weights}


def main(folder: Path, out: Path, precision: str) -> None:
    torch.set_num_threads(1)
    engine = begin(folder, precision)
    if not engine.ranks.leads:
        return engine.follow()
    out.with_suffix(".json").write_text(json.dumps(learn(engine, out)))
    engine.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
