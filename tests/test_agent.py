"""What an agent is told to play, and which policy it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from uigym import Agent, load
from uigym.agent import Plan, find_policy, newest_checkpoint
from uigym.errors import ConfigError, HarnessError
from uigym.harness import Split
from uigym.policy.scripted import NoOpPolicy, OraclePolicy, RandomPolicy


def test_a_plan_spreads_episodes_evenly_over_tasks() -> None:
    kiosk = load("kiosk")
    tasks = [kiosk.find_task("order"), kiosk.find_task("pay_order")]
    requests = Plan(episodes=3, split=Split.VALIDATION).requests(tasks)
    assert [(r.task, r.seed) for r in requests] == [
        ("order", 1_000_000),
        ("pay_order", 1_000_000),
        ("order", 1_000_001),
    ]


def test_a_plan_without_episodes_or_tasks_is_refused() -> None:
    with pytest.raises(ConfigError, match="0 episodes of 1 tasks"):
        Plan(episodes=0).requests([load("kiosk").find_task("order")])
    with pytest.raises(ConfigError, match="20 episodes of 0 tasks"):
        Plan().requests([])


def test_policies_by_name() -> None:
    kinds = {name: type(find_policy(name)) for name in ("noop", "oracle", "random")}
    assert kinds == {"noop": NoOpPolicy, "oracle": OraclePolicy, "random": RandomPolicy}


def test_an_unknown_policy_is_answered_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r'no policy "tinny".* Did you mean "tiny"\?'):
        Agent.from_checkpoint("tinny")


def test_a_folder_that_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no checkpoint in"):
        Agent.from_checkpoint(tmp_path)


def test_a_checkpoint_of_another_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "llama"}))
    with pytest.raises(ConfigError, match="holds a 'llama' model; expected one of"):
        Agent.from_checkpoint(tmp_path)


def test_a_run_folder_stands_for_its_newest_checkpoint(tmp_path: Path) -> None:
    assert newest_checkpoint(tmp_path) == tmp_path
    for name in ("checkpoint-9", "checkpoint-10", "checkpoint-11", "checkpoint-best"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
        if name != "checkpoint-11":  # half deleted, or half written
            (tmp_path / name / "progress.json").write_text("{}")
    assert newest_checkpoint(tmp_path).name == "checkpoint-10"
    assert newest_checkpoint(tmp_path / "checkpoint-9").name == "checkpoint-9"


def test_an_unknown_task_or_split_is_refused() -> None:
    agent = Agent.from_checkpoint("noop")
    with pytest.raises(HarnessError, match=r'no task "ordr"\. Did you mean "order"'):
        agent.run_task("kiosk/ordr")
    with pytest.raises(ConfigError, match=r'no split "test"\. .*heldout'):
        agent.run_task("kiosk/order", split="test")
