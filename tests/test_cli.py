"""The command line: results, messages and exit codes, as a person or a script meets them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from uigym import __version__
from uigym.cli.app import app
from uigym.cli.options import find_tasks, parse_seeds
from uigym.cli.terminal import descendants
from uigym.errors import ConfigError
from uigym.harness import Split
from uigym.store import RunStore
from uigym.types import Verdict

RENTAL = Path(__file__).parent / "third_party" / "rental.py"
HARNESS = """
from uigym import Harness, all_of
from uigym.product import Snapshot, Sqlite
from uigym.verifiers.state import unchanged
{name} = Harness(name="{name}", {more}, state=Sqlite("x.db"), reset=Snapshot("x.db"), ready_timeout_s={ready_s})

@{name}.task("Do it.", max_steps=2)
def do_it():
    return unchanged()
"""


def uigym(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def program(*words: str | Path, code: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    """The real program, in a process of its own; `code` runs before it."""
    script = (
        f"import sys; sys.argv = {['uigym', *map(str, words)]!r}; {code or None}\nfrom uigym.cli import main\nmain()"
    )
    command = [sys.executable, "-c", script]
    return subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True, timeout=60, check=False)


def one_message(result: Result | subprocess.CompletedProcess[str], exit_code: int) -> str:
    """The text of an error: that it is alone, on stderr, with this exit code."""
    code = result.exit_code if isinstance(result, Result) else result.returncode
    text = " ".join(result.stderr.split())
    assert (code, result.stdout) == (exit_code, ""), text
    assert text.startswith("error: ") and "Traceback" not in text and text.count("error:") == 1
    return text


def harness_file(folder: Path, more: str, ready_s: float = 5.0, name: str = "broken") -> Path:
    path = folder / f"{name}.py"
    path.write_text(HARNESS.format(name=name, more=more, ready_s=ready_s))
    return path


# --- what is there -----------------------------------------------------------------------------------------


def test_help_shows_the_way() -> None:
    text = uigym("--help").stdout
    for command in (
        "list",
        "new",
        "check",
        "run",
        "record",
        "eval",
        "train",
        "quickstart",
        "export",
        "bench",
        "install",
        "install-browser",
    ):
        assert re.search(rf"^  {command} ", text, re.MULTILINE), command
    assert "..." not in text.partition("Commands:")[2]


@pytest.mark.parametrize(
    "command", ["list", "check", "run", "record", "eval", "train", "quickstart", "export tasks", "bench env"]
)
def test_every_command_explains_itself_with_an_example(command: str) -> None:
    result = uigym(*command.split(), "--help")
    assert result.exit_code == 0
    assert f"    uigym {command}" in result.stdout


def test_version() -> None:
    assert uigym("--version").stdout == f"uigym {__version__}\n"
    assert program("--version").stdout == f"uigym {__version__}\n"


def test_list_shows_harnesses_and_tasks() -> None:
    assert re.search(r"^desk .*1280x720", uigym("list").stdout, re.MULTILINE)
    assert re.search(r"^kiosk/order .*Order one", uigym("list", "kiosk").stdout, re.MULTILINE)
    assert re.search(r"^\d+ tasks, 1,000,000 instances of each", uigym("list").stdout, re.MULTILINE)
    entries = json.loads(uigym("list", "--json").stdout)
    assert {"desk", "kiosk"} <= {entry["harness"] for entry in entries}
    assert json.loads(uigym("list", RENTAL, "--json").stdout)["tasks"][0]["task"] == "rental/rent"


def test_seeds() -> None:
    assert parse_seeds("2:4", Split.TRAIN) == [2, 3]
    assert parse_seeds("5", Split.HELDOUT) == [2_000_005]
    for wrong in ("", "x", "3:3", "4:2", "-1:2", "0:2000000", "1:2:3"):
        with pytest.raises(ConfigError, match="--seeds"):
            parse_seeds(wrong, Split.TRAIN)


def test_a_harness_file_is_named_by_path_variable_and_task() -> None:
    for ref in (f"{RENTAL}", f"{RENTAL}:rental", f"{RENTAL}/rent", f"{RENTAL}:rental/rent"):
        harness, tasks = find_tasks(ref)
        assert (harness.name, [task.name for task in tasks]) == ("rental", ["rent"])


# --- playing -----------------------------------------------------------------------------------------------


@pytest.mark.browser
def test_an_unsound_harness_fails_the_check(tmp_path: Path) -> None:
    text = RENTAL.read_text().replace("all_of(rented, unchanged(except_=rented))", "unchanged()")
    path = tmp_path / "rental.py"
    path.write_text(text.replace("Path(__file__)", f"Path({str(RENTAL)!r})"))
    result = uigym("check", path, "--seeds", "0")
    assert result.exit_code == 1
    assert "noop, rental/rent, seed 0: doing nothing passed as a success" in " ".join(result.stdout.split())


@pytest.mark.browser
def test_run_keeps_resumes_and_refuses_to_mix(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    words = ("run", RENTAL, "--policy", "oracle", "--slots", "2", "--out", folder)
    first = uigym(*words, "--seeds", "0:2")
    assert first.exit_code == 0, first.stderr
    assert re.search(r"rental/rent +100%", first.stdout)
    assert "already holds a run of 2 episodes. Add --resume" in one_message(uigym(*words, "--seeds", "0:2"), 2)
    again = json.loads(uigym(*words, "--seeds", "0:3", "--resume", "--json").stdout)
    assert (again["episodes"], again["successes"]) == (3, 3)
    assert len(RunStore(folder).ids()) == 3
    other = uigym("run", RENTAL, "--policy", "noop", "--seeds", "0:3", "--out", folder, "--resume")
    assert "holds episodes of oracle, not of noop" in one_message(other, 2)
    fewer = json.loads(uigym(*words, "--seeds", "1", "--resume", "--json").stdout)
    assert fewer["episodes"] == 1, "only what was asked for is summed up"


@pytest.mark.browser
def test_report_shows_failures_first_and_all_that_was_seen(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    uigym("run", RENTAL, "--policy", "oracle", "--seeds", "1", "--out", folder)
    store = RunStore(folder)
    (won,) = store.episodes()
    images = {step.image: store.image(step.image) for step in won.steps}
    lost = replace(won, id="zzz", instruction="<b>Rent</b>", verdict=Verdict(0.0, False, reason="no"))
    store.write(lost, images)
    result = uigym("report", folder)
    assert result.exit_code == 0 and result.stdout.strip() == str(folder / "report.html")
    page = (folder / "report.html").read_text()
    assert page.index("&lt;b&gt;Rent&lt;/b&gt;") < page.index(won.instruction) and "<b>Rent" not in page
    assert page.count("data:image/png") >= 4
    uigym("report", folder, "--episodes", "1")
    assert won.instruction not in (folder / "report.html").read_text()
    assert "holds no run" in one_message(uigym("report", tmp_path / "nothing"), 2)


@pytest.mark.browser
def test_record_does_not_count_failures_as_recorded(tmp_path: Path) -> None:
    uigym("run", RENTAL, "--policy", "noop", "--seeds", "0:2", "--out", tmp_path)
    good = json.loads(
        uigym("record", RENTAL, "--policy", "oracle", "--seeds", "0:2", "--out", tmp_path, "--json").stdout
    )
    assert (good["kept"], good["left_out"]) == (2, {})


@pytest.mark.browser
def test_record_keeps_successes_only(tmp_path: Path) -> None:
    good = json.loads(
        uigym("record", RENTAL, "--policy", "oracle", "--seeds", "0:2", "--out", tmp_path / "demos", "--json").stdout
    )
    assert (good["kept"], good["left_out"]) == (2, {})
    none = json.loads(uigym("record", RENTAL, "--policy", "noop", "--seeds", "0:2", "--out", tmp_path / "n", "--json").stdout)  # fmt: skip
    assert (none["kept"], none["left_out"]) == (0, {"rent: not solved, stopped by done": 2})
    assert RunStore(tmp_path / "n").ids() == []


@pytest.mark.browser
def test_eval_measures_on_heldout_seeds(tmp_path: Path) -> None:
    words = ("eval", RENTAL, "--checkpoint", "noop", "--episodes", "3", "--out", tmp_path / "e", "--json")
    result = json.loads(uigym(*words).stdout)
    assert (result["valid"], result["success_rate"]) == (3, 0.0)
    assert sorted(episode.seed for episode in RunStore(tmp_path / "e").episodes()) == [2_000_000, 2_000_001, 2_000_002]


def test_export_tasks_writes_parquet(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    result = uigym("export", "tasks", RENTAL, "--out", tmp_path, "--seeds", "0:3", "--json")
    assert json.loads(result.stdout)["rows"] == {"train": 3, "validation": 3, "heldout": 3}
    rows = parquet.read_table(tmp_path / "heldout.parquet").to_pylist()
    assert list(rows[0]) == ["task", "seed", "split", "instruction", "params", "max_steps", "tags"]
    assert rows[0]["task"] == "rental/rent" and rows[0]["split"] == "heldout" and rows[0]["seed"] == 2_000_000
    assert json.loads(rows[0]["params"])["bike"]["name"] in rows[0]["instruction"]


# --- bad input ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["list", "check", "run"])
def test_unknown_harness(command: str) -> None:
    text = one_message(uigym(command, "kiosc"), 2)
    assert 'no harness "kiosc". Did you mean "kiosk"?' in text


def test_unknown_task() -> None:
    assert 'harness "kiosk" has no task "ordr". Did you mean "order"?' in one_message(uigym("run", "kiosk/ordr"), 2)
    assert 'no harness "kiosc"' in one_message(uigym("run", "kiosc/order"), 2)


def test_unknown_policy() -> None:
    text = one_message(uigym("run", RENTAL, "--policy", "orcale"), 2)
    assert 'no policy "orcale"' in text and 'Did you mean "oracle"?' in text


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("max_steps=2", "max_steps=2,,"), "line 7: SyntaxError: invalid syntax"),
        (("Do it.", "Do {that}."), "line 7: task 'do_it' of harness 'broken': the instruction uses {that}"),
        (("unchanged\n", "unchangd\n"), "line 4: ImportError: cannot import name 'unchangd'"),
        (("from uigym import Harness", "1 / 0\nfrom uigym import Harness"), "line 2: ZeroDivisionError"),
    ],
)
def test_a_harness_file_with_an_error_names_file_and_line(tmp_path: Path, change: tuple[str, str], says: str) -> None:
    path = harness_file(tmp_path, 'url="http://127.0.0.1:9"')
    path.write_text(path.read_text().replace(*change))
    text = one_message(uigym("check", path), 2)
    assert f"{path}, {says}" in text


def test_two_ways_to_check() -> None:
    assert "--quick and --full are the two ways" in one_message(uigym("check", "kiosk", "--quick", "--full"), 2)


@pytest.mark.browser
def test_some_tasks_of_each_harness() -> None:
    checked = json.loads(uigym("check", "kiosk", "--quick", "--some", "2", "--seeds", "0:1", "--json").stdout)
    assert checked[0]["ok"] and checked[0]["counts"]["episodes"] < 40


def test_a_harness_file_that_is_not_there(tmp_path: Path) -> None:
    assert f"no harness file {tmp_path}/no.py" in one_message(uigym("check", tmp_path / "no.py"), 2)


@pytest.mark.browser
def test_a_start_command_that_dies_shows_its_output(tmp_path: Path) -> None:
    dies = """start="sh -c 'echo port {port} is taken by aliens; exit 3'" """
    text = one_message(uigym("check", harness_file(tmp_path, dies), "--slots", "1"), 1)
    assert "ended with status 3" in text and "Last 20 lines of its output: port" in text and "by aliens" in text


@pytest.mark.browser
def test_a_start_command_that_is_never_ready_shows_its_output(tmp_path: Path) -> None:
    sleeps = """start="sh -c 'echo warming up on {port}; exec sleep 60'" """
    text = one_message(uigym("run", harness_file(tmp_path, sleeps, 0.5), "--policy", "noop", "--slots", "1"), 1)
    assert re.search(r"did not answer 200 on / .* within 0\.5 s .* Last 20 lines of its output: warming up on", text)


def test_no_chromium() -> None:
    done = program("run", RENTAL, "--policy", "noop", "--slots", "1", UIGYM_CHROMIUM="/nowhere/chrome")
    assert "/nowhere/chrome" in one_message(done, 1)


@pytest.mark.parametrize(
    "command", [("train", "--config", "x.yaml"), ("quickstart",), ("eval", RENTAL, "--checkpoint", "tiny")]
)
def test_a_missing_extra_names_the_command_that_installs_it(command: tuple[str, ...], tmp_path: Path) -> None:
    done = program(*command, code="sys.modules['torch'] = None")
    assert 'pip install "uigym[train]"' in one_message(done, 1)


@pytest.mark.parametrize(
    ("text", "override", "says"),
    [
        (
            "harness: kiosk\ntrainer:\n  epoch: 3\n",
            "",
            r"run\.yaml, line 3: no key 'trainer\.epoch'\. Did you mean \"epochs\"\?",
        ),
        ("harness: kiosk\ntrainer:\n  epochs: many\n", "", r"run\.yaml, line 3: trainer\.epochs: .*integer.*'many'"),
        ("harness: [kiosk\n", "", r"run\.yaml, line 2: not YAML"),
        ("- kiosk\n", "", r"run\.yaml: expected keys and values"),
        ("seed: 1\n", "", r"run\.yaml: harness: field required"),
        ("harness: kiosk\n", "trainer.epochs", r"cannot read the override 'trainer\.epochs': expected key=value"),
        ("harness: kiosk\n", "trainer.epochs=0", r"trainer\.epochs: .*greater than or equal to 1"),
        ("harness: kiosc\n", "", r'no harness "kiosc"\. Did you mean "kiosk"'),
        ("harness: kiosk\ndata: {tags: [shrot]}\n", "", r"no task of kiosk has the tags \['shrot'\]"),
        ("harness: kiosk\npolicy: {model: {path: /nowhere}}\n", "", r"no checkpoint in /nowhere"),
    ],
)
def test_a_malformed_run_file_names_key_expectation_and_line(
    tmp_path: Path, text: str, override: str, says: str
) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(text)
    words = [f"out={tmp_path / 'out'}", *([override] if override else [])]
    assert re.search(says, one_message(uigym("train", "--config", path, *words), 2))
    assert not (tmp_path / "out").exists()


def test_a_run_file_that_is_not_there(tmp_path: Path) -> None:
    assert f"cannot read the run file {tmp_path}/no.yaml" in one_message(
        uigym("train", "--config", tmp_path / "no.yaml"), 2
    )


def test_wrong_options_are_explained() -> None:
    result = uigym("run", RENTAL, "--slots", "0")
    assert result.exit_code == 2 and "Invalid value for '--slots'" in result.stderr


def test_a_bug_is_one_line_unless_it_is_debugged() -> None:
    broken = "import uigym.registry; uigym.registry.names = None"
    quiet = program("list", code=broken)
    assert (
        quiet.returncode == 1
        and quiet.stderr.startswith("internal error: TypeError")
        and "Traceback" not in quiet.stderr
    )
    assert "Traceback" in program("list", code=broken, UIGYM_DEBUG="1").stderr


# --- Ctrl+C ------------------------------------------------------------------------------------------------

SLOW = """
import asyncio
from pathlib import Path
{rest}
@rental.task("Wait.", max_steps=9)
def wait():
    return unchanged()

@wait.oracle
async def _(page):
    Path("{flag}").touch()
    {sleep}
"""


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path, str]]:
    """A run whose oracle sits there, started as a shell would, when it sits; its folder; a mark on all its processes."""
    yield from started(tmp_path, "await asyncio.sleep(60)")


@pytest.fixture
def stuck(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path, str]]:
    """The same, but it does not even notice that it is to stop."""
    yield from started(tmp_path, "import time; time.sleep(60)")


def started(tmp_path: Path, sleep: str) -> Iterator[tuple[subprocess.Popen[str], Path, str]]:
    mark, flag = uuid.uuid4().hex, tmp_path / "sitting"
    rest = RENTAL.read_text().replace("Path(__file__)", f"Path({str(RENTAL)!r})")
    path = tmp_path / "slow.py"
    path.write_text(SLOW.format(rest=rest, flag=flag, sleep=sleep))
    command = [
        sys.executable,
        "-m",
        "uigym",
        "run",
        f"{path}/wait",
        "--policy",
        "oracle",
        "--seeds",
        "0:4",
        "--slots",
        "2",
    ]
    command += ["--out", str(tmp_path / "run")]
    env = {**os.environ, "UIGYM_TEST_MARK": mark}
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:  # fmt: skip
        try:
            until(flag.exists, 60)
            yield process, tmp_path / "run", mark
        finally:
            process.kill()


def until(holds: object, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while not holds():  # type: ignore[operator]
        assert time.monotonic() < deadline, f"{holds} did not hold within {timeout_s} s"
        time.sleep(0.05)


def marked(mark: str) -> list[str]:
    """Processes that carry the mark in their environment and are not yet dead."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    return found


@pytest.mark.browser
def test_ctrl_c_stops_cleanly(slow: tuple[subprocess.Popen[str], Path, str]) -> None:
    process, folder, mark = slow
    os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to the whole group
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == "" and "stopping; press Ctrl+C again" in err and err.rstrip().endswith("stopped")
    assert "Traceback" not in err
    assert RunStore(folder).ids() == []  # nothing half-written that a later run would trust
    until(lambda: not marked(mark), 10)


@pytest.fixture
def in_background(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path, str]]:
    """The slow run as a script's `&` starts it, with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    starting = started(tmp_path, "await asyncio.sleep(60)")
    try:
        running = next(starting)
    finally:
        signal.signal(signal.SIGINT, before)
    yield running
    next(starting, None)


@pytest.mark.browser
def test_sigterm_ends_a_run_in_the_background(in_background: tuple[subprocess.Popen[str], Path, str]) -> None:
    process, folder, mark = in_background
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130 and "Traceback" not in err
    assert RunStore(folder).ids() == []
    until(lambda: not marked(mark), 10)


@pytest.mark.browser
def test_ctrl_c_twice_ends_at_once(stuck: tuple[subprocess.Popen[str], Path, str]) -> None:
    process, folder, mark = stuck
    assert descendants(process.pid)
    os.killpg(process.pid, signal.SIGINT)
    time.sleep(0.5)
    began = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert time.monotonic() - began < 5
    assert RunStore(folder).ids() == []
    until(lambda: not marked(mark), 10)
