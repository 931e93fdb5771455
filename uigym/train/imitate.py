"""Warm start: the policy learns to do what demonstrations show."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence

from uigym.errors import ConfigError
from uigym.models.prompt import Prompts
from uigym.policy.codecs import tiny
from uigym.policy.hf import past_actions
from uigym.train.config import WarmStart
from uigym.train.learner import Learner, Rates
from uigym.train.rows import Row
from uigym.types import Episode


def demonstration_rows(episode: Episode, prompts: Prompts, width: int, height: int) -> list[Row]:
    """The steps of a demonstration as rows; steps that the action language has no word for are left out."""
    rows = []
    for at, step in enumerate(episode.steps):
        text = tiny.encode(step.action, width, height)
        if text and step.error is None:
            reply = prompts.reply(text)
            prompt = prompts.prompt(episode.instruction, past_actions(episode.steps[:at], width, height))
            rows.append(Row(step.image, tuple(prompt), tuple(reply), (0.0,) * len(reply)))
    return rows


def imitate(
    learner: Learner,
    rows: Sequence[Row],
    pngs: Mapping[str, bytes],
    config: WarmStart,
    *,
    seed: int = 0,
    on_step: Callable[[int, int, float], None] = lambda step, total, loss: None,
) -> float:
    """Train on rows for some epochs, each time in another order.

    Args:
        learner: Whose weights are trained.
        rows: Of demonstrations.
        pngs: Their pictures by hash.
        config: Epochs, batch size, learning rates.
        seed: Of the order of batches.
        on_step: Called with (step, steps in all, loss).

    Returns:
        The mean loss of the last quarter, nats a token.

    Raises:
        ConfigError: There are no rows.
    """
    if not rows:
        raise ConfigError("there is nothing to imitate: no demonstration succeeded by actions that the model can say")
    learner.set_rates(Rates(config.matrix_lr, config.other_lr))
    rng = random.Random(seed)
    total = max(1, round(len(rows) * config.epochs / config.batch_rows))
    losses: list[float] = []
    while len(losses) < total:
        for batch in _batches(rows, config.batch_rows, rng):
            step = len(losses)
            learner.scale_rates(min(1.0, (step + 1) / 10) * (1 - 0.9 * step / total))
            losses.append(learner.imitate(batch, pngs))
            on_step(step + 1, total, losses[-1])
            if len(losses) == total:
                break
    last = losses[-max(1, total // 4) :]
    return sum(last) / len(last)


def _batches(rows: Sequence[Row], size: int, rng: random.Random) -> Iterable[list[Row]]:
    """One pass over the rows in random order."""
    order = rng.sample(list(rows), len(rows))
    for at in range(0, len(order), size):
        yield order[at : at + size]
