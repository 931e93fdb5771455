"""Every family learns, through pictures alone, to say one thing about one screen and another thing about another."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from conversations import SIZES, Conversations

from uigym.models.families.forward import log_probabilities
from uigym.models.families.random import KINDS
from uigym.train.windows import Turn, Window, windows


def lesson(told: Conversations, colour: int, word: str) -> Window:
    """A screen of one colour, and what is to be said about it."""
    width, height = SIZES[told.kind]
    picture = told.picture(np.full((height, width, 3), colour, np.uint8))
    reply = [*told.family.tokens.plain(word), told.family.end]
    prompt = told.family.asking("", [picture])
    return windows([Turn(True, tuple(prompt), (picture,), tuple(reply), (-1.0,) * len(reply))])[0]


@pytest.mark.parametrize("kind", KINDS)
def test_screens_are_told_apart(kind: str) -> None:
    torch.set_num_threads(1)
    told = Conversations(kind)
    model = told.family.load(told.family.folder, torch.float32, "cpu")
    rows = [lesson(told, 20, "wait"), lesson(told, 230, "click")]
    other = [lesson(told, 20, "click"), lesson(told, 230, "wait")]
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for _ in range(60):
        optimizer.zero_grad()
        logprobs, _ = log_probabilities(told.family, model, rows, told.pngs)
        (-logprobs.mean()).backward()
        optimizer.step()
        if logprobs.min() > -0.1:
            break
    with torch.no_grad():
        right, _ = log_probabilities(told.family, model, rows, told.pngs)
        wrong, _ = log_probabilities(told.family, model, other, told.pngs)
    assert right.min() > -0.7 and wrong[0] < -2 and wrong[2] < -2
