"""The weights that learn: what a step changes, and what it leaves alone."""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections.abc import Callable, Iterator

import pytest
import torch

from uigym.policy.hf import TransformersPolicy
from uigym.train.batch import reply_logits
from uigym.train.learner import Learner, Rates, known, merged
from uigym.train.losses import LossSettings, policy_loss
from uigym.train.rows import Row
from uigym.types import Observation

Picture = Callable[..., bytes]
Tiny = Callable[..., TransformersPolicy]
CLIP = (0.2, 0.28)


def learner_of(policy: TransformersPolicy, *, rate: float = 1e-3, picture_gradient: bool = False) -> Learner:
    return Learner(policy, 64, 48, rates=Rates(rate, rate), picture_gradient=picture_gradient)


def sampled(policy: TransformersPolicy, picture: Picture, count: int) -> tuple[list[Row], dict[str, bytes]]:
    """Rows as the policy samples them, and their pictures."""
    seen = [Observation(picture(n % 3), 64, 48, f"Open item {n}.") for n in range(count)]

    async def play() -> list[Row]:
        return [decision.sample for decision in await asyncio.gather(*(policy.act(o, ()) for o in seen))]

    return asyncio.run(play()), {o.image_hash: o.png for o in seen}


def taught(policy: TransformersPolicy, picture: Picture, *actions: str) -> tuple[list[Row], dict[str, bytes]]:
    """One row for each action, all about one picture and instruction."""
    png = picture()
    key = hashlib.sha256(png).hexdigest()
    prompt = tuple(policy.prompts.prompt("Go on.", []))
    replies = [tuple(policy.prompts.reply(action)) for action in actions]
    rows = [Row(key, prompt, reply, (-1.0,) * len(reply)) for reply in replies]
    return rows, {key: png}


@torch.no_grad()
def logprobs(learner: Learner, rows: list[Row], pngs: dict[str, bytes]) -> list[float]:
    """Of each whole reply, now."""
    logits, target = reply_logits(learner.cache, pngs, rows, learner.policy.prompts.banned)
    tokens = iter(logits.log_softmax(-1).gather(1, target[:, None])[:, 0].tolist())
    return [sum(next(tokens) for _ in row.reply) for row in rows]


def with_logprobs(learner: Learner, rows: list[Row], pngs: dict[str, bytes]) -> list[Row]:
    """The rows as if the policy had just sampled them."""
    with torch.no_grad():
        logits, target = reply_logits(learner.cache, pngs, rows, learner.policy.prompts.banned)
        tokens: Iterator[float] = iter(logits.log_softmax(-1).gather(1, target[:, None])[:, 0].tolist())
    return [Row(row.image, row.prompt, row.reply, tuple(next(tokens) for _ in row.reply)) for row in rows]


def weights(policy: TransformersPolicy) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in policy.model.state_dict().items()}


def changed(before: dict[str, torch.Tensor], policy: TransformersPolicy) -> set[str]:
    return {name for name, value in policy.model.state_dict().items() if not torch.equal(value, before[name])}


@pytest.mark.parametrize("picture_gradient", [False, True])
@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_trainer_and_sampler_agree(tiny: Tiny, picture: Picture, temperature: float, picture_gradient: bool) -> None:
    policy = tiny(temperature=temperature)
    learner = learner_of(policy, picture_gradient=picture_gradient)
    rows, pngs = sampled(policy, picture, 9)
    told = learner.reinforce(rows, [0.5, -0.5] * 4 + [1.0], pngs, denominator=40.0, clip=CLIP)
    assert told["gap"] <= 1e-4 and abs(told["kl"]) <= 1e-6
    assert told["clipped"] == told["dropped"] == 0 and told["entropy"] > 0 and told["gradient"] > 0
    again = learner.reinforce(rows, [0.5, -0.5] * 4 + [1.0], pngs, denominator=40.0, clip=CLIP)
    assert again["gap"] > 1e-4, "the weights have changed since"


def test_trainer_and_sampler_agree_on_what_is_banned(tiny: Tiny, picture: Picture) -> None:
    """A model that wants nothing but what it must not say: its other words have all of the probability in both."""
    policy = tiny()
    weight = policy.model.lm_head.weight
    policy.model.lm_head = torch.nn.Linear(weight.shape[1], weight.shape[0])
    with torch.no_grad():
        policy.model.lm_head.weight.copy_(weight)
        policy.model.lm_head.bias.zero_()
        policy.model.lm_head.bias[list(policy.prompts.banned)] = 50.0
    rows, pngs = sampled(policy, picture, 4)
    assert not {token for row in rows for token in row.reply} & set(policy.prompts.banned)
    told = learner_of(policy).reinforce(rows, [1.0, -1.0, 1.0, -1.0], pngs, denominator=40.0, clip=CLIP)
    assert told["gap"] <= 1e-4 and told["dropped"] == 0 and told["gradient"] > 0


def test_no_advantage_no_change(tiny: Tiny, picture: Picture) -> None:
    policy = tiny()
    learner, (rows, pngs) = learner_of(policy), sampled(policy, picture, 4)
    before = weights(policy)
    told = learner.reinforce(rows, [0.0] * 4, pngs, denominator=40.0, clip=CLIP)
    assert told["loss"] == 0 == told["gradient"] and not changed(before, policy)


@pytest.mark.parametrize("picture_gradient", [False, True])
def test_what_a_step_changes(tiny: Tiny, picture: Picture, picture_gradient: bool) -> None:
    policy = tiny()
    learner, (rows, pngs) = learner_of(policy, picture_gradient=picture_gradient), sampled(policy, picture, 4)
    before = weights(policy)
    learner.imitate(rows, pngs)
    names = changed(before, policy)
    assert any("language_model.layers" in name for name in names) and policy.version == 1
    assert any(".visual." in name for name in names) is picture_gradient


def test_the_rewarded_reply_becomes_likelier_and_the_other_less(tiny: Tiny, picture: Picture) -> None:
    learner = learner_of(tiny(), rate=2e-3)
    rows, pngs = taught(learner.policy, picture, "<click><x3><y4>", "<click><x30><y20>")
    rows = with_logprobs(learner, rows, pngs)
    before = logprobs(learner, rows, pngs)
    for _ in range(3):
        learner.reinforce(rows, [0.5, -0.5], pngs, denominator=8.0, clip=CLIP)
    good, bad = logprobs(learner, rows, pngs)
    assert good > before[0] and bad < before[1]


def test_imitation_learns_four_rows(tiny: Tiny, picture: Picture) -> None:
    learner = learner_of(tiny(), rate=5e-3)
    rows, pngs = taught(learner.policy, picture, "<done>")
    for number in range(1, 4):
        more, seen = taught(learner.policy, lambda n=number: picture(n), f"<click><x{number}><y{9 * number}>")
        rows, pngs = rows + more, {**pngs, **seen}
    losses = [learner.imitate(rows, pngs) for _ in range(12)]
    assert losses[0] > 1.0 and losses[-1] < losses[0] / 4


def test_the_loss_of_imitation_is_the_mean_over_tokens(tiny: Tiny, picture: Picture) -> None:
    learner = learner_of(tiny())
    rows, pngs = taught(learner.policy, picture, "<done>", "<type>no ice")
    expected = -sum(logprobs(learner, rows, pngs)) / sum(len(row.reply) for row in rows)
    assert learner.imitate(rows, pngs) == pytest.approx(expected, abs=1e-5)


def test_rates_are_scaled_within_a_phase(tiny: Tiny) -> None:
    learner = learner_of(tiny(), rate=1e-3)
    learner.set_rates(Rates(4e-3, 2e-3))
    learner.scale_rates(0.5)
    learner.scale_rates(0.25)
    rates = {group["lr"] for optimizer in learner.optimizers for group in optimizer.param_groups}
    assert rates == {1e-3, 5e-4}


def test_numbers_are_numbers(tiny: Tiny, picture: Picture) -> None:
    policy = tiny(temperature=2.0)
    learner, (rows, pngs) = learner_of(policy), sampled(policy, picture, 3)
    told = learner.reinforce(rows, [1.0, -1.0, 0.0], pngs, denominator=20.0, clip=CLIP)
    assert all(math.isfinite(value) for value in told.values())


def test_rows_that_are_alike_are_learned_from_once(tiny: Tiny, picture: Picture) -> None:
    """Eight rows, two of them different but for the sign: the same step as from all eight."""
    policy = tiny()
    two, pngs = taught(policy, picture, "<click><x3><y4>", "<click><x30><y20>")
    two = with_logprobs(learner_of(policy), two, pngs)
    rows, advantages = [two[0]] * 4 + [two[1]] * 4, [0.5, 0.5, -0.2, 0.5, -0.5, 0.1, -0.5, -0.5]
    fewer, sums = merged(rows, advantages)
    assert fewer == [two[0], two[0], two[1], two[1]] and sums == pytest.approx([1.5, -0.2, -1.5, 0.1])
    gradients = []
    for some, weights_ in ((rows, advantages), (fewer, sums)):
        logits, target = reply_logits(learner_of(policy).cache, pngs, some, policy.prompts.banned)
        logprob = logits.log_softmax(-1).gather(1, target[:, None])[:, 0]
        tokens = known(some, weights_, torch.device("cpu"))
        loss = policy_loss(LossSettings(importance="none"), logprob, tokens, denominator=8.0).loss
        (gradient,) = torch.autograd.grad(loss, [policy.model.lm_head.weight])
        gradients.append(gradient)
    assert torch.allclose(*gradients, atol=1e-6) and gradients[0].abs().max() > 1e-4
