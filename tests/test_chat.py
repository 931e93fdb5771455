"""Conversations with a model: what it sees at each step, what becomes of its replies, and what training gets of them."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from uigym.beside import OpenDialog
from uigym.errors import ConfigError, PolicyError
from uigym.models import families
from uigym.models.families.random import random_checkpoint
from uigym.policy.chat import ChatPolicy, Conversation, told, turns
from uigym.policy.contexts import Context, full, hysteresis, parse, window
from uigym.policy.sampler import PLAIN, Reply, Sampling
from uigym.train.windows import Picture, Turn, windows
from uigym.types import Click, Decision, Done, Event, Invalid, Move, Observation, Open

CLICK = '<tool_call>\n{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [500, 500]}}\n</tool_call>'
TWO = (
    '<tool_call>\n{"name": "computer_use", "arguments": {"action": "mouse_move", "coordinate": [0, 0]}}\n</tool_call>\n'
    + CLICK
)


class Scripted:
    """Says what it is told to say, and notes what it was asked."""

    version = 3

    def __init__(self, *replies: Sequence[int] | Reply):
        self.replies = list(replies)
        self.asked: list[tuple[tuple[int, ...], tuple[str, ...]]] = []
        """(ids, hashes of the pictures)."""
        self.sampling: Sampling | None = None

    async def sample(
        self, ids: Sequence[int], pictures: Sequence[Picture], pngs: Mapping[str, bytes], sampling: Sampling
    ) -> Reply:
        assert {picture.hash for picture in pictures} == set(pngs)
        self.asked.append((tuple(ids), tuple(picture.hash for picture in pictures)))
        self.sampling = sampling
        said = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(said, Reply):
            return said
        return Reply(tuple(said), tuple(-0.5 - 0.01 * at for at in range(len(said))), self.version, self.version)

    async def pause(self) -> None: ...

    async def resume(self) -> None: ...

    async def update(self, weights: Any, version: int) -> None: ...

    async def close(self) -> None: ...


@pytest.fixture(scope="module", params=["qwen3_vl", "qwen2_5_vl", "qwen3_5", "smolvlm"])
def family(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return families.open(random_checkpoint(tmp_path_factory.mktemp("model"), request.param), codec="qwen3")


@pytest.fixture(scope="module")
def qwen(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return families.open(random_checkpoint(tmp_path_factory.mktemp("model"), "qwen3_vl"))


def screen(number: int, **more: Any) -> Observation:
    out = io.BytesIO()
    Image.new("RGB", (128, 96), (number % 256, number // 256, 9)).save(out, "PNG")
    return Observation(out.getvalue(), 128, 96, "Open the <|image_pad|> shop.", **more)


def say(family: Any, text: str) -> list[int]:
    return [*family.tokens.plain(text), family.end]


def conversation(family: Any, sampler: Scripted, context: Context | None = None, **more: Any) -> Conversation:
    return ChatPolicy(family, sampler, context or full(), PLAIN, **more).for_episode(None)  # type: ignore[arg-type]


async def play(family: Any, sampler: Scripted, context: Context, steps: int) -> list[Turn]:
    talk = conversation(family, sampler, context)
    decisions = [await talk.act(screen(step, error="no <|image_pad|>" if step else None), []) for step in range(steps)]
    return turns([decision.sample for decision in decisions])


# --- contexts ----------------------------------------------------------------------------------------------


def test_contexts_from_text() -> None:
    assert parse("full") == full() == Context(1, None)
    assert parse(" window( 4 )") == window(4) == Context(4, 4)
    assert parse("hysteresis") == hysteresis() == Context(1, 6)
    assert parse("hysteresis(2,8) without digest") == Context(2, 8, digest=False)


@pytest.mark.parametrize("text", ["", "window", "window(1, 2)", "hysteresis(3)", "full(2)", "last(3)", "window(-1)"])
def test_what_is_no_context(text: str) -> None:
    with pytest.raises(ConfigError, match="hysteresis"):
        parse(text)


@pytest.mark.parametrize(("least", "most"), [(0, 3), (4, 3), (0, None)])
def test_numbers_that_make_no_context(least: int, most: int | None) -> None:
    with pytest.raises(ConfigError, match="screenshot"):
        Context(least, most)


@given(least=st.integers(1, 4), more=st.none() | st.integers(0, 4), steps=st.integers(1, 12))
def test_a_context_never_shows_more_than_it_may(least: int, more: int | None, steps: int) -> None:
    context = Context(least, None if more is None else least + more)
    shown = 0
    for turn in range(steps):
        past = context.past(shown, turn)
        shown = shown + 1 if past is None else past + 1
        assert 1 <= shown <= turn + 1
        assert context.most is None or shown <= context.most
        assert shown >= min(context.least, turn + 1)


# --- what the model sees -----------------------------------------------------------------------------------


@pytest.mark.parametrize("context", [full(), window(1), window(3), hysteresis(1, 4), hysteresis(2, 3, digest=False)])
async def test_windows_are_what_the_sampler_saw_and_hold_every_sampled_id_once(family: Any, context: Context) -> None:
    replies = [[*family.tokens.plain(f"reply {n}"), *([family.end] if n % 3 else [])] for n in range(9)]
    sampler = Scripted(*replies)
    said = await play(family, sampler, context, len(replies))
    rows = windows(said)
    seen = []
    for row in rows:
        for start, _ in row.replies:
            shown = row.ids[:start].count(family.placeholder)
            seen.append((row.ids[:start], shown))
    assert [ids for ids, _ in seen] == [ids for ids, _ in sampler.asked]
    for (_, shown), (_, hashes) in zip(seen, sampler.asked, strict=True):
        assert shown == len(hashes) * family.picture("", 128, 96).tokens
    sampled = [row.ids[at] for row in rows for at in row.positions]
    assert sampled == [i for reply in replies for i in reply]
    assert sum(len(row.logprobs) for row in rows) == len(sampled)
    assert {version for row in rows for version in row.versions} == {3}


async def test_sampled_ids_stay_as_they_were_cut_even_where_text_would_be_cut_otherwise(family: Any) -> None:
    hello, he, llo = (family.tokens.plain(text) for text in ("hello", "he", "llo"))
    assert hello != [*he, *llo]
    reply = [*he, *llo, family.end]
    sampler = Scripted(reply)
    await play(family, sampler, window(3), 3)
    ids = sampler.asked[-1][0]
    assert sum(ids[at : at + len(reply)] == tuple(reply) for at in range(len(ids))) == 2


async def test_a_new_context_keeps_the_last_turns_and_tells_the_others(qwen: Any) -> None:
    sampler = Scripted(*(say(qwen, f"reply {n}") for n in range(5)))
    said = await play(qwen, sampler, hysteresis(2, 3), 4)
    assert [turn.fresh for turn in said] == [True, False, False, True]
    assert [len(hashes) for _, hashes in sampler.asked] == [1, 2, 3, 2]
    text = qwen.tokens.text(sampler.asked[-1][0])
    assert [text.count(f"reply {n}") for n in range(4)] == [1, 1, 1, 0]
    assert text.index("reply 1") < text.index("<|vision_end|>") + 200 < len(text)
    silent = Scripted(*(say(qwen, f"reply {n}") for n in range(5)))
    await play(qwen, silent, hysteresis(2, 3, digest=False), 4)
    assert "reply 0" not in qwen.tokens.text(silent.asked[-1][0])


async def test_what_a_page_says_is_no_special_id(family: Any) -> None:
    sampler = Scripted(say(family, "<|image_pad|><image>"))
    await play(family, sampler, full(), 3)
    ids, hashes = sampler.asked[-1]
    assert ids.count(family.placeholder) == len(hashes) * family.picture("", 128, 96).tokens


async def test_a_long_digest_tells_the_latest_replies_and_cuts_long_ones(qwen: Any) -> None:
    sampler = Scripted(*(say(qwen, f"reply {n} {'x' * 500}.") for n in range(45)))
    await play(qwen, sampler, window(1), 44)
    text = qwen.tokens.text(sampler.asked[-1][0])
    assert "reply 42 " in text and "reply 3 " in text and "reply 2 " not in text
    assert text.count("x" * 100) == 40 and "x" * 250 not in text


async def test_a_context_that_gets_too_long_begins_anew(qwen: Any) -> None:
    sampler = Scripted(say(qwen, CLICK))
    talk = conversation(qwen, sampler, full(), limit=1300)
    for step in range(8):
        await talk.act(screen(step), [])
    lengths = [len(ids) + PLAIN.max_tokens for ids, _ in sampler.asked]
    assert max(lengths) <= 1300
    assert min(len(hashes) for _, hashes in sampler.asked[1:]) == 1 < max(len(hashes) for _, hashes in sampler.asked)


async def test_one_screenshot_that_is_too_long_is_the_machinerys_fault(qwen: Any) -> None:
    talk = conversation(qwen, Scripted(say(qwen, CLICK)), limit=300)
    with pytest.raises(PolicyError, match="more than the limit of 300"):
        await talk.act(screen(0), [])


def test_what_is_told_beside_the_picture() -> None:
    assert told(screen(0)) == ""
    observation = screen(
        0, error="no field has the focus", events=(Event("download", "a.pdf", "finished"),), open=Open(OpenDialog("alert", "y" * 5000))
    )  # fmt: skip
    first, second, third = told(observation).splitlines()
    assert first == "Your last action was refused: no field has the focus"
    assert second == "download finished a.pdf"
    assert third.startswith("A dialog (alert)") and len(third) < 1100


# --- what becomes of a reply -------------------------------------------------------------------------------


async def test_a_reply_is_an_action_with_its_words_and_its_turn(qwen: Any) -> None:
    decision = await conversation(qwen, Scripted(say(qwen, CLICK))).act(screen(0), [])
    assert decision.action == Click(64.0, 48.0)
    assert decision.text == CLICK
    turn = decision.sample
    assert isinstance(turn, Turn) and turn.fresh and turn.version == 3
    assert turn.reply == tuple(say(qwen, CLICK)) and len(turn.logprobs) == len(turn.reply)


async def test_a_reply_without_its_end_is_no_action_but_is_trained_with(qwen: Any) -> None:
    decision = await conversation(qwen, Scripted(say(qwen, CLICK)[:-1])).act(screen(0), [])
    assert isinstance(decision.action, Invalid) and "did not end within 256 tokens" in decision.action.reason
    assert isinstance(decision.sample, Turn)


async def test_several_actions_of_a_reply_take_a_step_each_and_one_turn(qwen: Any) -> None:
    sampler = Scripted(say(qwen, TWO))
    talk = conversation(qwen, sampler)
    decisions = [await talk.act(screen(step), []) for step in range(3)]
    assert [type(decision.action) for decision in decisions] == [Move, Click, Move]
    assert decisions[1] == Decision(Click(64.0, 48.0))
    assert len(sampler.asked) == len(turns([decision.sample for decision in decisions])) == 2


async def test_what_was_still_to_be_done_is_dropped_when_an_action_is_refused(qwen: Any) -> None:
    sampler = Scripted(say(qwen, TWO), say(qwen, '<tool_call>{"name": "computer_use", "arguments": {"action": "terminate", "status": "success"}}</tool_call>'))  # fmt: skip
    talk = conversation(qwen, sampler)
    await talk.act(screen(0), [])
    assert (await talk.act(screen(1, error="the page does not answer"), [])).action == Done()


# --- what the machinery gets wrong -------------------------------------------------------------------------


async def test_a_forbidden_id_is_the_samplers_fault(family: Any) -> None:
    for banned in family.banned:
        with pytest.raises(PolicyError, match="forbidden"):
            await conversation(family, Scripted([banned, family.end])).act(screen(0), [])


@pytest.mark.parametrize(
    "reply",
    [
        Reply((), (), 0, 0),
        Reply((5, 6), (-1.0,), 0, 0),
        Reply((5,), (math.nan,), 0, 0),
        Reply((5,), (-math.inf,), 0, 0),
        Reply((5,), (0.5,), 0, 0),
    ],
)
async def test_a_reply_that_cannot_be_used_is_the_samplers_fault(qwen: Any, reply: Reply) -> None:
    with pytest.raises(PolicyError, match="cannot be used"):
        await conversation(qwen, Scripted(reply)).act(screen(0), [])


# --- what can be trained with ------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [{"temperature": 0.0}, {"top_p": 0.9}, {"top_k": 20}, {"seed": 1}])
def test_training_refuses_what_the_trainer_does_not_compute(qwen: Any, more: dict[str, Any]) -> None:
    ((name, value),) = more.items()
    with pytest.raises(ConfigError, match=f"{name}={value}"):
        ChatPolicy(qwen, Scripted([1]), full(), Sampling(**more), training=True)
    ChatPolicy(qwen, Scripted([1]), full(), Sampling(**more))
    ChatPolicy(qwen, Scripted([1]), full(), Sampling(temperature=0.7), training=True)


@pytest.mark.parametrize(
    "more", [{"temperature": -1.0}, {"temperature": math.nan}, {"max_tokens": 0}, {"top_p": 0.0}, {"top_p": 1.1}, {"top_k": -1}]
)  # fmt: skip
def test_numbers_that_nothing_can_be_sampled_with(more: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=str(next(iter(more.values())))):
        Sampling(**more)


def test_a_limit_without_room_for_a_prompt(qwen: Any) -> None:
    with pytest.raises(ConfigError, match="no room"):
        ChatPolicy(qwen, Scripted([1]), limit=256)


def test_a_family_whose_replies_nothing_reads(qwen: Any, tmp_path: Path) -> None:
    class Odd:
        codec = "qwen9"

    with pytest.raises(ConfigError, match="qwen9"):
        ChatPolicy(Odd(), Scripted([1]))  # type: ignore[arg-type]
