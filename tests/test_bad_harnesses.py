"""`check_harness` finds the one planted fault of each harness in tests/bad_harnesses, and names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from uigym.registry import load
from uigym.testing import Report, check_harness

pytestmark = pytest.mark.browser
FOLDER = Path(__file__).parent / "bad_harnesses"

FAULTS: dict[str, tuple[str, str]] = {
    "alone_and_free": ("extra", "paid although also items id="),
    "answer_by_substring": ("guesses", "for the right answer within an essay"),
    "answer_last_number": ("guesses", "for two guesses"),
    "answer_list": ("guesses", "for a list of guesses"),
    "answer_optional": ("noop", "doing nothing passed as a success"),
    "any_click": ("random", "9 of 9 random plays passed as a success"),
    "any_record": ("wrong value", "paid for item="),
    "clock_in_new_rows": ("replay", "the same acts ended with different data: wanted id=2: noted"),
    "clock_in_reset": ("reset", "two resets gave different data: wanted id=1: noted"),
    "clock_on_first_page": ("pixels", "different first pictures: look for times"),
    "column_not_compared": ("wrong value", "paid for shelf='freezer' instead of 'cellar'"),
    "count_not_compared": ("twice", "paid although it was done twice"),
    "credit_falls": ("partial", "act 2 of the oracle lowered the score from 0.5 to 0"),
    "half_of_the_work": ("undone", "although nothing was left of the work in wanted at the end"),
    "harm_unseen": ("unseen", "the state leaves out wanted, so that no verifier sees what is done there"),
    "ids_counted_in_memory": ("replay", "wanted id=100: removed"),
    "ids_from_uuid": ("replay", "take times and ids from the seed"),
    "ids_go_on": ("replay", "the same acts ended with different data: wanted id=2: removed"),
    "instruction_leaves_out": ("ambiguous", "to another shelf.' says the same for shelf='cellar' and for shelf="),
    "name_of_two": ("ambiguous", "'Move the {item[name]} to the {shelf}.' says the same for item={'id': 2,"),
    "oracle_by_script": ("oracle", "changed the data without an act of mouse or keyboard"),
    "oracle_flakes": ("oracle", "(it passed 2 of 5 plays)"),
    "oracle_in_one_look": ("oracle", "selector='internal:role=button[name=\"Add\"i]'> is not there"),
    "oracle_missing": ("oracle", "nothing shows that it can be solved: write @price.oracle"),
    "oracle_misses_value": ("oracle", "to the freezer.': expected items id=2 to have shelf=\"freezer\""),
    "oracle_too_long": ("expected_steps", "2 steps, expected at most 1"),
    "other_tasks_work": ("other task", "paid for what the oracle of buy did"),
    "page_alone": ("undone", "paid although nothing was left of the work at the end"),
    "paid_for_undoing": ("undone", "although nothing but log told of the work at the end"),
    "reset_forgets_memory": ("pixels", "and for what the product keeps in memory"),
    "reset_forgets_stash": ("pixels", "different first pictures"),
    "reset_forgets_table": ("reset", "two resets gave different data: wanted id=2: added"),
    "right_work_refused": ("oracle", "expected the answer 141, found '1.41' (it passed 0 of 5 plays)"),
    "sampler_draws_by_itself": ("sampling", "draw with the samplers of uigym.params"),
    "shared_database": ("isolation", "what one slot did changed another's data"),
    "side_effects_free": ("extra", "paid although pantry/throw_out was done besides"),
    "success_text": ("success text", "typed instead of 'Hill Beans'"),
    "true_from_the_start": ("noop", "the goal is reached from the start"),
    "verifier_raises": ("verdict", "the verifier raised, where it should fail"),
    "verifier_remembers": ("verdict", "a verifier must be a pure function of the episode"),
    "wording_leaves_out": ("ambiguous", "'We need {item[brand]} {item[name]}: write it on the list.' says the same for count="),
    "works_by_itself": ("still", "the data changed though nobody did anything: items id=1: quantity"),
}  # fmt: skip
"""By the file's name: the check that finds its fault with one seed, and telling words."""

FAULTS_OF_SEVERAL_SEEDS: dict[str, tuple[str, str]] = {
    "answer_in_comment": ("leak", "the answer stands in a comment of the first page"),
    "answer_in_cookie": ("leak", "the answer stands in the cookie prices"),
    "answer_in_data_attribute": ("leak", "the answer stands in the attribute data-prices"),
    "answer_in_hidden_field": ("leak", "the answer stands in the hidden field prices"),
    "answer_in_instruction": ("leak", "the instruction itself says the answer"),
    "answer_in_local_storage": ("leak", "the answer stands in localStorage.prices"),
    "sampler_finds_none": ("noop", 'rows("items"): none of 6 rows fits'),
    "seeds_alike": ("seeds", "all seeds gave the same data, look and parameters"),
}
"""Those that show with two seeds only."""

FAULTS_OF_REACH: dict[str, tuple[str, str]] = {
    "any_secret_opens": ("reach", "/test/reset by POST with a guessed X-UIGym-Secret"),
    "database_among_static_files": ("reach", "/static/pantry.db by"),
    "reset_from_own_origin": ("reach", "/test/reset by POST"),
    "secret_on_page": ("reach", "the page reached the secret of the control paths in a <meta>"),
    "state_from_own_origin": ("reach", "/test/state by"),
}
"""Those that only attacks from the page find."""


async def checked(name: str, seeds: tuple[int, ...], reach: bool = False) -> Report:
    """The report on a harness of the folder."""
    return await check_harness(load(str(FOLDER / f"{name}.py")), seeds=seeds, slots=2, reach=reach)


def assert_found(report: Report, check: str, words: str) -> None:
    """That check failed, with those words."""
    details = [finding.detail for finding in report.failed if finding.check == check]
    assert any(words in detail for detail in details), report.failed


def test_every_harness_of_the_folder_is_checked() -> None:
    files = {path.stem for path in FOLDER.glob("*.py")} - {"sound", "pantry_product"}
    assert files == {*FAULTS, *FAULTS_OF_SEVERAL_SEEDS, *FAULTS_OF_REACH}


async def test_the_sound_harness_passes() -> None:
    report = await checked("sound", (0, 1), reach=True)
    assert report.ok, report.failed
    assert report.counts.mutants > 50 and report.counts.paid == 0
    assert report.counts.attacks > 40 and report.counts.reached == 0


@pytest.mark.parametrize("name", FAULTS)
async def test_the_fault_is_found_and_named(name: str) -> None:
    assert_found(await checked(name, (0,)), *FAULTS[name])


@pytest.mark.parametrize("name", FAULTS_OF_SEVERAL_SEEDS)
async def test_the_fault_is_found_with_two_seeds(name: str) -> None:
    assert_found(await checked(name, (0, 1)), *FAULTS_OF_SEVERAL_SEEDS[name])


@pytest.mark.parametrize("name", FAULTS_OF_REACH)
async def test_the_fault_is_found_by_attacks_from_the_page(name: str) -> None:
    assert_found(await checked(name, (0,), reach=True), *FAULTS_OF_REACH[name])
