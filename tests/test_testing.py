"""check_harness: a sound harness passes, and each way of being unsound is found and named."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import replace
from itertools import count as counter
from pathlib import Path
from typing import Any

import pytest

from uigym.errors import HarnessError
from uigym.harness import Harness, Running, Task
from uigym.params import one_of
from uigym.registry import load
from uigym.testing import Finding, Report, check_harness
from uigym.types import Episode, Verdict
from uigym.verify import passed

PAD = load(str(Path(__file__).parent / "gyms" / "pad.py"))
pytestmark = pytest.mark.browser


def pad(**changes: Any) -> Harness:
    """A pad of its own."""
    harness = replace(PAD, **changes)
    harness.tasks.update({name: replace(task, harness=harness) for name, task in PAD.tasks.items()})
    return harness


def add_task(harness: Harness, verifier: Any, expected_steps: int | None = None) -> Task:
    """A task that is called odd."""

    @harness.task("Do {it}.", max_steps=2, expected_steps=expected_steps)
    def odd(it: str = one_of("it")):  # type: ignore[no-untyped-def]
        return verifier

    return odd


def wrong(report: Report) -> dict[tuple[str, str], str]:
    """What failed: details by check and task."""
    return {(finding.check, finding.task): finding.detail for finding in report.failed}


async def test_a_sound_harness_passes() -> None:
    told: list[tuple[int, int, str]] = []
    began = time.monotonic()
    report = await check_harness(pad(), seeds=(0, 1, 2), progress=lambda *step: told.append(step))
    assert report.ok, report.failed
    assert time.monotonic() - began < 60
    assert [done for done, _, _ in told] == list(range(1, 19))
    assert {total for _, total, _ in told} == {18}
    checks = {finding.check for finding in report.findings}
    assert checks == {"reset", "seeds", "noop", "random", "oracle", "expected_steps", "verdict"}
    assert Finding("reset", "", 0, True, "6 equal resets") in report.findings
    assert Finding("oracle", "add", 1, True, "4 steps of at most 6") in report.findings
    record = json.loads(json.dumps(report.to_json()))
    assert (record["harness"], record["ok"], len(record["findings"])) == ("pad", True, len(report.findings))


async def test_pay_for_nothing_is_found() -> None:
    harness = pad()
    add_task(harness, lambda episode: passed("anything"))
    found = wrong(await check_harness(harness, ["odd"], seeds=(0,), slots=2))
    assert "doing nothing passed as a success" in found["noop", "odd"]
    assert found["random", "odd"].startswith("9 of 9 random plays passed as a success")
    assert found["oracle", "odd"] == "nothing shows that it can be solved: write @odd.oracle"


async def test_luck_is_no_fault_until_it_is_frequent() -> None:
    """The first random play succeeds; of the eight that follow, so many."""
    for more, ok in ((0, True), (2, True), (3, False)):
        seen = set[str]()

        def lucky(episode: Episode, seen: set[str] = seen, more: int = more) -> Verdict:
            acted = len(episode.steps) > 1 and episode.policy == "random"
            seen |= {repr(episode.steps)} if acted else set()
            return passed("luck") if acted and len(seen) <= 1 + more else Verdict(0.0, False)

        harness = pad()
        add_task(harness, lucky)
        report = await check_harness(harness, ["odd"], seeds=(0,), slots=1)
        finding = next(f for f in report.findings if f.check == "random")
        assert finding.ok is ok and finding.detail.startswith(f"{1 + more} of 9 random plays passed as a success")


async def test_a_verifier_that_is_not_a_function_of_the_episode_is_found() -> None:
    harness, calls = pad(), counter()
    add_task(harness, lambda episode: Verdict(1 / (2 + next(calls)), False))
    found = wrong(await check_harness(harness, ["odd"], seeds=(0,), slots=2))
    assert "a verifier must be a pure function of the episode" in found["verdict", "odd"]


async def test_a_failing_slow_or_raising_oracle_is_found() -> None:
    def done(episode: Episode) -> Verdict:
        worked = len(episode.steps) > 1 and episode.answer == "yes"
        return passed("worked") if worked else Verdict(0.0, False, reason="expected more")

    harness = pad()
    task = add_task(harness, done, expected_steps=1)

    async def slow(page: Any) -> str:
        await page.mouse.move(1, 1)
        return "yes"

    async def failing(page: Any) -> None:
        await page.mouse.move(1, 1)

    async def raising(page: Any) -> None:
        raise LookupError("no such button")

    found = {}
    for solve in (slow, failing, raising):
        task.oracle(solve)
        found[solve.__name__] = wrong(await check_harness(harness, ["odd"], seeds=(0,), slots=1))
    assert found["slow"] == {("expected_steps", "odd"): "2 steps, expected at most 1"}
    assert found["failing"] == {("oracle", "odd"): "the oracle failed, stopped by done after 2 steps: expected more"}
    assert "no verdict; lost to the harness: the oracle of pad/odd" in found["raising"]["oracle", "odd"]
    assert "no such button" in found["raising"]["oracle", "odd"]


async def test_resets_that_differ_are_found() -> None:
    resets = counter()

    async def drifting(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
        await PAD.reset(product, next(resets) % 3, appearance)

    found = wrong(await check_harness(pad(reset=drifting), ["count"], seeds=(0,), slots=1))
    assert "two resets gave different data in notes" in found["reset", ""]


async def test_first_pictures_that_differ_are_found() -> None:
    resets = counter()

    async def repainting(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
        await PAD.reset(product, seed, {"colour": f"rgb({next(resets) * 10}, 99, 99)"})

    found = wrong(await check_harness(pad(reset=repainting), ["count"], seeds=(0,), slots=1))
    assert "two resets gave different first pictures" in found["reset", ""]


async def test_seeds_that_make_no_difference_are_found() -> None:
    async def always(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
        await PAD.reset(product, 1, {})

    harness = pad(reset=always, looks={})
    found = wrong(await check_harness(harness, ["count"], seeds=(0, 1), slots=1))
    assert "all seeds gave the same data, look and parameters" in found["seeds", "count"]


async def test_a_product_that_breaks_is_told_and_not_scored() -> None:
    async def failing(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
        await asyncio.sleep(0)
        raise OSError("no such table")

    found = wrong(await check_harness(pad(reset=failing), ["count"], seeds=(0,), slots=2))
    assert "lost to the product" in found["noop", "count"] and "no such table" in found["noop", "count"]
    assert "fewer than two resets worked" in found["reset", ""]


async def test_nothing_to_check_is_an_error() -> None:
    with pytest.raises(HarnessError, match='no task "cuont"'):
        await check_harness(pad(), ["cuont"])
    with pytest.raises(HarnessError, match=r"nothing to check \(0 tasks, 2 seeds\)"):
        await check_harness(replace(PAD))
