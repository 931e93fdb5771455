"""What makes a demonstration count, and what does not: right ones, near misses, and texts that were withheld."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from gyms.pad import pad as PAD
from PIL import Image

from uigym import Env, Harness
from uigym.errors import ConfigError, HarnessError, VerifierError
from uigym.policy.scripted import OraclePolicy, ReplayPolicy
from uigym.record import Demo, Proof, again
from uigym.record.again import play_again
from uigym.record.alike import diverged_at, recast, refused_at, unlike, without
from uigym.record.broken import broke_at, difference, shares
from uigym.record.prove import proof, prove, want
from uigym.record.vary import variation_of, varied
from uigym.record.withheld import hides, with_texts, withheld_texts
from uigym.rollout import Finished, Pool, Request, rollout
from uigym.state import Changed
from uigym.types import Action, Click, Done, Episode, Key, Move, State, StepRecord, Stop, Type, Wait
from uigym.verifiers.state import added, unchanged
from uigym.verify import Verifier, all_of

DEMO = Demo("oracle", "policy", 320, 240)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures that differ are not waited for as long as they deserve."""
    monkeypatch.setattr(again, "PATIENCE_S", 0.5)


def gym(**changes: Any) -> Harness:
    """A pad to which a test adds tasks."""
    harness = dataclasses.replace(PAD, **changes)
    for task in PAD.tasks.values():
        harness.tasks[task.name] = dataclasses.replace(task, harness=harness)
    return harness


async def shown(harness: Harness, task: str, seed: int, actions: Sequence[Action] = ()) -> Finished:
    """An episode by the oracle, or of these actions."""
    policy = ReplayPolicy(actions) if actions else OraclePolicy()
    async for finished in rollout(harness, policy, [Request(task, seed)], slots=1):
        return finished
    raise AssertionError


def said(episode: Episode, number: int, action: Action) -> Episode:
    """The episode with another action in its record."""
    steps = list(episode.steps)
    steps[number] = dataclasses.replace(steps[number], action=action)
    return dataclasses.replace(episode, steps=tuple(steps))


# --- what counts -------------------------------------------------------------------------------------------


@pytest.mark.browser
async def test_near_misses_do_not_count_and_are_explained_by_table_key_and_column() -> None:
    good = (await shown(PAD, "add", 7)).episode
    typed = next(i for i, step in enumerate(good.steps) if isinstance(step.action, Type))
    text = good.params["text"]
    clicks = [step.action for step in good.steps if isinstance(step.action, Click)]
    elsewhere = dataclasses.replace(good, after=State({**good.after.tables, "notes": ()}, good.after.keys))
    other_start = dataclasses.replace(good, before=State({**good.before.tables, "notes": ()}, good.before.keys))
    cases = {
        "right": good,
        "mistyped": said(good, typed, Type("nothing")),
        "missed": said(good, good.steps.index(next(s for s in good.steps if s.action == clicks[-1])), Click(319, 239)),
        "recorded otherwise": elsewhere,
        "began otherwise": other_start,
    }
    found: dict[str, Proof] = {}
    async with Pool(PAD, slots=2, max_failure_rate=1.0) as pool:
        wanted = [want(dataclasses.replace(each, id=name), DEMO) for name, each in cases.items()]
        async for one in play_again(pool, wanted):
            found[one.wanted.episode.id] = proof(PAD, one, "1.2")
    assert found["right"].counts and found["right"].diverged_at is None and found["right"].product_version == "1.2"
    mistyped, missed = found["mistyped"], found["missed"]
    assert (mistyped.same_state, mistyped.passes, mistyped.idle_fails, mistyped.counts) == (False, False, True, False)
    assert f'it ended with other data, recorded -> now: notes id=3: text "{text}" -> "nothing"' in mistyped.reason
    assert "the verifier did not pass: " in mistyped.reason and mistyped.diverged_at == typed + 1
    assert f'notes id=3: removed with text="{text}"' in missed.reason
    assert found["recorded otherwise"].passes and not found["recorded otherwise"].same_state
    assert found["began otherwise"].counts, "what it begins with is only told where it ends otherwise"


@pytest.mark.browser
async def test_what_an_episode_would_be_worth_now_is_told_without_ending_it() -> None:
    good = (await shown(PAD, "add", 7)).episode
    async with Env(PAD) as env:
        with pytest.raises(RuntimeError, match="call reset"):
            await env.verdict_now()
        await env.reset("add", 7)
        worth = [(await env.verdict_now()).success]
        for step in good.steps[:-1]:
            await env.step(step.action)
            worth.append((await env.verdict_now()).success)
        assert worth == [False] * (len(worth) - 1) + [True] and env.episode is None
        await env.step(Done())
        assert env.episode and env.episode.verdict == good.verdict and env.episode.after == good.after


@pytest.mark.browser
async def test_a_task_that_nothing_passes_has_no_demonstration_that_counts() -> None:
    harness = gym()

    @harness.task("Leave all as it is.", max_steps=3)
    def rest() -> Verifier:
        return unchanged()

    demo = (await shown(harness, "rest", 1, [Move(9, 9), Done()])).episode
    assert demo.verdict and demo.verdict.success
    found = await prove(harness, demo, DEMO)
    assert (found.same_state, found.passes, found.idle_fails, found.counts) == (True, True, False, False)
    assert "doing nothing passes as well" in found.reason


@pytest.mark.browser
async def test_what_is_withheld_is_typed_again_and_not_compared() -> None:
    good = (await shown(PAD, "add", 7)).episode
    typed = next(i for i, step in enumerate(good.steps) if isinstance(step.action, Type))
    notes = tuple({**row, "text": "*****"} if row["id"] == 3 else row for row in good.after.tables["notes"])
    hidden = dataclasses.replace(
        said(good, typed, Type("*****")), after=State({**good.after.tables, "notes": notes}, good.after.keys)
    )
    demo = dataclasses.replace(DEMO, notes={"withheld": {str(typed): "params.text"}})
    assert (await prove(PAD, hidden, demo)).counts
    asked = dataclasses.replace(DEMO, notes={"withheld": {str(typed): "prompt"}})
    with pytest.raises(ConfigError, match=f"step {typed + 1}: its text was withheld and only the person who typed it"):
        await prove(PAD, hidden, asked)
    other = await prove(PAD, hidden, asked, told={typed: "something else"})
    assert not other.counts and "something else" not in other.reason and "[withheld]" in other.reason


@pytest.mark.browser
async def test_what_a_person_waited_for_without_an_act_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(again, "PATIENCE_S", 30.0)
    harness = gym(home="/controls")

    @harness.task("Press Later, and then Late.", max_steps=5)
    def press() -> Verifier:
        late = added("settings", key="late")
        return all_of(late, unchanged(except_=[late]))

    @press.oracle
    async def _(page: Any) -> None:
        await page.get_by_role("button", name="Later").click()
        await page.get_by_role("button", name="Late", exact=True).wait_for()
        await page.get_by_role("button", name="Late", exact=True).click()

    shown_at = (await shown(harness, "press", 0)).episode
    acts = [step for step in shown_at.steps if not isinstance(step.action, Wait)]
    assert len(acts) < len(shown_at.steps), "the oracle had to wait"
    by_hand = dataclasses.replace(shown_at, steps=tuple(acts))
    found = await prove(harness, by_hand, DEMO)
    assert found.counts and found.diverged_at is None, found.reason


@pytest.mark.browser
async def test_what_the_machinery_breaks_proves_nothing() -> None:
    harness = gym()
    good = (await shown(harness, "add", 7)).episode

    def broken(text: str) -> Verifier:
        return lambda episode: 1 / 0  # type: ignore[return-value]

    harness.tasks["add"].function = broken
    with pytest.raises(VerifierError, match="ZeroDivisionError"):
        await prove(harness, good, DEMO)
    with pytest.raises(HarnessError, match='no task "gone"'):
        await prove(harness, dataclasses.replace(good, task="gone"), DEMO)


# --- withheld texts ----------------------------------------------------------------------------------------


def plain(*actions: Action, params: Mapping[str, Any] | None = None) -> Episode:
    steps = tuple(StepRecord(f"{i}", action) for i, action in enumerate(actions))
    return Episode("one", "pad", "add", 1, params or {}, "", steps, Stop.DONE, final_image="end")


def test_withheld_texts_come_from_the_parameters_also_from_inside_one() -> None:
    episode = plain(Type(""), Key("Tab"), Type(""), params={"pin": 4711, "user": {"password": "s3cret"}})
    demo = dataclasses.replace(DEMO, notes={"withheld": {"0": "params.pin", "2": "params.user.password"}})
    texts = withheld_texts(episode, demo)
    assert texts == {0: "4711", 2: "s3cret"}
    assert with_texts(episode, texts) == (Type("4711"), Key("Tab"), Type("s3cret"))
    assert withheld_texts(episode, demo, {0: "other"})[0] == "other"


@pytest.mark.parametrize(
    ("notes", "why"),
    [
        ({"0": "params.nobody"}, "no text among the parameters"),
        ({"0": "params.user"}, "no text among the parameters"),
        ({"0": 7}, "only the person who typed it"),
        ({"9": "params.pin"}, "counted from 0, of 2"),
        ({"-1": "params.pin"}, "counted from 0, of 2"),
        ({"1": "params.pin"}, "types none"),
        (["0"], "must map steps"),
    ],
)
def test_notes_that_make_no_sense_are_told(notes: Any, why: str) -> None:
    episode = plain(Type(""), Key("Tab"), params={"pin": "1", "user": {}})
    demo = dataclasses.replace(DEMO, notes={"withheld": notes})
    with pytest.raises(ConfigError, match=why):
        want(episode, demo)


def test_only_the_withheld_text_may_differ() -> None:
    def change(old: Any, new: Any) -> Changed:
        return Changed("users", ("id",), {"id": 1, "pin": old, "n": 2}, {"id": 1, "pin": new, "n": 2})

    assert hides(change("***", "s3cret"), ["s3cret"]) and hides(change("a ? b ? c", "a s3cret b s3cret c"), ["s3cret"])
    assert not hides(change("***", "another"), ["s3cret"]) and not hides(change("***", "s3cret"), [])
    assert not hides(change("a * x", "a s3cret c"), ["s3cret"]) and not hides(change(3, "s3cret"), ["s3cret"])
    assert not hides(change("abab", "abs3cretbab"), ["s3cret"]), "what is around it may not overlap"
    assert not hides(Changed("users", ("id",), None, {"id": 1, "pin": "s3cret"}), ["s3cret"])
    assert hides(change("/log?pin=[withheld]&x=1", "/log?pin=a%26b%20c&x=1"), ["a&b c"])
    whole = State({"t": ({"a": "*"}, {"a": "x"})}, {"t": ()}), State({"t": ({"a": "pw"}, {"a": "x"})}, {"t": ()})
    assert unlike(*whole, (), ["pw"]) == [] and len(unlike(*whole, (), [])) == 2
    assert (
        len(unlike(State({"t": ({"a": "*"},)}, {"t": ()}), State({"t": ({"a": "other"},)}, {"t": ()}), (), ["pw"])) == 2
    )
    assert unlike(State({"t": ({"id": 1, "a": "*"},)}), State({"t": ({"id": 1, "a": "pw"},)}), (), ["pw"]) == []


# --- what differs ------------------------------------------------------------------------------------------


def test_tables_and_columns_of_another_build_are_told_from_the_beginning() -> None:
    old = dataclasses.replace(plain(), before=State({"a": ({"id": 1, "x": 1},), "b": (), "gone": ()}))
    new = dataclasses.replace(plain(), before=State({"a": ({"id": 1, "y": 1},), "b": ({"id": 1},), "more": ()}))
    assert recast(old, new) == ["a.x", "a.y", "gone", "more"] and recast(old, old) == []
    assert without(new.before, ["a.y", "more"]).tables == {"a": ({"id": 1},), "b": ({"id": 1},)}
    assert without(old.before, []) is old.before


def test_the_first_picture_that_differs_and_the_first_refusal() -> None:
    one = plain(Move(1, 1), Done())
    other = dataclasses.replace(one, final_image="other")
    later = dataclasses.replace(one, steps=(one.steps[0], StepRecord("x", Done(), error="no")))
    assert (diverged_at(one, one), diverged_at(one, other), diverged_at(one, later)) == (None, 2, 1)
    short = dataclasses.replace(one, steps=one.steps[:1], final_image="1")
    assert diverged_at(one, short) == 2
    assert (refused_at(one, later), refused_at(later, later), refused_at(one, one)) == (1, None, None)
    assert broke_at(one, later, (0.0, 0.0, 0.5)) == 1


@pytest.mark.parametrize(
    ("differing", "at"),
    [((0, 0, 0.001), 2), ((0.01, 0.01, 0.3, 0.9), 2), ((0.4, 0.2, 0.41), 0), ((0, 0.02, 0.6), 2), ((0, 0), None), ((), None)],
)  # fmt: skip
def test_a_new_look_is_no_break_where_a_later_picture_is_another_page(differing: Any, at: int | None) -> None:
    assert broke_at(plain(), plain(), differing) == at


def test_how_much_of_two_pictures_differs() -> None:
    def png(size: tuple[int, int], dots: int) -> bytes:
        image, out = Image.new("RGB", size), io.BytesIO()
        for x in range(dots):
            image.putpixel((x, 0), (0, 0, 1))
        image.save(out, "PNG")
        return out.getvalue()

    assert difference(png((10, 10), 0), png((10, 10), 5)) == pytest.approx(0.05)
    assert difference(png((10, 10), 0), png((10, 9), 0)) == 1.0
    one, other = plain(Done()), dataclasses.replace(plain(Done()), final_image="late")
    held = {"end": png((10, 10), 0), "late": png((10, 10), 10)}
    assert shares(one, other, held.__getitem__, held.__getitem__) == pytest.approx((0.0, 0.1))


# --- variations --------------------------------------------------------------------------------------------


def test_a_variation_has_other_looks_and_words_and_the_same_work() -> None:
    other = varied(PAD, 1)
    assert varied(PAD, 0) is PAD and varied(other, 0).appearance(3) == PAD.appearance(3)
    state = State({"notes": ()})
    for seed in (*range(20), 2_000_003):
        mine, theirs = PAD.tasks["add"].instance(seed, state), other.tasks["add"].instance(seed, state)
        assert mine.params == theirs.params and mine.instruction != theirs.instruction
        assert (PAD.appearance(seed) == other.appearance(seed)) == (seed >= 2_000_000), "held-out seeds have one look"
    assert varied(PAD, 2).appearance(5) == PAD.appearance(5)
    assert set(other.tasks) == set(PAD.tasks) and other.tasks["add"].harness is other


@pytest.mark.parametrize(
    ("notes", "number"), [({}, 0), ({"variation": 2}, 2), ({"variation": "x"}, 0), ({"variation": True}, 0)]
)
def test_the_notes_say_which_variation(notes: dict[str, Any], number: int) -> None:
    assert variation_of(dataclasses.replace(DEMO, notes=notes)) == number
