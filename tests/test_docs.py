"""Every snippet of the README and the guides runs, and what they show as output is what comes out.

A fence with title="FILE" is written to that file (with `add`, appended). A Python fence is run. In a shell fence, `uigym` lines are
run; one that is marked as taking minutes is only checked for its options; of `make` the target must exist. Each line of a
text fence stands in the output of the shell fence before it, numbers apart. A YAML fence is a run file.
"""

from __future__ import annotations

import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from uigym.cli.app import app
from uigym.testing import CHECKS
from uigym.train.config import RunConfig, every_key, load

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MUST_FAIL = "./rental.py/count_free"  # the guide shows a check that finds something


@dataclass(frozen=True)
class Fence:
    language: str
    title: str
    adds: bool
    text: str
    line: int


def fences(page: Path) -> list[Fence]:
    found = []
    for match in re.finditer(r"^```(\w+)([^\n]*)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL):
        language, rest, text = match.groups()
        title = re.search(r'title="([^"]+)"', rest)
        line = page.read_text()[: match.start()].count("\n") + 1
        found.append(Fence(language, title[1] if title else "", rest.endswith(" add"), text, line))
    return found


def masked(text: str) -> str:
    return " ".join(re.sub(r"\d+", "0", text).split())


def shell(line: str) -> str:
    command, _, remark = line.partition("  #")
    if command.startswith("make "):
        assert re.search(rf"^{command.split()[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE), line
        return ""
    words = shlex.split(command)
    several = words[0] == "torchrun"  # processes, and GPUs: what they are started with is looked at alone
    words = words[words.index("uigym") :] if several else words
    assert words[0] == "uigym", line
    if "minutes" in remark or several:
        words = [words[0], *words[1:], "--help"]
    result = CliRunner().invoke(app, words[1:])
    assert result.exit_code == (1 if MUST_FAIL in words else 0), f"{line}\n{result.output}"
    return result.output


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(ROOT / "tests" / "third_party" / "bikes.py", tmp_path)
    shutil.copy(ROOT / "tests" / "third_party" / "rental.py", tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.browser
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_snippets_run(page: Path, workplace: Path) -> None:
    printed = ""
    for fence in fences(page):
        if fence.title:
            with (workplace / fence.title).open("a" if fence.adds else "w") as file:
                file.write(fence.text)
        elif fence.language == "python":
            exec(compile(fence.text, f"{page.name}:{fence.line}", "exec"), {"__name__": "__main__"})
        elif fence.language == "sh":
            printed = "\n".join(shell(line) for line in fence.text.splitlines() if line.strip())
        elif fence.language == "yaml":
            RunConfig.model_validate(yaml.safe_load(fence.text))
        elif fence.language == "text":
            missing = [line for line in fence.text.splitlines() if masked(line) not in masked(printed)]
            assert not missing, f"{page.name}:{fence.line}: not printed: {missing}\n{printed}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_pictures_are_there(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", page.read_text())
    assert not [target for target in targets if not (page.parent / target).exists()]


def test_the_harness_that_is_shown_is_the_one_that_is_tested() -> None:
    shown = [f.text for page in PAGES for f in fences(page) if f.title == "rental.py" and not f.adds]
    file = (ROOT / "tests" / "third_party" / "rental.py").read_text()
    assert len(shown) == 2 and set(shown) == {file}
    assert len(file.splitlines()) <= 30


def test_every_key_of_a_run_file_that_is_explained_exists() -> None:
    table = re.findall(r"^\| (`[^|]+`) \|", (ROOT / "docs" / "training.md").read_text(), re.MULTILINE)
    keys = [key for cell in table for key in re.findall(r"`([\w.]+)`", cell) if "." in key]
    assert len(keys) > 12
    assert set(keys) <= set(every_key())


def test_the_example_is_a_run_file() -> None:
    assert load(ROOT / "examples" / "kiosk.yaml").harness == "kiosk"


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) < 200


def test_every_check_is_explained() -> None:
    text = (ROOT / "docs" / "check.md").read_text()
    assert {name for name in CHECKS if f"`{name}`" not in text} == set()
