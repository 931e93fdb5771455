"""A product that is none of ours (plain WSGI, its own process, its own SQLite file) behind a harness of 30 lines."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from uigym import Agent, load
from uigym.agent import Plan
from uigym.cli.app import app
from uigym.store import RunStore
from uigym.train.config import RunConfig
from uigym.train.run import train
from uigym.types import Click, Done, Stop

FOLDER = Path(__file__).parent / "third_party"
HARNESS = FOLDER / "rental.py"
HARNESSES = Path(__file__).parent.parent / "harnesses"


def test_the_product_knows_nothing_of_gyms_and_the_harness_is_short() -> None:
    imported = {
        module.split(".")[0]
        for node in ast.walk(ast.parse((FOLDER / "bikes.py").read_text()))
        for module in (
            [node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in getattr(node, "names", [])]
        )
        if isinstance(node, ast.Import | ast.ImportFrom) and module
    }
    assert "uigym" not in imported and "fastapi" not in imported
    assert len(HARNESS.read_text().splitlines()) <= 30


@pytest.mark.parametrize(
    ("name", "told", "task"),
    [
        ("wagtail", {"wagtail"}, "pages.publish_draft"),
        ("nodered", {"nodered"}, "editing.rename_node"),
        ("dokuwiki", {"PHP", "LIBRARIES", "dokuwiki"}, "history.restore_revision"),
    ],
)
def test_how_to_start_reset_and_read_a_product_and_a_first_task_are_thirty_lines(
    name: str, told: set[str], task: str
) -> None:
    module, _, function = task.partition(".")
    product, tasks = (ast.parse((HARNESSES / name / f"{file}.py").read_text()).body for file in ("product", module))
    first = next(at for at, node in enumerate(tasks) if isinstance(node, ast.FunctionDef) and node.name == function)
    harness = [node for node in product if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in told]
    assert len(harness) == len(told) and "oracle" in ast.unparse(tasks[first + 1])
    assert sum(map(length, (*harness, tasks[first], tasks[first + 1]))) <= 30


def length(node: Any) -> int:
    """Its lines, decorators included."""
    return int(node.end_lineno - min(part.lineno for part in (node, *getattr(node, "decorator_list", ()))) + 1)


@pytest.mark.browser
def test_its_harness_is_sound() -> None:
    result = CliRunner().invoke(app, ["check", str(HARNESS), "--json", "--slots", "2"])
    assert result.exit_code == 0, result.output
    (report,) = json.loads(result.stdout)
    assert report["ok"] and {f["check"] for f in report["findings"]} >= {
        "reset",
        "seeds",
        "noop",
        "random",
        "oracle",
        "verdict",
    }


@pytest.mark.browser
async def test_its_oracle_plays_by_mouse_and_the_episodes_are_kept(tmp_path: Path) -> None:
    harness = load(str(HARNESS))
    plan = Plan(episodes=3, slots=2)
    store = RunStore(tmp_path)
    trial = await Agent.from_checkpoint("oracle").play(
        harness, plan.requests([harness.find_task("rent")]), plan, store=store
    )
    assert trial.success_rate == 1.0
    kept = list(store.episodes())
    assert sorted(kept, key=lambda e: e.id) == sorted(trial.episodes, key=lambda e: e.id)
    for episode in kept:
        assert [type(step.action) for step in episode.steps] == [Click, Done]
        assert episode.stop is Stop.DONE
        (before,) = [b for b in episode.before.tables["bikes"] if b["id"] == episode.params["bike"]["id"]]
        assert before["rented"] == 0 and before["name"] in episode.instruction


@pytest.mark.browser
def test_an_agent_can_be_used_without_an_event_loop() -> None:
    trial = Agent.from_checkpoint("noop").run_task(f"{HARNESS}/rent", episodes=2, max_steps=2, slots=1)
    assert trial.success_rate == 0.0 and len(trial.episodes) == 2


@pytest.mark.browser
def test_the_tiny_model_trains_on_it_for_one_update(tmp_path: Path) -> None:
    settings = RunConfig.model_validate(
        {
            "harness": str(HARNESS),
            "out": tmp_path / "run",
            "data": {"val_episodes": 2},
            "trainer": {
                "threads": 1,
                "max_updates": 1,
                "warm_start": {"demonstrations": 4, "epochs": 1, "batch_rows": 8},
                "algorithm": {"group_size": 2, "groups_per_step": 2, "minibatches": 1},
            },
            "inference": {"slots": 2},
        }
    )
    said: list[str] = []
    checkpoint = train(settings, said.append)
    assert checkpoint.name == "checkpoint-1" and (checkpoint / "model.safetensors").stat().st_size > 10**6
    rows = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [row["phase"] for row in rows if row["phase"] != "warm_start"] == ["grpo", "test"]
    (update,) = [row for row in rows if row["phase"] == "grpo"]
    assert update["episodes"] == 4 and not update["failures"]
    trial = Agent.from_checkpoint(checkpoint).run_task(f"{HARNESS}/rent", episodes=2, slots=2)
    assert len(trial.episodes) == 2 and all(episode.verdict for episode in trial.episodes)
