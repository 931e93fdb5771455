"""Demonstrations as rows, and the warm start on them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest
import torch

from uigym.errors import ConfigError
from uigym.policy.hf import TransformersPolicy
from uigym.train.config import WarmStart
from uigym.train.imitate import demonstration_rows, imitate
from uigym.train.learner import Learner, Rates
from uigym.train.rows import Row
from uigym.types import Action, Click, Done, Episode, Move, StepRecord, Stop, Type, Verdict

Picture = Callable[..., bytes]
Tiny = Callable[..., TransformersPolicy]


def shown(*steps: tuple[Action, str | None]) -> Episode:
    records = tuple(StepRecord(f"{n:064x}", action, error=error) for n, (action, error) in enumerate(steps))
    return Episode("e", "kiosk", "order", 1, {}, "Order tea.", records, Stop.DONE, verdict=Verdict(1.0, True))


def test_steps_become_rows_with_what_was_done_before(tiny: Tiny) -> None:
    prompts = tiny().prompts
    episode = shown((Click(4, 4), None), (Type("no ice"), None), (Done(), None))
    rows = demonstration_rows(episode, prompts, 320, 256)
    said = ["<click><x0><y0>", "<type>no ice", "<done>"]
    assert [prompts.read(row.reply) for row in rows] == said
    assert [list(row.prompt) for row in rows] == [prompts.prompt("Order tea.", said[:n]) for n in range(3)]
    assert [row.image for row in rows] == [step.image for step in episode.steps]
    assert all(len(row.logprobs) == len(row.reply) for row in rows)


def test_what_was_refused_or_has_no_word_is_not_taught(tiny: Tiny) -> None:
    prompts = tiny().prompts
    steps = ((Click(4, 4), "off"), (Move(4, 4), None), (Click(4, 4, button="right"), None), (Done(), None))
    rows = demonstration_rows(shown(*steps), prompts, 320, 256)
    assert [prompts.read(row.reply) for row in rows] == ["<done>"]


def lessons(policy: TransformersPolicy, picture: Picture) -> tuple[list[Row], dict[str, bytes]]:
    pngs = {hashlib.sha256(png).hexdigest(): png for png in map(picture, range(4))}
    prompt = tuple(policy.prompts.prompt("Go on.", []))
    replies = [tuple(policy.prompts.reply(f"<click><x{n}><y{8 * n}>")) for n in range(4)]
    return [Row(k, prompt, r, (0.0,) * len(r)) for k, r in zip(pngs, replies, strict=True)], pngs


def test_a_warm_start_lowers_the_loss(tiny: Tiny, picture: Picture) -> None:
    policy = tiny()
    learner = Learner(policy, 64, 48, rates=Rates(1e-9, 1e-9))
    rows, pngs = lessons(policy, picture)
    told: list[tuple[int, int, float]] = []
    config = WarmStart(epochs=12, batch_rows=4, matrix_lr=5e-3, other_lr=5e-3)
    final = imitate(learner, rows, pngs, config, on_step=lambda *step: told.append(step))
    assert [(step, total) for step, total, _ in told] == [(n, 12) for n in range(1, 13)]
    assert final == pytest.approx(sum(loss for *_, loss in told[-3:]) / 3) and final < told[0][2] / 2


@pytest.mark.parametrize(
    ("epochs", "batch_rows", "steps"), [(1, 2, 2), (2.5, 2, 5), (0.5, 4, 1), (0.1, 4, 1), (3, 3, 4)]
)
def test_how_many_steps_a_warm_start_takes(
    tiny: Tiny, picture: Picture, epochs: float, batch_rows: int, steps: int
) -> None:
    policy = tiny()
    learner, told = Learner(policy, 64, 48, rates=Rates(1e-3, 1e-3)), list[int]()
    config = WarmStart(epochs=epochs, batch_rows=batch_rows)
    imitate(learner, *lessons(policy, picture), config, on_step=lambda step, total, loss: told.append(total))
    assert told == [steps] * steps


def test_nothing_to_imitate_is_told(tiny: Tiny) -> None:
    learner = Learner(tiny(), 64, 48, rates=Rates(1e-3, 1e-3))
    with pytest.raises(ConfigError, match="there is nothing to imitate"):
        imitate(learner, [], {}, WarmStart())


def test_the_same_seed_learns_the_same(tiny: Tiny, picture: Picture) -> None:
    def learned(seed: int) -> torch.Tensor:
        policy = tiny()
        learner = Learner(policy, 64, 48, rates=Rates(1e-3, 1e-3))
        imitate(learner, *lessons(policy, picture), WarmStart(epochs=1, batch_rows=2), seed=seed)
        return policy.model.lm_head.weight.detach().clone()

    first, again, other = learned(1), learned(1), learned(2)
    assert torch.equal(first, again) and not torch.equal(first, other)
