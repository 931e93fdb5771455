"""The public names, and that importing them costs nothing."""

from __future__ import annotations

import subprocess
import sys
from types import FunctionType

import pytest

import uigym

NAMES = sorted(
    [
        "Harness",
        "Task",
        "load",
        "Env",
        "Observation",
        "Action",
        "Step",
        "Episode",
        "Verifier",
        "Verdict",
        "all_of",
        "any_of",
        "Policy",
        "rollout",
        "evaluate",
        "Agent",
    ]
)


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_public_names() -> None:
    assert sorted(uigym.__all__) == NAMES
    assert set(NAMES) <= set(dir(uigym))


@pytest.mark.parametrize("name", NAMES)
def test_each_name_is_there(name: str) -> None:
    assert getattr(uigym, name) is not None


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Gym'"):
        _ = uigym.Gym


def test_import_brings_in_nothing() -> None:
    assert python("import sys; before = set(sys.modules); import uigym; print(*sorted(m for m in sys.modules if m.startswith('uigym')))") == "uigym"  # fmt: skip


def test_defining_a_harness_needs_no_browser_and_no_torch() -> None:
    heavy = {"torch", "transformers", "playwright", "numpy", "fastapi", "rich"}
    code = (
        "import sys, uigym.harness, uigym.params, uigym.verify; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    )
    assert not heavy & set(python(code).split())


def test_no_public_name_brings_in_torch() -> None:
    code = "import sys; from uigym import *; print('torch' in sys.modules, 'transformers' in sys.modules)"
    assert python(code) == "False False"


@pytest.mark.parametrize("name", ["rollout", "evaluate"])
def test_a_function_wins_over_its_module(name: str) -> None:
    assert isinstance(getattr(uigym, name), FunctionType)
    assert python(f"import uigym.{name}; from uigym import {name}; print(type({name}).__name__)") == "function"
    assert python(f"from uigym import {name}; import uigym.{name}; print(type(uigym.{name}).__name__)") == "function"
