"""Where the numbers of a run go."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from uigym.errors import StoreError
from uigym.train.logs import Log

OFFLINE = """
from pathlib import Path
from uigym.train.logs import Log
log = Log(Path("run"), ("jsonl", "wandb"), {"seed": 1})
log.write({"phase": "grpo", "reward": 0.5})
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
