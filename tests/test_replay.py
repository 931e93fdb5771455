"""Demonstrations by the hundred: recorded by oracles in several processes, and played again on other builds."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from uigym.cli.app import app
from uigym.errors import ConfigError, UIGymError
from uigym.record import again, read_demo
from uigym.record.crew import Deal, Tell, share
from uigym.record.oracles import Kept, sample
from uigym.store import RunStore

HERE = Path(__file__).parent / "third_party"
BUILDS = {
    "same": {},
    "column": {
        "name TEXT, rented INTEGER)": "name TEXT, rented INTEGER, note TEXT DEFAULT 'new')",
        "INTO bikes VALUES": "INTO bikes (id, name, rented) VALUES",
    },
    "lower": {"height: 28px": "height: 40px"},
    "dearer": {'"Yellow Kid"': '"Yellow Giant"'},
    "crashing": {'start_response("303 See Other", [("Location", "/")])': 'start_response("500 Oh", [])'},
}
"""Of the bicycle rental: what is replaced in it."""


def uigym(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def build(folder: Path, name: str) -> Path:
    """The rental's harness beside a build of its product."""
    folder.mkdir()
    product = (HERE / "bikes.py").read_text()
    for old, new in BUILDS[name].items():
        assert old in product
        product = product.replace(old, new)
    (folder / "bikes.py").write_text(product)
    return Path(shutil.copy(HERE / "rental.py", folder / "rental.py"))


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures that differ are not waited for as long as they deserve."""
    monkeypatch.setattr(again, "PATIENCE_S", 0.5)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Demonstrations of the rental by two processes."""
    folder = tmp_path_factory.mktemp("recorded")
    words = (
        "record",
        HERE / "rental.py",
        "--seeds",
        "0:5",
        "--workers",
        "2",
        "--slots",
        "1",
        "--out",
        folder,
        "--json",
    )
    told = json.loads(uigym(*words).stdout)
    assert (told["kept"], told["count"], told["played_again"], told["do_not_count"]) == (5, 5, 2, {})
    return folder


@pytest.fixture
def demos(recorded: Path, tmp_path: Path) -> Path:
    """A copy that a test may write into."""
    return Path(shutil.copytree(recorded, tmp_path / "demos"))


def replayed(demos: Path, build: Path, *more: str | Path) -> dict[str, Any]:
    result = uigym("replay", demos, "--all", "--harness", build, "--slots", "2", *more, "--json")
    told = json.loads(result.stdout)
    assert result.exit_code == (told["count"] < told["played"])
    return told


# --- recording ---------------------------------------------------------------------------------------------


@pytest.mark.browser
def test_a_record_says_what_was_proven_and_how(recorded: Path) -> None:
    store = RunStore(recorded)
    found = [read_demo(store, name) for name in store.ids()]
    proofs = [demo.proof for demo in found if demo and demo.proof]
    assert len(proofs) == 5 and all(proof.counts and proof.idle_fails for proof in proofs)
    assert sum(proof.played for proof in proofs) == 2
    for demo in found:
        assert demo and (demo.by, demo.way, demo.width, demo.height) == ("oracle", "policy", 320, 256)
        if demo.proof and not demo.proof.played:
            assert demo.notes["played_again"] == "2 of 5 demonstrations of the task, not this one"


@pytest.mark.browser
def test_what_is_there_is_not_recorded_again_but_proven_where_it_was_not(demos: Path) -> None:
    store = RunStore(demos)
    (demos / "episodes" / store.ids()[0] / "demo.json").unlink()
    told = json.loads(uigym("record", HERE / "rental.py", "--seeds", "0:5", "--out", demos, "--json").stdout)
    assert (told["kept"], told["left_out"], told["played_again"]) == (0, {"already recorded": 5}, 1)
    demo = read_demo(store, store.ids()[0])
    assert demo and demo.proof and demo.proof.counts and demo.proof.played


@pytest.mark.browser
def test_variations_are_told_apart_and_replayed_as_they_were(tmp_path: Path) -> None:
    gym = HERE.parent / "gyms" / "pad.py"
    words = ("record", f"{gym}/add", "--seeds", "0:1", "--vary", "2", "--prove", "all", "--out", tmp_path, "--json")
    told = json.loads(uigym(*words).stdout)
    assert (told["kept"], told["count"], told["played_again"]) == (2, 2, 2)
    store = RunStore(tmp_path)
    first, second = store.episodes()
    assert first.appearance != second.appearance and first.instruction != second.instruction
    assert first.params == second.params
    demo = read_demo(store, second.id)
    assert demo and demo.notes == {"variation": 1} and demo.proof and demo.proof.diverged_at is None


ALL_TRUE = """
from rental_plain import *

@rental.task("Look at the bicycles.", max_steps=3)
def look() -> Verifier:
    return unchanged()

@look.oracle
async def _(page):
    await page.mouse.move(200, 200)
"""


@pytest.mark.browser
def test_a_task_that_nothing_passes_is_found_while_recording(tmp_path: Path) -> None:
    plain = build(tmp_path / "gym", "same")
    plain.rename(plain.with_name("rental_plain.py"))
    plain.write_text(ALL_TRUE)
    told = json.loads(uigym("record", f"{plain}/look", "--seeds", "0:3", "--out", tmp_path / "d", "--json").stdout)
    assert (told["kept"], told["count"], told["played_again"]) == (3, 0, 2)
    assert len(told["do_not_count"]) == 3 and "doing nothing passes" in str(told["do_not_count"])


def test_a_sample_is_spread_evenly_and_has_whatever_is_not_known() -> None:
    some = [Kept(f"{i:03}", "t", 3, False) for i in range(100)]
    assert [one.id for one in sample(some, "some")] == ["000", "020", "040", "060", "080"]
    assert sample(some, "all") == some and sample(some[:1], "some") == some[:1]
    some[7] = Kept("007", "t", 3, None)
    assert "007" in [one.id for one in sample(some, "some")] and len(sample(some[:3], "some")) == 2


# --- replaying ---------------------------------------------------------------------------------------------


@pytest.mark.browser
def test_a_new_column_breaks_nothing_and_a_damaged_record_stops_nothing(demos: Path, tmp_path: Path) -> None:
    store = RunStore(demos)
    damaged = store.ids()[1]
    (demos / "episodes" / damaged / "demo.json").write_text('{"schema": 1, "by": "me"}')
    told = replayed(demos, build(tmp_path / "c", "column"), "--product-version", "2.1")
    assert (told["played"], told["count"]) == (5, 4)
    (lost,) = [one for one in told["demonstrations"] if not one["counts"]]
    assert lost["id"] == damaged and "is no record of a demonstration" in lost["lost"]
    demo = read_demo(store, store.ids()[0])
    assert demo and len(demo.proofs) == 2 and demo.proof and demo.proof.product_version == "2.1"


@pytest.mark.browser
def test_a_build_that_looks_otherwise_breaks_demonstrations_at_a_step_with_two_pictures(
    demos: Path, tmp_path: Path
) -> None:
    told = replayed(demos, build(tmp_path / "l", "lower"), "--product-version", "3", "--out", tmp_path / "out")
    broken = [one for one in told["demonstrations"] if not one["counts"]]
    assert broken and all(one["broke_at"] == 0 for one in broken)
    assert all("the verifier did not pass" in one["proof"]["reason"] for one in broken)
    page = (tmp_path / "out" / "replay.html").read_text()
    assert page.count("data:image/png") == 2 * len(broken) and "at step 1 of 2" in page and "product 3" in page
    assert "default-src 'none'" in page and "<script" not in page
    kept = RunStore(tmp_path / "out")
    assert kept.ids() == sorted(one["id"] for one in broken)
    words = uigym("replay", demos / "episodes" / broken[0]["id"], "--harness", HERE / "rental.py")
    assert (words.exit_code, words.stdout.strip()) == (0, "1 of 1 demonstrations count"), "on the old build it holds"


@pytest.mark.browser
def test_other_data_and_a_product_that_breaks_are_told_by_what_they_are(demos: Path, tmp_path: Path) -> None:
    told = replayed(demos, build(tmp_path / "d", "dearer"))
    reason = next(one["proof"]["reason"] for one in told["demonstrations"] if one["proof"]["reason"])
    assert 'it began with other data, recorded -> now: bikes id=6: name "Yellow Kid" -> "Yellow Giant"' in reason
    one = demos / "episodes" / RunStore(demos).ids()[0]
    result = uigym("replay", one, "--harness", build(tmp_path / "x", "crashing"))
    assert result.exit_code == 1 and "not played" in result.stdout and "lost to the product" in result.stdout
    demo = read_demo(RunStore(demos), one.name)
    assert demo and len(demo.proofs) == 2, "nothing was proven by what the machinery lost"


def test_what_cannot_be_replayed_is_refused_in_one_message(demos: Path, tmp_path: Path) -> None:
    def refusal(*words: str | Path) -> str:
        result = uigym("replay", *words)
        assert result.exit_code == 2 and result.stderr.startswith("error: ")
        return " ".join(result.stderr.split())

    assert "holds no demonstrations" in refusal(tmp_path)
    assert "has 5 demonstrations: add --all" in refusal(demos)
    assert "is no demonstration" in refusal(demos / "episodes" / "nobody")
    assert 'of "rental", which is not bundled: name its file by --harness' in refusal(demos, "--all")
    assert "is of rental, not of kiosk" in refusal(demos, "--all", "--harness", "kiosk")
    assert "name another one" in refusal(demos, "--all", "--out", demos)
    RunStore(tmp_path / "empty")
    assert "has no demonstration" in refusal(tmp_path / "empty")


# --- processes ---------------------------------------------------------------------------------------------


async def _square(items: list[int], deal: Deal, tell: Tell) -> None:
    for batch in (0, 1):
        for item in deal.items(batch, items):
            tell((batch, item * item))
            await asyncio.sleep(0)


async def _fail(deal: Deal, tell: Tell) -> None:
    for _ in deal.items(0, [1]):
        raise ConfigError("one has failed")
    await asyncio.sleep(60)


async def _die(deal: Deal, tell: Tell) -> None:
    os._exit(3)


@pytest.mark.parametrize("workers", [1, 2])
def test_every_item_is_dealt_once(workers: int) -> None:
    heard: list[Any] = []
    share(functools.partial(_square, list(range(20))), 2, workers, heard.append)
    assert sorted(heard) == [(batch, n * n) for batch in (0, 1) for n in range(20)]


@pytest.mark.parametrize(
    ("work", "error", "why"), [(_fail, ConfigError, "one has failed"), (_die, UIGymError, r"exit code 3\)")]
)
def test_an_error_in_a_process_ends_all(work: Callable[..., Any], error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why):
        share(work, 1, 2, lambda told: None)
