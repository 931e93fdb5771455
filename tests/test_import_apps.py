"""Files of the tools themselves, turned into demonstrations of the bundled apps that count."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.recorders import record_codegen
from uigym import load
from uigym.cli.app import app
from uigym.exchange import FORMATS, export
from uigym.exchange.importing import READERS, Imported, Importer, Plan, Recording
from uigym.exchange.words import difference
from uigym.harness import Harness
from uigym.record import read_demo
from uigym.store import RunStore
from uigym.types import Action, Answer, Done, State

pytestmark = pytest.mark.browser
RECORDINGS = Path(__file__).parent / "recordings"
KIOSK = load("kiosk")


def bring_in(harness: Harness, store: RunStore, *orders: tuple[Recording, Plan]) -> list[Imported]:
    async def run() -> list[Imported]:
        async with Importer(harness, store) as importer:
            return [await importer.bring_in(recording, plan) for recording, plan in orders]

    return asyncio.run(run())


def read(kind: str, path: Path) -> Recording:
    (recording,) = READERS[kind](path)
    return recording


def actions(done: Imported) -> list[Action]:
    assert done.episode is not None, done.unresolved
    return [step.action for step in done.episode.steps]


@pytest.fixture(scope="module")
def noted(tmp_path_factory: pytest.TempPathFactory) -> RunStore:
    """The demonstration of a recording of DevTools."""
    store = RunStore(tmp_path_factory.mktemp("demos"))
    recording = read("devtools", RECORDINGS / "devtools_kiosk.json")
    (done,) = bring_in(
        KIOSK, store, (recording, Plan("order_note", 3, source="devtools devtools_kiosk.json", by="Kim"))
    )
    assert done.counts and done.remarks == ()
    return store


def test_a_recording_of_devtools_becomes_a_demonstration(noted: RunStore) -> None:
    (episode,) = noted.episodes()
    demo = read_demo(noted, episode.id)
    assert demo is not None and demo.proof is not None and demo.proof.counts
    assert (demo.by, demo.way, demo.source) == ("Kim", "import", "devtools devtools_kiosk.json")
    assert (demo.width, demo.height) == KIOSK.viewport and demo.notes == {"title": "Eclair with a note"}
    assert episode.verdict is not None and episode.verdict.success and episode.policy == "Kim"


def test_what_was_exported_comes_back_as_the_same_actions(noted: RunStore, tmp_path: Path) -> None:
    orders = []
    for kind in ("opencua", "atif"):
        export(noted, None, FORMATS[kind], tmp_path / kind)
        recording = read(kind, tmp_path / kind)
        assert (recording.task, recording.seed, recording.about["by"]) == ("kiosk/order_note", 3, "Kim")
        orders.append((recording, Plan("order_note", 3, source=kind)))
    (first,) = noted.episodes()
    for done in bring_in(KIOSK, RunStore(tmp_path / "again"), *orders):
        assert done.counts and same([step.action for step in first.steps], actions(done))


def same(some: Sequence[Action], others: Sequence[Action]) -> bool:
    return all(difference(one, other, "a file") == "" for one, other in zip(some, others, strict=True))


def test_what_playwright_records_becomes_demonstrations(tmp_path: Path) -> None:
    tasks = ("order_size", "large_price")
    episodes = [record_codegen(KIOSK, task, 5, tmp_path / f"{task}.jsonl") for task in tasks]
    orders = [
        (read("codegen", tmp_path / f"{task}.jsonl"), Plan(task, 5, answer=episode.answer))
        for task, episode in zip(tasks, episodes, strict=True)
    ]
    for done, episode in zip(bring_in(KIOSK, RunStore(tmp_path / "demos"), *orders), episodes, strict=True):
        assert done.counts and done.unresolved == done.remarks == ()
        assert actions(done) == [step.action for step in episode.steps]


@pytest.mark.slow
def test_a_history_of_browser_use_becomes_a_demonstration(tmp_path: Path) -> None:
    recording = read("browser-use", RECORDINGS / "browser_use_shop.json")
    (done,) = bring_in(load("shop"), RunStore(tmp_path), (recording, Plan("adjust_stock", 1)))
    assert done.counts and done.unresolved == done.remarks == ()
    assert actions(done)[-1] == Done(), "the agent's parting words are no answer to this task"


@pytest.mark.slow
def test_parting_words_stay_where_they_are_the_answer(tmp_path: Path) -> None:
    episode = record_codegen(KIOSK, "table_owes", 2, tmp_path / "a.jsonl")
    assert episode.answer is not None
    recording = read("codegen", tmp_path / "a.jsonl")
    recording = Recording(recording.steps, answer=Answer(episode.answer))
    (done,) = bring_in(KIOSK, RunStore(tmp_path / "demos"), (recording, Plan("table_owes", 2)))
    assert done.counts and actions(done)[-1] == Answer(episode.answer)


# --- near misses: what does not count, and why ---


@pytest.mark.slow
def test_a_recording_of_another_seed_is_stored_and_does_not_count(tmp_path: Path) -> None:
    record_codegen(KIOSK, "open_section", 1, tmp_path / "a.jsonl")
    recording = read("codegen", tmp_path / "a.jsonl")
    other = next(seed for seed in range(2, 40) if section(seed) != section(1))
    store = RunStore(tmp_path / "demos")
    (done,) = bring_in(KIOSK, store, (recording, Plan("open_section", other)))
    assert done.episode is not None and not done.counts
    assert done.demo is not None and done.demo.proof is not None
    assert (done.demo.proof.same_state, done.demo.proof.passes, done.demo.proof.idle_fails) == (True, False, True)
    assert read_demo(store, done.episode.id) == done.demo


def section(seed: int) -> Any:
    return KIOSK.find_task("open_section").instance(seed, State()).params["section"]


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["import", *map(str, arguments)])


def test_the_command_tells_the_step_that_cannot_be_done(tmp_path: Path) -> None:
    flow = json.loads((RECORDINGS / "devtools_kiosk.json").read_text())
    flow["steps"][2]["selectors"] = [["#no-such-thing"]]
    (tmp_path / "flow.json").write_text(json.dumps(flow))
    demos = tmp_path / "demos"
    result = run(
        tmp_path / "flow.json", "--from", "devtools", "--task", "kiosk/order_note", "--seed", 3, "--out", demos
    )
    assert result.exit_code == 1
    assert "step 3, click #no-such-thing: no such element on the page" in result.output
    assert "nothing is stored" in result.output and RunStore(demos).ids() == []


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--from", "selenium"], "Available: atif, browser-use, codegen, devtools, opencua"),
        (["--from", "devtools", "--seed", 3], "name the task with --task"),
        (["--from", "devtools", "--task", "kiosk", "--seed", 3], "name one of them with --task kiosk/TASK"),
        (["--from", "devtools", "--task", "kiosk/order_note"], "give the seed with --seed"),
    ],
)
def test_what_is_missing_is_asked_for(arguments: list[Any], why: str, tmp_path: Path) -> None:
    result = run(RECORDINGS / "devtools_kiosk.json", *arguments, "--out", tmp_path)
    assert isinstance(result.exception, SystemExit) and result.exit_code == 2
    assert why in " ".join(result.output.split())


def test_a_task_that_a_file_names_is_never_a_file(tmp_path: Path) -> None:
    (tmp_path / "evil.py").write_text("raise SystemExit('it was run')")
    record = {"steps": [], "extra": {"task": f"{tmp_path}/evil.py/task", "seed": 1, "width": 10, "height": 10}}
    (tmp_path / "a.json").write_text(json.dumps(record))
    result = run(tmp_path / "a.json", "--from", "atif", "--out", tmp_path / "demos")
    assert "it was run" not in result.output and "name the task with --task" in " ".join(result.output.split())
