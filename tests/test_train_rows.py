"""Rows: what they refuse to hold."""

from __future__ import annotations

import math

import pytest

from uigym.train.rows import Row


def test_length_is_without_the_picture() -> None:
    assert Row("aa", (1, 2, 3), (4, 5), (-0.1, 0.0)).length == 5


@pytest.mark.parametrize(
    ("prompt", "reply", "logprobs", "message"),
    [
        ((), (1,), (-0.1,), "needs a prompt and a reply, not 0 and 1 tokens"),
        ((1,), (), (), "needs a prompt and a reply, not 1 and 0 tokens"),
        ((1,), (2, 3), (-0.1,), "2 reply tokens with 1 log-probabilities"),
        ((1,), (2,), (math.nan,), "must be finite and at most 0"),
        ((1,), (2,), (-math.inf,), "must be finite and at most 0"),
        ((1,), (2,), (0.7,), "must be finite and at most 0"),
    ],
)
def test_a_row_that_cannot_have_been_sampled_is_refused(
    prompt: tuple[int, ...], reply: tuple[int, ...], logprobs: tuple[float, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Row("aa", prompt, reply, logprobs)
