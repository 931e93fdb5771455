"""The measurements run, add up, and refuse what they cannot measure."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from typer.testing import CliRunner

from uigym.bench import Plan, bench_env, bench_memory, cells, measure, sweep, throughput
from uigym.bench.browsergym import BrowserGymSide
from uigym.bench.memory import slope
from uigym.bench.pages import PAGES, PageServer
from uigym.bench.processes import cpu_ms, group, parent, pss_mb, tree
from uigym.bench.raw import RawChromium
from uigym.bench.sides import OurSide
from uigym.cli.app import app
from uigym.cli.benches import parse_sizes
from uigym.errors import BrowserError, ConfigError
from uigym.harness import Harness
from uigym.registry import load

WORKER = Path(__file__).parent / "workers" / "gym.py"
SMALL = (320, 240)


@pytest_asyncio.fixture
async def pages() -> AsyncIterator[PageServer]:
    server = PageServer()
    await server.start()
    yield server
    await server.close()


# --- a product ---------------------------------------------------------------------------------------------


@pytest.mark.browser
async def test_both_sides_are_measured_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throughput, "ROUND_S", 0.5)
    shares: list[float] = []
    result = await bench_env(load("kiosk"), seconds=2.0, slots=2, progress=shares.append)
    assert json.loads(json.dumps(result)) == result
    assert (result["harness"], result["slots"], result["browsers"], result["rounds"]) == ("kiosk", 2, 1, 2)
    assert shares == [0.5, 1.0]
    for side in (result["uigym"], result["playwright"]):
        assert side["steps"] >= 4 and side["steps_per_s"] > 1
        assert 0 < side["step_ms"]["p50"] <= side["step_ms"]["p90"]
        assert 0 < side["reset_ms"]["p50"] <= side["reset_ms"]["p90"]
        cpu = side["cpu_ms_per_step"]
        assert cpu["own"] > 0 and cpu["browser"] > 0 and abs(cpu["own"] + cpu["browser"] - cpu["total"]) < 0.1
    ratio = result["ratio"]
    expected = result["uigym"]["steps_per_s"] / result["playwright"]["steps_per_s"]
    assert abs(ratio["steps_per_s"] - expected) < 0.05 * expected and ratio["steps_per_cpu_s"] > 0
    assert result["machine"]["cores"] == os.cpu_count()
    assert result["versions"]["chromium"].count(".") == 3 and not Path(result["command"].split()[0]).is_absolute()


@pytest.mark.parametrize(("seconds", "slots", "browsers"), [(0, 1, None), (1, 0, None), (1, 1, 0)])
async def test_numbers_that_cannot_be_used(seconds: float, slots: int, browsers: int | None) -> None:
    with pytest.raises(ConfigError, match="bench needs"):
        await bench_env(load("kiosk"), seconds=seconds, slots=slots, browsers=browsers)


async def test_a_product_that_runs_elsewhere_is_left_alone() -> None:
    kiosk = load("kiosk")
    elsewhere = Harness(name="elsewhere", url="https://example.com", state=kiosk.state, reset=kiosk.reset)
    with pytest.raises(ConfigError, match="random clicks would change it"):
        await bench_env(elsewhere)


# --- pages and sides ---------------------------------------------------------------------------------------


@pytest.mark.browser
async def test_pages_are_as_heavy_as_they_say_and_a_click_changes_them(pages: PageServer) -> None:
    ours, nodes = OurSide(1, SMALL), {}
    await ours.start()
    try:
        for name in PAGES:
            await ours.open(0, f"{pages.url}/{name}")
            page = ours.session(0).page
            before = (await ours.session(0).look()).png
            for _ in range(3):
                await ours.click(0)
            assert await page.inner_text("#count") == "3" and await page.locator(".marked").count() == 1
            assert (await ours.session(0).look()).png != before
            nodes[name] = await page.evaluate("document.body.querySelectorAll('*').length")
            pictures = "[...document.images].filter((image) => image.naturalWidth === 240).length"
            assert await page.evaluate(pictures) == (300 if name == "heavy" else 0)
    finally:
        await ours.close()
    assert 20 < nodes["light"] < 40 and 1400 < nodes["middle"] < 1600 and nodes["heavy"] > 1400


@pytest.mark.browser
async def test_the_raw_loop_clicks_and_leaves_nothing(pages: PageServer) -> None:
    raw = RawChromium(2, SMALL)
    await raw.start()
    pid, folder = raw.pid, raw.folder
    try:
        for slot in (0, 1, 0):  # the last one in place of the first
            first = await raw.open(slot, f"{pages.url}/light")
        shown = [await raw.click(0, 80, 40) for _ in range(2)]
        assert len({first, *shown}) == 3 and all(png.startswith(b"\x89PNG") for png in shown)
        assert await raw.open(1, f"{pages.url}/light") == first
    finally:
        await raw.close()
    assert not group(pid) and not folder.exists()


@pytest.mark.browser
async def test_the_raw_loop_says_when_its_browser_dies(pages: PageServer) -> None:
    raw = RawChromium(1, SMALL)
    await raw.start()
    try:
        await raw.open(0, f"{pages.url}/light")
        os.kill(raw.pid, 9)
        with pytest.raises(BrowserError, match="closed the pipe"):
            async with asyncio.timeout(10):
                await raw.click(0, 80, 40)
    finally:
        await raw.close()


@pytest.mark.browser
def test_the_command_measures_and_shows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cells, "TURN_STEPS", 3)
    monkeypatch.setattr(sweep, "TURN_S", 0.1)
    monkeypatch.setattr(measure, "SLOTS", (1, 5))
    words = "bench env --page light --viewport 320x240 --rounds 1 --against raw --against playwright --sweep --out"
    shown = CliRunner().invoke(app, [*words.split(), str(tmp_path / "bench" / "pages.json")])
    assert shown.exit_code == 0, shown.output
    for text in ("decode", "light 320x240  raw", "unprepared", "each further slot", "Chromium 1"):
        assert text in shown.stdout, shown.stdout
    result = json.loads((tmp_path / "bench" / "pages.json").read_text())
    _check_cell(result["cells"][0])
    counts = result["sweep"][0]["counts"]
    assert [(count["slots"], count["browsers"]) for count in counts] == [(1, 1), (5, 2)]
    assert all(count["steps_per_s"] > 0 for count in counts)
    assert set(result["resets"]) == {"harness", "prepared", "unprepared", "new_browser"}
    assert 0 < result["resets"]["prepared"]["p50"] < result["resets"]["new_browser"]["p50"]
    assert len(result["memory"][0]["mb"]) == 5 and 5 < result["memory"][0]["per_further_slot"] < 80


def _check_cell(cell: dict[str, Any]) -> None:
    assert list(cell["sides"]) == ["uigym", "raw", "playwright"] and list(cell["ratio"]) == ["raw", "playwright"]
    for side in cell["sides"].values():
        assert side["steps"] == 3 and side["step_ms"]["p50"] > 0 and side["reset_ms"]["p50"] > 0
    ours, raw = cell["sides"]["uigym"]["step_ms"]["p50"], cell["sides"]["raw"]["step_ms"]["p50"]
    assert abs(cell["ratio"]["raw"]["step_ms"] - ours / raw) < 0.01
    assert list(cell["stages"]) == ["input", "settle", "capture", "decode"]
    assert all(stage["ms"] > 0 for stage in cell["stages"].values())


# --- memory and processes ----------------------------------------------------------------------------------


@pytest.mark.browser
async def test_memory_is_sampled_along_the_way() -> None:
    shares: list[float] = []
    result = await bench_memory(load("kiosk"), episodes=4, navigations=5, progress=shares.append)
    assert shares == [n / 9 for n in range(1, 10)]
    for part, count in (("episodes", 4), ("navigations", 5)):
        samples = result[part]["samples"]
        assert [sample["at"] for sample in samples] == list(range(1, count + 1)) and result[part]["done"] == count
        assert all(sample["browser"] > 30 and sample["driver"] > 10 and sample["own"] > 10 for sample in samples)
    assert set(result["episodes"]["growth_mb_per_100"]) == {"browser", "driver", "own"}
    with pytest.raises(ConfigError, match="at least 4"):
        await bench_memory(load("kiosk"), episodes=3)


def test_growth_is_a_slope() -> None:
    assert slope((1, 2, 3), (5, 7, 9)) == 2
    assert slope((1, 2, 3), (4, 4, 4)) == 0 == slope((1,), (4,))


async def test_processes_are_told_from_proc() -> None:
    script = "import time\nfor _ in range(10**7): pass\nprint(1, flush=True)\ntime.sleep(60)"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None
    await process.stdout.readline()
    try:
        assert group(process.pid) == {process.pid} and parent(process.pid) == os.getpid()
        assert {os.getpid(), process.pid} <= tree(os.getpid()) and tree(process.pid) == {process.pid}
        assert cpu_ms({process.pid}) >= 20 and pss_mb({process.pid}) > 1
        began = cpu_ms({os.getpid()}), time.process_time()
        while time.process_time() - began[1] < 0.1:
            sum(range(1000))
        assert 70 <= cpu_ms({os.getpid()}) - began[0] <= 150
    finally:
        process.kill()
        await process.wait()
    assert tree(process.pid) == set() and cpu_ms({process.pid}) == 0 == pss_mb({process.pid}) == parent(process.pid)


# --- BrowserGym --------------------------------------------------------------------------------------------


async def test_browsergym_is_driven_by_its_worker() -> None:
    side = BrowserGymSide(Path(sys.executable), SMALL, stripped=True, worker=WORKER)
    await side.start()
    pid = min(side.pids())
    try:
        await side.open(0, "http://127.0.0.1/light")
        assert side.version == "0.14.9 320x240 True"
        for _ in range(3):
            await side.click(0)
        with pytest.raises(BrowserError, match="BrowserGym: TimeoutError: click 4"):
            await side.click(0)
        with pytest.raises(ConfigError, match="pip install browsergym-core"):
            await side.open(0, "http://127.0.0.1/dies")
    finally:
        await side.close()
    assert not tree(pid)


async def test_a_python_without_browsergym_is_told_how_to_get_it() -> None:
    side = BrowserGymSide(Path(sys.executable), SMALL, stripped=False)
    await side.start()
    try:
        with pytest.raises(ConfigError, match="pip install browsergym-core"):
            await side.open(0, "http://127.0.0.1/light")
    finally:
        await side.close()


@pytest.mark.parametrize("words", ["--against browsergym", "--against browsergym --browsergym-python nowhere/python"])
def test_browsergym_is_not_looked_for_elsewhere(words: str) -> None:
    result = CliRunner().invoke(app, ["bench", "env", "--page", "light", "--viewport", "320x240", *words.split()])
    assert result.exit_code == 2 and "python -m venv" in result.output


# --- what cannot be measured -------------------------------------------------------------------------------


def test_plans_that_cannot_be_used() -> None:
    with pytest.raises(ConfigError, match='no page "lite"'):
        Plan(pages=("lite",))
    with pytest.raises(ConfigError, match='no side "selenium"'):
        Plan(against=("selenium",))
    with pytest.raises(ConfigError, match="nothing to measure"):
        Plan(rounds=0)


def test_sizes() -> None:
    assert parse_sizes("320x240, 1280x720") == ((320, 240), (1280, 720))
    for wrong in ("", "320", "320x", "axb", "320x240;1x1", "5x5"):
        with pytest.raises(ConfigError, match="--viewport"):
            parse_sizes(wrong)


def test_the_script_for_results_uses_what_the_commands_have() -> None:
    script = (Path(__file__).parent.parent / "benchmarks" / "env.sh").read_text().replace("\\\n", "")
    commands = re.findall(r'^ *"\$uigym" (bench \w+)(.*)$', script, re.MULTILINE)
    assert len(commands) == 5
    for command, rest in commands:
        shown = CliRunner().invoke(app, [*command.split(), "--help"]).output
        assert not [option for option in re.findall(r"--[\w-]+", rest) if option not in shown]
