"""The measurement runs, adds up, and refuses what it cannot measure."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from uigym import bench
from uigym.bench import bench_env
from uigym.errors import ConfigError
from uigym.harness import Harness
from uigym.registry import load


@pytest.mark.browser
async def test_both_sides_are_measured_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "ROUND_S", 0.5)
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
