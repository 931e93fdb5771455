"""Which episodes are run: from the harness, by curriculum, from Parquet."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from uigym import load
from uigym.errors import ConfigError, HarnessError
from uigym.export import export_tasks
from uigym.harness import Harness, Split
from uigym.train.data import Curriculum, Listed, choose_tasks, from_parquet, spread_over


@pytest.fixture
def kiosk() -> Harness:
    return load("kiosk")


def test_tasks_are_chosen_by_tag_and_name(kiosk: Harness) -> None:
    short = choose_tasks(kiosk, tags=["short"])
    assert 3 < len(short) < len(kiosk.tasks) and all("short" in task.tags for task in short)
    assert [task.name for task in choose_tasks(kiosk, names=["kiosk/order", "pay_order"])] == ["order", "pay_order"]
    assert len(choose_tasks(kiosk)) == len(kiosk.tasks)


def test_a_tag_or_task_that_is_not_there(kiosk: Harness) -> None:
    with pytest.raises(ConfigError, match=r"no task of kiosk has the tags \['shrt'\]. Tags: .*short"):
        choose_tasks(kiosk, tags=["shrt"])
    with pytest.raises(HarnessError, match='no task "ordr"'):
        choose_tasks(kiosk, names=["ordr"])


def test_requests_go_round_the_tasks(kiosk: Harness) -> None:
    tasks = choose_tasks(kiosk, names=["order", "pay_order"])
    got = spread_over(tasks, Split.HELDOUT, 5, per_seed=2, first=10)
    first = Split.HELDOUT.seed(10)
    assert [r.seed for r in got] == [first, first, first + 1, first + 1, first + 2]
    assert [r.task for r in got] == ["order", "pay_order", "order", "pay_order", "order"]


# --- curriculum ----------------------------------------------------------------------------------------------


def test_every_task_is_drawn_and_no_seed_twice(kiosk: Harness) -> None:
    tasks = choose_tasks(kiosk, tags=["short"])
    drawn = list(itertools.islice(Curriculum(tasks, Split.TRAIN, 0), 400))
    assert {task for task, _ in drawn} == {task.name for task in tasks}
    assert len({seed for _, seed in drawn}) == 400 and all(Split.of(seed) is Split.TRAIN for _, seed in drawn)
    other = {seed for _, seed in itertools.islice(Curriculum(tasks, Split.TRAIN, 1), 400)}
    assert not other & {seed for _, seed in drawn}


def test_what_is_settled_is_drawn_less(kiosk: Harness) -> None:
    practice = Curriculum(choose_tasks(kiosk, names=["order", "pay_order", "cancel_order"]), Split.TRAIN, 0)
    for _ in range(20):
        practice.hear("order", 1.0)
        practice.hear("pay_order", 0.0)
        practice.hear("cancel_order", 0.5)
    count = Counter(task for task, _ in itertools.islice(practice, 600))
    assert 0 < count["order"] < count["cancel_order"] / 3 and 0 < count["pay_order"] < count["cancel_order"] / 3


def test_a_curriculum_goes_on_where_it_stood(kiosk: Harness) -> None:
    tasks = choose_tasks(kiosk, tags=["short"])
    whole, before, after = (Curriculum(tasks, Split.TRAIN, 5) for _ in range(3))
    for practice in (whole, before):
        list(itertools.islice(practice, 7))
        practice.hear(tasks[0].name, 1.0)
    after.restore(json.loads(json.dumps(before.state())))
    assert list(itertools.islice(after, 20)) == list(itertools.islice(whole, 20))


def test_a_list_is_practised_for_some_epochs() -> None:
    pairs = [("order", seed) for seed in range(6)]
    drawn = list(Listed(pairs, 3, 0))
    assert [sorted(drawn[at : at + 6]) for at in (0, 6, 12)] == [pairs] * 3
    assert drawn[:6] != drawn[6:12] and drawn == list(Listed(pairs, 3, 0)) != list(Listed(pairs, 3, 1))
    resumed = Listed(pairs, 3, 0)
    resumed.restore({"drawn": 10, "success": {"order": 0.5}})
    assert list(resumed) == drawn[10:]


# --- Parquet -------------------------------------------------------------------------------------------------


async def test_what_export_writes_is_read(kiosk: Harness, tmp_path: Path) -> None:
    seeds = [0, 3, Split.HELDOUT.seed(1)]
    tasks = choose_tasks(kiosk, names=["order", "pay_order"])
    await export_tasks(kiosk, tmp_path, seeds=seeds, tasks=tasks)
    trained = from_parquet([tmp_path / "train.parquet"], kiosk)
    assert sorted(trained) == [("order", 0), ("order", 3), ("pay_order", 0), ("pay_order", 3)]
    both = from_parquet([tmp_path / "train.parquet", tmp_path / "heldout.parquet"], kiosk)
    assert sorted(both[4:]) == [("order", seeds[2]), ("pay_order", seeds[2])]


def written(path: Path, **columns: list[object]) -> Path:
    parquet.write_table(pyarrow.table(columns), path)
    return path


def test_task_files_that_cannot_be_used(kiosk: Harness, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no task file .*a\.parquet\. Write it with: uigym export tasks kiosk"):
        from_parquet([tmp_path / "a.parquet"], kiosk)
    (tmp_path / "text.parquet").write_text("task,seed\norder,1\n")
    with pytest.raises(ConfigError, match=r"text\.parquet is no task file of `uigym export tasks`"):
        from_parquet([tmp_path / "text.parquet"], kiosk)
    with pytest.raises(ConfigError, match=r"b\.parquet is no task file of `uigym export tasks`"):
        from_parquet([written(tmp_path / "b.parquet", task=["order"])], kiosk)
    with pytest.raises(ConfigError, match=r"c\.parquet is no task file of `uigym export tasks`"):
        from_parquet([written(tmp_path / "c.parquet", task=["kiosk/order"], seed=["first"])], kiosk)
    with pytest.raises(ConfigError, match=r"d\.parquet holds tasks of desk, expected tasks of kiosk"):
        from_parquet([written(tmp_path / "d.parquet", task=["desk/assign"], seed=[1])], kiosk)
    with pytest.raises(HarnessError, match='no task "ordr"'):
        from_parquet([written(tmp_path / "e.parquet", task=["kiosk/ordr"], seed=[1])], kiosk)
