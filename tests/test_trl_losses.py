"""Our losses, corrections and advantages against TRL's own numbers. `make test-trl` makes the environment that it needs."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from uigym.train.advantage import group_advantages
from uigym.train.losses import LossSettings, Tokens, divisor, policy_loss

PYTHON = os.environ.get("UIGYM_TRL")
"""The interpreter of TRL's environment."""
WORKER = Path(__file__).parent / "workers" / "trl_losses.py"
LENGTHS = (1, 4, 7, 3, 5, 2)
LONGEST = 16
FAR = 1e6
"""A bound that drops nothing: TRL has none between new and old."""

pytestmark = pytest.mark.skipif(not PYTHON, reason="needs TRL in an environment of its own: make test-trl")

PLAIN = {"importance": "none", "drop": FAR, "dual_clip": None}
CLIP = {"epsilon": 0.2, "epsilon_high": 0.28}
NAMES: dict[str, tuple[LossSettings, dict[str, Any]]] = {
    "grpo": (LossSettings.of("grpo", normaliser="rows", **PLAIN), {"loss_type": "grpo", **CLIP}),
    "grpo, dual clip": (
        LossSettings.of("grpo", normaliser="rows", **{**PLAIN, "dual_clip": 1.5}),
        {"loss_type": "grpo", "delta": 1.5, **CLIP},
    ),
    "grpo, mean over tokens": (LossSettings.of("grpo", normaliser="tokens", **PLAIN), {"loss_type": "bnpo", **CLIP}),
    "grpo, penalty": (
        LossSettings.of("grpo", normaliser="rows", kl=0.2, **PLAIN),
        {"loss_type": "grpo", "beta": 0.2, "use_bias_correction_kl": True, **CLIP},
    ),
    "grpo, divided": (LossSettings(), {"scale_rewards": "group"}),
    "dr_grpo": (
        LossSettings.of("dr_grpo", k=LONGEST, **PLAIN),
        {"loss_type": "dr_grpo", "epsilon": 0.2, "epsilon_high": 0.2},
    ),
    "dapo": (LossSettings.of("dapo", **PLAIN), {"loss_type": "dapo", **CLIP}),
    "gspo": (
        LossSettings.of("gspo", **PLAIN),
        {"loss_type": "grpo", "importance_sampling_level": "sequence", "epsilon": 3e-4, "epsilon_high": 4e-4},
    ),
    "gspo, wide": (
        LossSettings.of("gspo", **PLAIN, clip_low=0.1, clip_high=0.1),
        {"loss_type": "grpo", "importance_sampling_level": "sequence", "epsilon": 0.1, "epsilon_high": 0.1},
    ),
    "cispo": (LossSettings.of("cispo", **PLAIN, clip_high=0.3), {"loss_type": "cispo", "epsilon_high": 1.3}),
}
"""By a name for people: ours, and TRL's."""
CORRECTIONS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "none": ({}, {}),
    "token, capped": (
        {"importance": "token", "cap": 1.2},
        {"mode": "token_truncate", "clip_max": 1.2, "clip_min": None},
    ),
    "token, dropped": (
        {"importance": "token", "cap": FAR, "drop": 1.3},
        {"mode": "token_mask", "clip_max": 1.3, "clip_min": 1 / 1.3},
    ),
    "sequence, capped": (
        {"importance": "sequence", "cap": 1.2},
        {"mode": "sequence_truncate", "clip_max": 1.2, "clip_min": None},
    ),
    "sequence, dropped": (
        {"importance": "sequence", "cap": FAR, "drop": 1.5},
        {"mode": "sequence_mask", "clip_max": 1.5, "clip_min": 1 / 1.5},
    ),
}
REWARDS: dict[str, list[float | None]] = {
    "all": [1.0, 0.0, 0.5, 0.25, 0.0, 1.0],
    "one lost": [1.0, None, 0.5, 0.25, 0.0, 1.0],
}
CASES = [("grpo", "none", "one lost")] + [
    (name, correction, "all")
    for name in NAMES
    for correction in CORRECTIONS
    if name != "grpo, divided" and (correction == "none" or "," not in name)
]
DIVIDED = [("grpo, divided", "none", rewards) for rewards in REWARDS]
Key = tuple[str, str, str]
"""Loss, correction, rewards."""


def logprobs(of: str, spread: float, around: list[list[float]] | None = None) -> list[list[float]]:
    """Rows of the lengths above; near others if there are any."""
    rng = random.Random(of)
    if around is None:
        return [[rng.uniform(-6, -0.7) for _ in range(length)] for length in LENGTHS]
    return [[value + rng.uniform(-spread, spread) for value in row] for row in around]


def case(key: Key) -> dict[str, Any]:
    name, correction, rewards = key
    # What drops looks at both ratios with us; TRL's mask only at the sampler's. So the weights have hardly moved there.
    moved = 0.25 if "dropped" in correction else 0.6
    new = logprobs("new", 0)
    old = logprobs("old", moved, new)
    config = {"beta": 0.0, "scale_rewards": "none", "max_completion_length": LONGEST, **NAMES[name][1]}
    for option, value in CORRECTIONS[correction][1].items():
        config[f"vllm_importance_sampling_{option}"] = value
    sampled = logprobs("sampled", 0.4, old) if correction != "none" else None
    reference = logprobs("reference", 1.0, new)
    return {
        "config": config, "new": new, "old": old, "sampled": sampled, "reference": reference, "rewards": REWARDS[rewards]
    }  # fmt: skip


def asked(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    assert PYTHON is not None
    done = subprocess.run(
        [PYTHON, str(WORKER)],
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": ""},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def answers() -> dict[Key, dict[str, Any]]:
    """TRL's, from one process."""
    return dict(zip(CASES + DIVIDED, asked([case(key) for key in CASES + DIVIDED]), strict=True))


def flat(rows: list[list[float]]) -> torch.Tensor:
    return torch.tensor([value for row in rows for value in row], dtype=torch.float64)


@pytest.mark.parametrize("key", CASES, ids=" + ".join)
def test_loss_and_gradient_are_those_of_trl(key: Key, answers: dict[Key, dict[str, Any]]) -> None:
    given, theirs = case(key), answers[key]
    settings = replace(NAMES[key[0]][0], **CORRECTIONS[key[1]][0])
    advantages = group_advantages(given["rewards"])
    new_T, old_T, lengths = flat(given["new"]).requires_grad_(), flat(given["old"]), torch.tensor(LENGTHS)
    sampled_T = flat(given["sampled"]) if given["sampled"] else old_T
    advantage_T = torch.from_numpy(advantages).repeat_interleave(lengths)
    row_T = torch.arange(len(lengths)).repeat_interleave(lengths)
    tokens = Tokens(old_T, sampled_T, advantage_T, row_T, flat(given["reference"]))
    by = divisor(settings, trajectories=len(lengths), rows=len(lengths), tokens=sum(LENGTHS))
    out = policy_loss(settings, new_T, tokens, denominator=by)
    (gradient,) = torch.autograd.grad(out.loss, new_T)
    assert out.loss.item() == pytest.approx(theirs["loss"], rel=1e-5, abs=1e-6)
    assert gradient.abs().max() > 1e-3
    if settings.name == "gspo" and settings.importance == "token":
        return  # TRL spreads the weight of one token over its row; with us it stays the token's, as its advantage does
    assert gradient.tolist() == pytest.approx(flat(theirs["gradient"]).tolist(), rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("rewards", REWARDS)
def test_advantages_are_those_of_trl(rewards: str, answers: dict[Key, dict[str, Any]]) -> None:
    assert answers["grpo", "none", rewards]["advantages"] == pytest.approx(
        group_advantages(REWARDS[rewards]).tolist(), abs=1e-6
    )


@pytest.mark.parametrize("key", DIVIDED, ids=" + ".join)
def test_divided_advantages_differ_by_the_deviation_of_a_sample(key: Key, answers: dict[Key, dict[str, Any]]) -> None:
    """TRL divides by the deviation with one degree of freedom less, and 1e-4 more."""
    found = REWARDS[key[2]]
    count = sum(r is not None for r in found)
    ours = group_advantages(found, normalise=True) * math.sqrt((count - 1) / count)
    assert answers[key]["advantages"] == pytest.approx(ours.tolist(), rel=1e-3)
