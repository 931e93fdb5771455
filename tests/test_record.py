"""What counts as a demonstration."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from uigym import load
from uigym.errors import ConfigError
from uigym.record import Recording, demonstrate, keep, requests, solvable
from uigym.store import RunStore
from uigym.types import Cause, Done, Episode, Failure, StepRecord, Stop, Verdict

PNG = b"a picture"
HASH = hashlib.sha256(PNG).hexdigest()


def episode(name: str, verdict: Verdict | None, failure: Failure | None = None) -> Episode:
    stop = Stop.ERROR if failure else Stop.DONE
    return Episode(name, "kiosk", "order", 1, {}, "Order it.", (StepRecord(HASH, Done()),), stop, verdict, failure, final_image=HASH)  # fmt: skip


def test_only_successes_are_kept_and_the_rest_is_counted_by_why(tmp_path: Path) -> None:
    store, recording = RunStore(tmp_path), Recording()
    good = episode("good", Verdict(1.0, True))
    for item in (
        good,
        episode("bad", Verdict(0.5, False)),
        episode("lost1", None, Failure(Cause.BROWSER, "crashed at 1")),
        episode("lost2", None, Failure(Cause.BROWSER, "crashed at 2")),
    ):
        keep(recording, item, {HASH: PNG}, store)
    assert (recording.kept, recording.steps) == (1, 1)
    assert recording.left_out == {"order: not solved, stopped by done": 1, "order: lost to the browser": 2}
    assert list(store.episodes()) == [good]


def test_requests_go_seed_by_seed() -> None:
    tasks = list(load("kiosk").tasks.values())[:2]
    assert [(r.task, r.seed) for r in requests(tasks, [4, 5])] == [(t.name, s) for s in (4, 5) for t in tasks]


def test_tasks_without_an_oracle_are_told_apart() -> None:
    tasks = list(load("kiosk").tasks.values())
    able, unable = solvable(tasks)
    assert able == tasks and unable == []


async def test_nothing_to_record_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no task of kiosk that is meant has an oracle"):
        await demonstrate(load("kiosk"), [], RunStore(tmp_path))


async def test_what_is_recorded_already_is_not_played_again(tmp_path: Path) -> None:
    kiosk, store = load("kiosk"), RunStore(tmp_path)
    wanted = requests([kiosk.find_task("order")], [1])
    store.write(episode(wanted[0].id("kiosk"), Verdict(1.0, True)), {HASH: PNG})
    recording = await demonstrate(kiosk, wanted, store)
    assert (recording.kept, recording.left_out) == (0, {"already recorded": 1})
