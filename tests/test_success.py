"""Success is not reward: partial credit is no success, and every right form of an answer is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from uigym.browser import Browser
from uigym.env import Env
from uigym.evaluate import evaluate
from uigym.harness import Harness
from uigym.registry import load
from uigym.types import Action, Answer, Click, Done, Episode, Type
from uigym.verifiers.answer import equals
from uigym.verifiers.state import added, unchanged
from uigym.verify import Verifier, all_of, any_of, ordered, weighted

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
PAD = load(str(Path(__file__).parent / "gyms" / "pad.py"))
FIELD, ADD = Click(60, 16), Click(155, 16)
WRITE = (FIELD, Type("milk"), ADD)


def judged_by(verifier: Verifier) -> Harness:
    harness = replace(PAD)

    @harness.task("Write down milk and say done.", max_steps=6)
    def errand():  # type: ignore[no-untyped-def]
        return verifier

    return harness


async def episode(browser: Browser, verifier: Verifier, actions: Sequence[Action]) -> tuple[Episode, float, bool]:
    """The episode, with the reward and the success that its last step told."""
    async with Env(judged_by(verifier), browser) as env:
        await env.reset("errand", 0)
        for action in actions:
            step = await env.step(action)
        assert env.episode is not None
        return env.episode, step.reward, step.info["success"]


MILK, SAID = added("notes", text="milk"), equals("done")
PARTLY = {
    "some of the weights": (weighted((3, MILK), (1, SAID)), (*WRITE, Answer("dun")), 0.75),
    "the first of several": (ordered(MILK, SAID), (*WRITE, Done()), 0.5),
    "the answer without the deed": (weighted((1, MILK), (3, SAID)), (Answer("done"),), 0.75),
}


@pytest.mark.parametrize("name", PARTLY)
async def test_partial_credit_is_no_success(browser: Browser, name: str) -> None:
    verifier, actions, score = PARTLY[name]
    found, reward, success = await episode(browser, verifier, actions)
    assert found.verdict is not None and found.failure is None
    assert reward == found.reward == pytest.approx(score)
    assert success is found.verdict.success is False
    assert found.verdict.reason
    summed = evaluate([found])
    assert (summed.success_rate, summed.successes) == (0.0, 0) and summed.mean_score == pytest.approx(score)


async def test_a_wrong_answer_with_a_side_effect_is_worth_nothing(browser: Browser) -> None:
    found, reward, success = await episode(browser, all_of(SAID, unchanged()), (*WRITE, Answer("done")))
    assert (reward, success) == (0.0, False)
    assert found.verdict is not None and found.verdict.side_effects


FORMS = any_of(equals("racing car"), equals("racing cars"))
ANSWERS = {
    "Racing Cars": (FORMS, True),
    " racing  car. ": (FORMS, True),
    "race cars": (FORMS, False),
    "racing car or boat": (FORMS, False),
    "$1,250.00": (equals(1250), True),
    "1250.5": (equals(1250), False),
    "YES": (equals(True), True),
    "yes and no": (equals(True), False),
}


@pytest.mark.parametrize("answer", ANSWERS)
async def test_an_answer_is_compared_by_its_kind_and_the_report_has_both(browser: Browser, answer: str) -> None:
    verifier, right = ANSWERS[answer]
    found, reward, success = await episode(browser, verifier, [Answer(answer)])
    assert (reward, success) == (float(right), right)
    assert found.verdict is not None
    if not right:
        assert "expected the answer" in found.verdict.reason and repr(answer) in found.verdict.reason
