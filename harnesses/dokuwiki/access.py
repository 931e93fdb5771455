"""Tasks of the administrator: who may do what in which namespace."""

from __future__ import annotations

from typing import Any

from uigym.harnesses.dokuwiki.product import Page, dokuwiki, only
from uigym.params import one_from, one_of, rows
from uigym.types import Row, State
from uigym.verifiers.state import added, changed, removed
from uigym.verify import Verifier

LEVELS = {"None": 0, "Read": 1, "Edit": 2, "Create": 4, "Upload": 8, "Delete": 16}
NAMESPACES = ("boats", "howto", "meetings", "people", "suppliers")


def free_places(state: State, params: Any) -> list[Row]:
    """Namespaces and groups for which there is no rule yet."""
    taken = {(row["scope"], row["who"]) for row in state.tables["rules"]}
    places = [(name, group) for name in NAMESPACES for group in ("yard", "office")]
    return [{"name": name, "group": group} for name, group in places if (f"{name}:*", f"@{group}") not in taken]


async def open_rules(page: Page) -> None:
    """Admin, then Access Control List Management."""
    await page.get_by_role("link", name="Admin", exact=True).click()
    await page.get_by_role("link", name="Access Control List Management").click()


def rule_line(page: Page, rule: Row) -> Any:
    """The row of a rule in the table of all rules."""
    scope = page.locator("span", has_text=rule["scope"]).and_(page.get_by_text(rule["scope"], exact=True))
    who = page.get_by_text(rule["who"], exact=True)
    return page.locator(".table tr").filter(has=scope).filter(has=who)


@dokuwiki.task(
    'In the access rules, change the permission of {rule[who]} for "{rule[scope]}" to {level}.',
    'The rule for "{rule[scope]}" and {rule[who]} in the Access Control List must say {level}.',
    'Give {rule[who]} the permission {level} where the rule for "{rule[scope]}" says something else now.',
    heldout_wordings=('Let the access control list grant {level} to {rule[who]} in its rule for "{rule[scope]}".',),
    max_steps=20,
    expected_steps=7,
    tags=("form", "table", "medium"),
)
def change_rule(
    rule: Row = rows("rules"),
    level: str = one_from(lambda state, p: [name for name, value in LEVELS.items() if value != p["rule"]["level"]]),
) -> Verifier:
    return only(changed("rules", key=(rule["scope"], rule["who"]), level=LEVELS[level]))


@change_rule.oracle
async def _(page: Page, rule: Row, level: str) -> None:
    await open_rules(page)
    await rule_line(page, rule).get_by_label(level, exact=True).check()
    await page.get_by_role("button", name="Update").click()


@dokuwiki.task(
    'Add an access rule: the group {place[group]} gets the permission {level} in the namespace "{place[name]}".',
    'Let the members of the group {place[group]} have the permission {level} in the whole namespace "{place[name]}", by a new rule.',
    'The Access Control List needs a new entry for the namespace "{place[name]}": group {place[group]}, {level}.',
    heldout_wordings=(
        'By a new access rule, grant {level} to the group {place[group]} for the namespace "{place[name]}".',
    ),
    max_steps=35,
    expected_steps=12,
    tags=("form", "multi-step", "hard"),
)
def add_rule(place: Row = one_from(free_places), level: str = one_of(*LEVELS)) -> Verifier:
    return only(added("rules", scope=f"{place['name']}:*", who=f"@{place['group']}", level=LEVELS[level]))


@add_rule.oracle
async def _(page: Page, place: Row, level: str) -> None:
    await open_rules(page)
    await page.locator("#acl__tree").get_by_role("link", name=place["name"], exact=True).click()
    await page.locator("#acl__user select").select_option("Group:")
    await page.locator("#acl__user input[name=acl_w]").fill(place["group"])
    await page.get_by_role("button", name="Select").click()
    await page.locator("#acl__info").get_by_label(level, exact=True).check()
    await page.locator("#acl__info").get_by_role("button", name="Save").click()


@dokuwiki.task(
    'Delete the access rule of {rule[who]} for "{rule[scope]}".',
    'Take the rule for "{rule[scope]}" and {rule[who]} out of the Access Control List.',
    '{rule[who]} shall have no rule of its own for "{rule[scope]}" any more: delete it from the access rules.',
    heldout_wordings=('Remove the entry for {rule[who]} and "{rule[scope]}" from the list of access rules.',),
    max_steps=20,
    expected_steps=7,
    tags=("form", "table", "easy"),
)
def delete_rule(rule: Row = rows("rules", where=lambda row, _: row["scope"] != "*")) -> Verifier:
    return only(removed("rules", scope=rule["scope"], who=rule["who"]))


@delete_rule.oracle
async def _(page: Page, rule: Row) -> None:
    await open_rules(page)
    await rule_line(page, rule).locator("td.check input").check()
    await page.get_by_role("button", name="Update").click()
