"""check_harness: a sound harness passes, and each way of being unsound is found and named."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import count as counter
from pathlib import Path
from typing import Any

import pytest

from uigym.errors import HarnessError, ProductError
from uigym.harness import Harness, Running, Task
from uigym.params import one_of
from uigym.product.state import Sqlite
from uigym.registry import load
from uigym.testing import CHECKS, Finding, Report, check_harness
from uigym.types import Episode, Verdict
from uigym.verifiers.state import changed, unchanged
from uigym.verify import passed

PAD = load(str(Path(__file__).parent / "gyms" / "pad.py"))
NOTES = Sqlite("{workdir}/pad.db", tables=["notes"])
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


async def check(harness: Harness, tasks: list[str], slots: int = 1, **options: Any) -> Report:
    """One seed, and no attacks from the page."""
    return await check_harness(harness, tasks, slots=slots, **{"seeds": (0,), "reach": False, **options})


def wrong(report: Report) -> dict[tuple[str, str], str]:
    """What failed: details by check and task."""
    return {(finding.check, finding.task): finding.detail for finding in report.failed}


async def test_a_sound_harness_passes() -> None:
    told: list[tuple[int, int, str]] = []
    report = await check_harness(pad(), slots=2, progress=lambda *step: told.append(step))
    assert report.ok, report.failed
    assert [done for done, _, _ in told] == list(range(1, report.counts.episodes + 1))
    totals = [total for _, total, _ in told]
    assert totals == sorted(totals) and totals[-1] == report.counts.episodes
    assert {finding.check for finding in report.findings} == CHECKS.keys()
    assert Finding("oracle", "add", 1, True, "4 steps of at most 6") in report.findings
    record = json.loads(json.dumps(report.to_json()))
    assert (record["harness"], record["ok"], len(record["findings"])) == ("pad", True, len(report.findings))


async def test_what_was_tried_is_counted() -> None:
    quick = await check(pad(), ["add"])
    full = await check(pad(), ["add"], full=True)
    assert quick.ok and full.ok, (quick.failed, full.failed)
    for counts in (quick.counts, full.counts):
        assert counts.paid == 0 and counts.attacks == 0 and counts.seconds > 0
    assert full.counts.mutants > quick.counts.mutants and full.counts.episodes > quick.counts.episodes


async def test_pay_for_nothing_is_found() -> None:
    harness = pad()
    add_task(harness, lambda episode: passed("anything"))
    found = wrong(await check(harness, ["odd"], slots=2))
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
        report = await check(harness, ["odd"])
        finding = next(f for f in report.findings if f.check == "random")
        assert finding.ok is ok and finding.detail.startswith(f"{1 + more} of 9 random plays passed as a success")


async def test_a_verifier_that_is_not_a_function_of_the_episode_is_found() -> None:
    harness, calls = pad(), counter()
    add_task(harness, lambda episode: Verdict(1 / (2 + next(calls)), False))
    found = wrong(await check(harness, ["odd"], slots=2))
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
        found[solve.__name__] = wrong(await check(harness, ["odd"]))
    assert found["slow"]["expected_steps", "odd"] == "2 steps, expected at most 1"
    assert "the oracle failed, stopped by done after 2 steps, told 'Do it.'" in found["failing"]["oracle", "odd"]
    assert "expected more (it passed 0 of 5 plays)" in found["failing"]["oracle", "odd"]
    assert "no verdict; lost to the harness: the oracle of pad/odd" in found["raising"]["oracle", "odd"]
    assert "no such button" in found["raising"]["oracle", "odd"]


async def test_resets_that_differ_are_found() -> None:
    resets = counter()

    async def drifting(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
        await PAD.reset(product, next(resets) % 3, appearance)

    found = wrong(await check(pad(reset=drifting), ["count"]))
    assert "two resets gave different data: notes" in found["reset", ""]


async def test_first_pictures_that_differ_are_found() -> None:
    resets = counter()

    async def repainting(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
        await PAD.reset(product, seed, {"colour": f"rgb({next(resets) * 10}, 99, 99)"})

    found = wrong(await check(pad(reset=repainting, state=NOTES), ["count"]))
    assert "resets gave" in found["pixels", ""] and "different first pictures" in found["pixels", ""]


async def test_seeds_that_make_no_difference_are_found() -> None:
    async def always(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
        await PAD.reset(product, 1, {})

    harness = pad(reset=always, looks={})
    found = wrong(await check(harness, ["count"], seeds=(0, 1)))
    assert "all seeds gave the same data, look and parameters" in found["seeds", "count"]


async def test_a_product_that_breaks_is_told_and_not_scored() -> None:
    async def failing(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
        await asyncio.sleep(0)
        raise OSError("no such table")

    with pytest.raises(ProductError, match="no such table"):  # one thing to say, and not one for each task
        await check(pad(reset=failing), ["count"])


async def test_a_product_that_breaks_later_is_told_and_not_scored() -> None:
    resets = counter()

    async def failing(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
        if next(resets):
            raise OSError("no such table")
        await PAD.reset(product, seed, appearance)

    found = wrong(await check(pad(reset=failing), ["count"]))
    assert "lost to the product" in found["noop", "count"] and "no such table" in found["noop", "count"]


async def test_what_no_episode_is_needed_to_see_is_said_once_with_its_place() -> None:
    harness = pad()
    add_task(harness, changed("nots", key=1, text="x"))

    @harness.task("Do {it}.", "Do {it[0][x]}.", max_steps=2)
    def unsayable(it: str = one_of("it")):  # type: ignore[no-untyped-def]
        return unchanged()

    found = wrong(await check(harness, ["odd", "unsayable"]))
    assert found.keys() == {("verdict", "odd"), ("sampling", "unsayable")}
    assert 'has no table "nots". Did you mean "notes"?' in found["verdict", "odd"]
    assert "(test_testing.py, line " in found["verdict", "odd"]
    assert "cannot say 'Do {it[0][x]}.'" in found["sampling", "unsayable"]


async def test_nothing_to_check_is_an_error() -> None:
    with pytest.raises(HarnessError, match='no task "cuont"'):
        await check_harness(pad(), ["cuont"])
    with pytest.raises(HarnessError, match=r"nothing to check \(0 tasks, 2 seeds\)"):
        await check_harness(replace(PAD))
