"""Groups as a stream: nobody waits for the slowest, nothing gets too old, nothing lost is ever a reward."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streams import PNG, Speaks, Tasks, mixed, numbers, simulated, versions

from uigym.bench.simulated import Scene
from uigym.errors import BrowserError, ConfigError, HarnessError, PolicyError, StoreError, UIGymError
from uigym.state import State
from uigym.train.groups import Group
from uigym.train.stream import Flow, Stream
from uigym.types import Cause

SMALL = Flow(group_size=3, groups=2, max_staleness=0, rest_s=0.01)


async def batches(stream: Stream, count: int = 10**9, learn_s: float = 0.0) -> list[list[Group]]:
    """So many updates, each of which takes some time."""
    found = []
    while len(found) < count and (batch := await stream.batch()):
        found.append(batch)
        await asyncio.sleep(learn_s)
        stream.advance()
    return found


def speaking(pool: Any, tasks: Tasks | None = None, flow: Flow = SMALL) -> Stream:
    """A stream whose policy has the weights of the stream's version, as if the sampler were given them."""
    stream = Stream(pool, Speaks(), tasks or Tasks(), flow)
    stream.policy = Speaks(lambda: stream.version)
    return stream


@pytest.mark.parametrize(
    "wrong", [{"group_size": 1}, {"groups": 0}, {"max_staleness": -1}, {"min_members": 9}, {"rest_s": -1.0}]
)
def test_numbers_that_cannot_be_used_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        Flow(**wrong)


async def test_groups_are_whole_and_come_in_the_order_of_their_draws() -> None:
    async with simulated() as pool, speaking(pool) as stream:
        found = await batches(stream, 3)
    assert [[group.number for group in batch] for batch in found] == [[0, 1], [2, 3], [4, 5]]
    for batch in found:
        for group in batch:
            assert group.seed == group.number and sorted(group.done) == [0, 1, 2] and group.rewards == [0, 1, 0]
            assert {done.episode.group for done in group.members} == {group.name}
    assert not stream.tally


async def test_without_staleness_every_update_is_played_with_the_weights_before_it() -> None:
    async with simulated(slots=8) as pool, speaking(pool) as stream:
        found = await batches(stream, 4, learn_s=0.05)
        assert stream.practice.state()["drawn"] <= 10  # never ahead of the update that is under way
    assert [{v for group in batch for v in versions(group)} for batch in found] == [{0}, {1}, {2}, {3}]


async def test_a_slot_never_waits_for_a_slower_one() -> None:
    def one_slow(episode: str, seed: int, attempt: int) -> Scene:
        return Scene(steps_s=[1.0 if numbers(episode) == (0, 0) else 0.01], score=float(numbers(episode)[1] % 2))

    flow = Flow(group_size=4, groups=1, max_staleness=5)
    async with simulated(one_slow, slots=4) as pool, speaking(pool, flow=flow) as stream:
        first = await stream.batch()
        assert first[0].number == 1
        for _ in range(4):
            stream.advance()
            await stream.batch()
        assert stream._open["g0"].running == {0}


async def test_what_would_become_too_old_is_waited_for() -> None:
    def one_slow(episode: str, seed: int, attempt: int) -> Scene:
        return Scene(steps_s=[0.3 if numbers(episode) == (0, 0) else 0.001], score=float(numbers(episode)[1] % 2))

    flow = Flow(group_size=2, groups=1, max_staleness=1)
    async with simulated(one_slow) as pool, speaking(pool, flow=flow) as stream:
        found = await batches(stream, 3)
    assert [batch[0].number for batch in found] == [1, 0, 2]


@settings(max_examples=15)
@given(
    staleness=st.integers(0, 3),
    groups=st.integers(1, 4),
    size=st.integers(2, 4),
    slots=st.integers(1, 9),
    learn_s=st.sampled_from([0.0, 0.01]),
    dull=st.integers(0, 3),
)
def test_nothing_is_ever_too_old_lost_or_used_twice(
    staleness: int, groups: int, size: int, slots: int, learn_s: float, dull: int
) -> None:
    """Whatever the sizes: capacity holds, replies are as fresh as was asked, every draw has one end."""

    def scene(episode: str, seed: int, attempt: int) -> Scene:
        plain = mixed(episode, seed, attempt)
        return Scene(reset_s=plain.reset_s, steps_s=plain.steps_s, score=plain.score if seed % 4 >= dull else 1.0)

    async def run() -> None:
        flow = Flow(group_size=size, groups=groups, max_staleness=staleness)
        tasks = Tasks(12)
        seen: list[int] = []
        async with simulated(scene, slots=slots) as pool, speaking(pool, tasks, flow) as stream:
            while batch := await stream.batch():
                ahead = stream._accepted + len(stream._open)
                assert ahead <= (staleness + stream.version + 1) * groups
                assert len(batch) == groups or not stream._open
                old = [stream.version - version for group in batch for version in versions(group)]
                assert min(old) >= 0 and max(old) <= staleness
                assert all(len(group.done) == size for group in batch)
                seen += [group.number for group in batch]
                await asyncio.sleep(learn_s)
                stream.advance()
            assert len(seen) == len(set(seen)) and len(seen) + stream.tally["groups/refilled"] == 12
            assert len(tasks.heard) == 12 and not stream._begun

    asyncio.run(run())


# --- what the machinery breaks ---


def failing(lost: set[tuple[int, int]], error: UIGymError, times: int = 99) -> Any:
    def scene(episode: str, seed: int, attempt: int) -> Scene:
        wrong = numbers(episode) in lost and attempt < times
        return Scene(score=float(numbers(episode)[1] % 2), error=error if wrong else None)

    return scene


async def test_a_lost_member_is_replaced_by_another() -> None:
    scenes = failing({(0, 0), (0, 3)}, BrowserError("gone"))
    async with simulated(scenes, retries=1) as pool, speaking(pool) as stream:
        (batch,) = await batches(stream, 1)
    assert sorted(batch[0].done) == [1, 2, 4] and batch[0].lost == 2 and sorted(batch[1].done) == [0, 1, 2]
    assert stream.tally == {"failures/browser": 2} and batch[0].rewards == [1, 0, 0]


async def test_what_fails_once_is_the_same_member() -> None:
    async with simulated(failing({(0, 1)}, BrowserError("gone"), times=2)) as pool, speaking(pool) as stream:
        (batch,) = await batches(stream, 1)
    assert sorted(batch[0].done) == [0, 1, 2] and batch[0].done[1].episode.attempt == 2 and not stream.tally


async def test_a_group_goes_on_without_those_that_cannot_be_had() -> None:
    flow = Flow(group_size=4, groups=1, max_staleness=0, replacements=1)
    scenes = failing({(0, 0), (0, 3), (0, 4)}, HarnessError("wrong"))
    async with simulated(scenes, retries=0) as pool, speaking(pool, flow=flow) as stream:
        (batch,) = await batches(stream, 1)
    assert sorted(batch[0].done) == [1, 2] and batch[0].rewards == [1, 0]
    assert stream.tally == {"failures/harness": 3}


async def test_a_group_with_too_few_members_is_dropped_and_never_a_zero() -> None:
    scenes = failing({(0, n) for n in range(20)} - {(0, 2)}, BrowserError("gone"))
    flow = Flow(group_size=3, groups=2, max_staleness=0, replacements=2)
    async with simulated(scenes, retries=0, max_failure_rate=1.0) as pool, speaking(pool, flow=flow) as stream:
        (batch,) = await batches(stream, 1)
    assert [group.number for group in batch] == [1, 2]
    assert stream.tally["groups/dropped"] == 1 and stream.tally["failures/browser"] == 4


async def test_too_many_losses_make_it_rest_and_then_go_on() -> None:
    down = [True]

    def scene(episode: str, seed: int, attempt: int) -> Scene:
        return Scene(score=float(numbers(episode)[1] % 2), error=PolicyError("away") if down else None)

    mended = []

    async def mend(distrusted: bool) -> None:
        mended.append(distrusted)
        if stream.tally["rests"]:
            down.clear()

    async with simulated(scene, retries=0) as pool, speaking(pool) as stream:
        stream.mend = mend
        found = await batches(stream, 2)
    assert all(len(group.done) == 3 for batch in found for group in batch)
    assert stream.tally["rests"] == 1 and True not in mended and len(found) == 2
    assert stream.tally["failures/policy"] >= 19


async def test_losses_that_do_not_end_stop_it_in_their_name() -> None:
    flow = Flow(group_size=2, groups=1, rests=2, rest_s=0.001)
    scenes = failing({(g, m) for g in range(99) for m in range(20)}, BrowserError("no picture"))
    async with simulated(scenes) as pool, speaking(pool, flow=flow) as stream:
        with pytest.raises(BrowserError, match=r"20 of the last 20 attempts .* no picture"):
            await stream.batch()
    assert pool.tripped == 3 and stream.tally["rests"] == 2


async def test_a_task_that_does_not_exist_stops_it_at_once() -> None:
    class Wrong(Tasks):
        def __next__(self) -> tuple[str, int]:
            return "cuont", 0

    async with simulated() as pool, speaking(pool, Wrong()) as stream:
        with pytest.raises(HarnessError, match='no task "cuont"'):
            await stream.batch()


async def test_replies_of_weights_that_are_too_old_are_lost_not_used() -> None:
    """A server that was started again has the weights that it began with."""
    told, mended = [0], []
    async with simulated() as pool, speaking(pool) as stream:
        stream.policy = Speaks(lambda: told[0])

        async def mend(distrusted: bool) -> None:
            mended.append(distrusted)
            told[0] = stream.version

        stream.mend = mend
        await batches(stream, 1)
        (batch,) = await batches(stream, 1)
    assert {v for group in batch for v in versions(group)} == {1} and True in mended
    assert 1 <= stream.tally["failures/policy"] <= 6


async def test_members_that_begin_differently_are_lost() -> None:
    def scene(episode: str, seed: int, attempt: int) -> Scene:
        group, member = numbers(episode)
        other = group == 0 and member == 2
        return Scene(score=float(member % 2), steps_s=[0.02 * member], before=State({"notes": [{"id": int(other)}]}))

    async with simulated(scene) as pool, speaking(pool) as stream:
        (batch,) = await batches(stream, 1)
    assert sorted(batch[0].done) == [0, 1, 3] and stream.tally == {f"failures/{Cause.HARNESS}": 1}


# --- groups that teach nothing ---


async def test_groups_that_agree_make_room_for_others() -> None:
    def scene(episode: str, seed: int, attempt: int) -> Scene:
        return Scene(score=1.0 if seed < 3 else float(numbers(episode)[1] % 2))

    tasks = Tasks()
    async with simulated(scene) as pool, speaking(pool, tasks) as stream:
        (batch,) = await batches(stream, 1)
    assert [group.number for group in batch] == [3, 4]
    assert stream.tally == {"groups/zero_variance": 3, "groups/refilled": 3}
    assert sorted(tasks.heard)[-3:] == [("count", 1.0)] * 3 and len(tasks.heard) == 5


async def test_refilling_ends() -> None:
    flow = Flow(group_size=2, groups=2, max_staleness=0, refills=3)
    async with simulated(lambda *_: Scene(score=0.5)) as pool, speaking(pool, flow=flow) as stream:
        found = await batches(stream, 2)
    assert [len(batch) for batch in found] == [2, 2]
    assert stream.tally == {"groups/zero_variance": 16, "groups/refilled": 12}


async def test_the_last_update_takes_what_is_left() -> None:
    async with simulated() as pool, speaking(pool, Tasks(5)) as stream:
        assert [len(batch) for batch in await batches(stream)] == [2, 2, 1]
        assert await stream.batch() == []


# --- going on later ---


@pytest.mark.parametrize("staleness", [0, 2])
async def test_what_was_kept_goes_on_exactly(tmp_path: Path, staleness: int) -> None:
    """Every draw is used once, before or after; what was complete is not played again."""
    flow = Flow(group_size=3, groups=2, max_staleness=staleness)
    tasks = Tasks(12)
    async with simulated() as pool, speaking(pool, tasks, flow) as stream:
        before = await batches(stream, 2)
        await asyncio.sleep(0.02)
        kept = {group.number: group.copy() for group in (*stream._ready, *stream._open.values())}
        for group in kept.values():
            group.stop()
        stream.keep()(tmp_path / "stream")
    played: Counter[str] = Counter()

    def watched(episode: str, seed: int, attempt: int) -> Scene:
        played[episode] += 1
        return mixed(episode, seed, attempt)

    rest = Tasks(12)
    async with simulated(watched) as pool:
        again = speaking(pool, rest, flow)
        again.restore(tmp_path / "stream")
        assert again.version == 2 and len(again._open) + len(again._ready) == len(kept)
        for group in (*again._open.values(), *again._ready):
            was = kept[group.number]
            assert (group.waiting, group.size, group.lost, group.born) == (was.waiting, was.size, was.lost, was.born)
            for member, done in group.done.items():
                assert done.samples == was.done[member].samples and done.images == was.done[member].images
                assert done.episode.verdict == was.done[member].episode.verdict
                assert done.episode.steps == was.done[member].episode.steps
        async with again:
            after = await batches(again)
    used = [group.number for batch in (*before, *after) for group in batch]
    assert sorted(used) == list(range(12)) and len(rest.heard) == 12
    complete = {done.episode.id for group in kept.values() for done in group.done.values()}
    assert not complete & played.keys() and set(played.values()) == {1}
    assert {png for group in after[0] for done in group.members for png in done.images.values()} == {PNG}


async def test_without_staleness_a_run_goes_on_as_if_it_had_not_stopped(tmp_path: Path) -> None:
    async with simulated() as pool, speaking(pool, Tasks(12)) as stream:
        whole = await batches(stream)
    async with simulated(slots=2) as pool, speaking(pool, Tasks(12)) as stream:
        parts = await batches(stream, 3)
        stream.keep()(tmp_path / "stream")
    async with simulated(slots=7) as pool:
        again = speaking(pool, Tasks(12))
        again.restore(tmp_path / "stream")
        async with again:
            parts += await batches(again)

    def told(found: list[list[Group]]) -> list[Any]:
        return [[(g.number, g.born, g.rewards, [m.samples for m in g.members]) for g in batch] for batch in found]

    assert told(parts) == told(whole)


def test_a_folder_that_is_not_complete_is_refused(tmp_path: Path) -> None:
    stream = speaking(simulated())
    stream.keep()(tmp_path / "stream")
    (tmp_path / "stream" / "stream.json").write_text("{}")
    with pytest.raises(StoreError, match="cannot read"):
        stream.restore(tmp_path / "stream")


async def test_a_stream_must_be_open() -> None:
    with pytest.raises(RuntimeError, match="async with"):
        await speaking(simulated()).batch()
