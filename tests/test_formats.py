"""Exports read by the programs that they are for. `make test-formats` makes the environments that it needs."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from demonstrations import HEIGHT, WIDTH, folder
from test_exchange import KINDS, LEFT

from uigym.exchange import FORMATS, Options, export
from uigym.models.tiny import tiny_checkpoint
from uigym.types import Answer, Click, Done, Key, Type, action_to_json

PYTHON = os.environ.get("UIGYM_FORMATS")
"""The interpreter of the environment with datasets, TRL, Harbor and the two clients."""
LLAMA_FACTORY = os.environ.get("UIGYM_LLAMA_FACTORY")
"""That of LLaMA-Factory's, which wants older packages."""
WORKER = Path(__file__).parent / "workers" / "formats.py"
WHOLE = (Click(**LEFT), Type("tea"), Key("Enter"), Answer("2"))

pytestmark = pytest.mark.skipif(not PYTHON, reason="needs environments of its own: make test-formats")


def ask(name: str, out: Path, *more: Path, python: str | None = PYTHON) -> Any:
    """What the format's program makes of a folder."""
    env = {**os.environ, "HF_HOME": str(out.parent / "hf"), "PYTHONPATH": ""}
    command = [str(python), str(WORKER), name, str(out), *map(str, more)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def test_datasets_shows_pictures_and_actions(tmp_path: Path) -> None:
    export(folder(tmp_path / "run", WHOLE, WHOLE[:2]), None, FORMATS["hf"], tmp_path / "out")
    found = ask("hf", tmp_path / "out")
    assert found["rows"] == {"train": 6} and found["image"] == "Image" and found["rewards"] == [1.0] * 6
    assert found["sizes"] == [[WIDTH, HEIGHT]] * 6
    meant = [json.loads(json.dumps(action_to_json(action))) for action in (*WHOLE, *WHOLE[:2])]
    assert [json.loads(action) for action in found["actions"]] == meant


@pytest.mark.parametrize("context", ["window(1)", "full"])
def test_trl_learns_a_step_from_it(tmp_path: Path, context: str) -> None:
    store = folder(tmp_path / "run", (Click(**LEFT), Done()), (Click(**LEFT), Done()))
    export(store, None, FORMATS["trl"], tmp_path / "out", Options(codec="tiny", context=context))
    found = ask("trl", tmp_path / "out", tiny_checkpoint())
    assert 0 < found["loss"] < 20 and found["changed"] == found["of"]
    if context != "full":
        assert found["learnt"] and all(said in ("<click><x6><y6><|im_end|>", "<done><|im_end|>") for said in found["learnt"])  # fmt: skip


@pytest.mark.skipif(not LLAMA_FACTORY, reason="needs LLaMA-Factory in an environment of its own")
def test_llama_factory_loads_it(tmp_path: Path) -> None:
    export(folder(tmp_path / "run", WHOLE), None, FORMATS["llamafactory"], tmp_path / "out")
    rows = ask("llamafactory", tmp_path / "out", python=LLAMA_FACTORY)
    assert [len(row["images"]) for row in rows] == [1, 2, 3, 3]
    for row in rows:
        assert sum(message["content"].count("<image>") for message in row["prompt"]) == len(row["images"])
        assert all(Path(path).is_file() for path in row["images"]) and "The task: Do d0." in row["system"]
        assert row["response"][0]["role"] == "assistant" and "<tool_call>" in row["response"][0]["content"]


def test_harbor_finds_nothing_wrong(tmp_path: Path) -> None:
    export(folder(tmp_path / "run", *KINDS.values()), None, FORMATS["atif"], tmp_path / "out")
    found = ask("atif", tmp_path / "out")
    assert len(found) == len(KINDS) and all(not told["errors"] and told["pictures"] for told in found.values())


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_the_clients_types_hold_it(tmp_path: Path, name: str) -> None:
    store = folder(tmp_path / "run", WHOLE, *KINDS.values())
    done = export(store, None, FORMATS[name], tmp_path / "out")
    found = ask(name, tmp_path / "out")
    assert len(found) == done.demonstrations and all(min(counts.values()) >= 1 for counts in found)
