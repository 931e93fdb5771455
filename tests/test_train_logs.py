"""Where the numbers of a run go."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from test_report import clip

from uigym.errors import StoreError
from uigym.rollout import Finished
from uigym.train.logs import COLUMNS, Account, Log, few
from uigym.types import Cause, Click, Failure, Stop, Verdict

OFFLINE = """
from pathlib import Path
from test_report import clip
from uigym.rollout import Finished
from uigym.train.logs import Account, Log
from uigym.types import Click, Verdict
log = Log(Path("run"), ("jsonl", "wandb"), {"seed": 1})
log.write({"phase": "grpo", "update": 1, "reward/mean": 0.5})
shown = clip("one", [Click(10, 10)], Verdict(1.0, True))
log.episodes([Finished(shown.episode, (), shown.images)], update=1, split="train")
log.close()
"""


def test_rows_are_there_at_once_and_appended(tmp_path: Path) -> None:
    for number in range(2):
        log = Log(tmp_path / "run", ("jsonl",))
        log.write({"update": number, "reward": 0.5})
        assert len((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()) == number + 1
        log.close()
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [{"update": n, "reward": 0.5} for n in range(2)]


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no device that is always full")
def test_a_full_disk_is_told(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").symlink_to("/dev/full")
    log = Log(tmp_path)
    with pytest.raises(StoreError, match=r"cannot write .*metrics\.jsonl: OSError: .*No space left"):
        log.write({"update": 1})
    log.close()


def test_wandb_without_an_account_is_offline_and_says_so(tmp_path: Path) -> None:
    pytest.importorskip("wandb")
    env = {name: value for name, value in os.environ.items() if not name.startswith("WANDB")}
    env["PYTHONPATH"] = os.pathsep.join([*sys.path, str(Path(__file__).parent)])
    ran = subprocess.run(
        [sys.executable, "-c", OFFLINE],
        cwd=tmp_path,
        env={**env, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    assert "no account is set, so the run is recorded offline in run/wandb" in ran.stdout
    assert list((tmp_path / "run" / "wandb").glob("offline-run-*/*.wandb"))
    tables = list((tmp_path / "run" / "wandb").glob("offline-run-*/files/media/table/**/*.table.json"))
    assert len(tables) == 1
    table = json.loads(tables[0].read_text())
    assert tuple(table["columns"]) == COLUMNS and table["data"][0][:2] == [1, "train"]
    assert all(table["data"][0][-2:])  # the screenshots


def test_wandb_that_is_off_is_not_even_imported(tmp_path: Path) -> None:
    log = Log(tmp_path, ("jsonl", "wandb"), account=Account(mode="off"))
    log.write({"update": 1})
    log.close()
    assert not (tmp_path / "wandb").exists()


def test_the_page_is_there_from_the_first_row_and_whole_at_the_end(tmp_path: Path) -> None:
    log = Log(tmp_path, page=True)
    log.write({"phase": "grpo", "update": 1, "success/all": 0.5})
    assert 'http-equiv="refresh"' in (tmp_path / "training.html").read_text()
    log.write({"phase": "grpo", "update": 2, "success/all": 1.0})
    log.close()
    log.close()
    html = (tmp_path / "training.html").read_text()
    assert "in update 2" in html and 'http-equiv="refresh"' not in html


def test_episodes_worth_a_look() -> None:
    good, bad = (clip("x", [Click(1, 1)], Verdict(score, score == 1.0)) for score in (1.0, 0.0))
    lost = replace(good.episode, stop=Stop.ERROR, verdict=None, failure=Failure(Cause.BROWSER, "gone"))
    many = [Finished(good.episode)] * 5 + [Finished(bad.episode)] * 5 + [Finished(lost)]
    chosen = [f.episode.verdict.score if f.episode.verdict else None for f in few(many)]
    assert chosen == [None, 1.0, 0.0, 1.0]
    assert len(few(many[:2])) == 2 and few([]) == []
