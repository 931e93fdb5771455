"""Tasks about users, groups and redirects, and questions about the site."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from uigym.harnesses.wagtail.product import Page, choose_page, edit, leaf, settings, wagtail
from uigym.params import computed, one_from, one_of, rows
from uigym.types import Row, State
from uigym.verifiers.answer import equals
from uigym.verifiers.state import added, changed, only, removed, unchanged
from uigym.verify import Verifier, all_of

NEWCOMERS = ("Rosa Lindgren", "Omar Haddad", "Greta Voss", "Felix Moreau")
PLACES = ("/spring", "/boats", "/join", "/lecture")


def full_name(user: Row) -> str:
    """First and last name."""
    return f"{user['first_name']} {user['last_name']}"


def staff(row: Row, params: Mapping[str, Any]) -> bool:
    """All but the editor herself."""
    return not row["is_superuser"]


def other_groups(state: State, params: Mapping[str, Any]) -> list[Row]:
    """Groups that the user is not in."""
    has = {row["group_id"] for row in state.tables["auth_user_groups"] if row["user_id"] == params["user"]["id"]}
    return [row for row in state.tables["auth_group"] if row["id"] not in has]


def memberships(state: State, params: Mapping[str, Any]) -> list[Row]:
    """Who is in which group."""
    users = {row["id"]: row for row in state.tables["auth_user"]}
    groups = {row["id"]: row["name"] for row in state.tables["auth_group"]}
    return [
        {**row, "group": groups[row["group_id"]], "name": full_name(users[row["user_id"]])}
        for row in state.tables["auth_user_groups"]
    ]


async def open_user(page: Page, name: str, tab: str = "Account") -> None:
    """Open a user from the list."""
    await settings(page, "Users")
    await page.get_by_role("main").get_by_role("link", name=name, exact=True).click()
    await page.get_by_role("tab", name=tab).click()


@wagtail.task(
    "Add a user for {name}: username “{username}”, email {username}@harbour.example, password “{password}”, in the group {group[name]} only.",
    "{name} joins us. Make a user “{username}” with the email {username}@harbour.example and the password “{password}”, whose one group is {group[name]}.",
    heldout_wordings=(
        "{name} should be able to sign in as “{username}” with “{password}”, email {username}@harbour.example, as one of the group {group[name]} and no other.",
    ),
    max_steps=75,
    expected_steps=25,
    tags=("form", "multi-step", "hard"),
)
def add_user(
    name: str = one_of(*NEWCOMERS),
    username: str = computed(lambda state, params: params["name"].split()[0].lower()),
    password: str = one_of("tide-and-time", "oak-and-tar", "salt-and-rope"),
    group: Row = rows("auth_group"),
) -> Verifier:
    first, last = name.split()
    told: dict[str, Any] = {
        "username": username,
        "email": f"{username}@harbour.example",
        "first_name": first,
        "last_name": last,
    }
    user = added("auth_user", is_active=True, is_superuser=False, **told)
    return only(user, added("auth_user_groups", group_id=group["id"]))


@add_user.oracle
async def _(page: Page, name: str, username: str, password: str, group: Row) -> None:
    first, last = name.split()
    await settings(page, "Users")
    await page.get_by_role("link", name="Add a user").click()
    await page.get_by_role("textbox", name="Username*").fill(username)
    await page.get_by_role("textbox", name="Email*").fill(f"{username}@harbour.example")
    await page.get_by_role("textbox", name="First Name*").fill(first)
    await page.get_by_role("textbox", name="Last Name*").fill(last)
    await page.get_by_role("textbox", name="Password*", exact=True).fill(password)
    await page.get_by_role("textbox", name="Password confirmation*").fill(password)
    await page.get_by_role("tab", name="Roles").first.click()
    await page.get_by_role("checkbox", name=group["name"]).check()
    await page.get_by_role("button", name="Create", exact=True).click()


@wagtail.task(
    "Put {user[first_name]} {user[last_name]} into the group {group[name]}, too.",
    "{user[first_name]} {user[last_name]} should be in the group {group[name]} besides the groups they are in.",
    heldout_wordings=("The group {group[name]} gets a new member: {user[first_name]} {user[last_name]}.",),
    max_steps=33,
    expected_steps=11,
    tags=("form", "find", "medium"),
)
def join_group(user: Row = rows("auth_user", where=staff), group: Row = one_from(other_groups)) -> Verifier:
    return only(added("auth_user_groups", user_id=user["id"], group_id=group["id"]))


@join_group.oracle
async def _(page: Page, user: Row, group: Row) -> None:
    await open_user(page, full_name(user), "Roles")
    await page.get_by_role("checkbox", name=group["name"]).check()
    await page.get_by_role("button", name="Save", exact=True).click()


@wagtail.task(
    "Take {membership[name]} out of the group {membership[group]}.",
    "{membership[name]} should no longer be in the group {membership[group]}.",
    heldout_wordings=("The group {membership[group]} loses a member: {membership[name]}.",),
    max_steps=33,
    expected_steps=11,
    tags=("form", "find", "medium"),
)
def leave_group(membership: Row = one_from(memberships)) -> Verifier:
    return only(removed("auth_user_groups", user_id=membership["user_id"], group_id=membership["group_id"]))


@leave_group.oracle
async def _(page: Page, membership: Row) -> None:
    await open_user(page, membership["name"], "Roles")
    await page.get_by_role("checkbox", name=membership["group"]).uncheck()
    await page.get_by_role("button", name="Save", exact=True).click()


@wagtail.task(
    "Make {user[first_name]} {user[last_name]} inactive as a user, so that they cannot sign in; do not delete them.",
    "{user[first_name]} {user[last_name]} is away for a year: their user should not be active, but stay.",
    heldout_wordings=("Deactivate the user {user[first_name]} {user[last_name]}.",),
    max_steps=36,
    expected_steps=12,
    tags=("form", "find", "medium"),
)
def deactivate_user(user: Row = rows("auth_user", where=staff)) -> Verifier:
    return only(changed("auth_user", key=user["id"], is_active=False))


@deactivate_user.oracle
async def _(page: Page, user: Row) -> None:
    await open_user(page, full_name(user))
    await page.get_by_role("checkbox", name="Active").uncheck()
    await page.get_by_role("button", name="Save", exact=True).click()


@wagtail.task(
    "Add a permanent redirect from {place} to the page “{item[title]}”, for all sites.",
    "Whoever asks for {place} should be sent to the page “{item[title]}”: add a redirect. It is permanent and for all sites.",
    heldout_wordings=(
        "{place} should lead to the page “{item[title]}”, by a permanent redirect that holds for all sites.",
    ),
    max_steps=45,
    expected_steps=15,
    tags=("form", "multi-step", "medium"),
)
def add_redirect(place: str = one_of(*PLACES), item: Row = rows("pages", where=leaf)) -> Verifier:
    told: dict[str, Any] = {"old_path": place, "redirect_page_id": item["id"], "site_id": None, "is_permanent": True}
    return only(added("wagtailredirects_redirect", redirect_link="", automatically_created=False, **told), except_=())


@add_redirect.oracle
async def _(page: Page, place: str, item: Row) -> None:
    await settings(page, "Redirects")
    await page.get_by_role("link", name="Add redirect").click()
    await page.get_by_role("textbox", name="Redirect from*").fill(place)
    await page.get_by_role("button", name="Choose a page").click()
    await choose_page(page, item["title"])
    await page.get_by_role("button", name="Create", exact=True).click()


@wagtail.task(
    "Who is the author of the blog page “{item[title]}”? Answer with the name.",
    "Find the author of the blog page “{item[title]}” and answer with their name.",
    heldout_wordings=("Whose name stands as author in the blog page “{item[title]}”? Answer with it.",),
    max_steps=27,
    expected_steps=9,
    tags=("find", "answer", "easy"),
)
def tell_author(
    item: Row = rows("pages", where=lambda row, params: row["kind"] == "blogpage"),
    author: str = computed(lambda state, params: params["item"]["author"]),
) -> Verifier:
    return all_of(equals(author), unchanged())


@tell_author.oracle
async def _(page: Page, item: Row) -> str:
    await edit(page, item["title"])
    return str(await page.get_by_role("textbox", name="Author*").input_value())


@wagtail.task(
    "Which of the blog pages “{one[title]}” and “{other[title]}” has the later post date? Answer with that date, as the editor shows it.",
    "Compare the post dates of the blog pages “{one[title]}” and “{other[title]}”, and answer with the later one, written as in the editor.",
    heldout_wordings=(
        "Two blog pages: “{one[title]}” and “{other[title]}”. Answer with the later of their post dates, as it stands in the editor.",
    ),
    max_steps=42,
    expected_steps=14,
    tags=("compare", "answer", "medium"),
)
def tell_later_date(
    one: Row = rows("pages", where=lambda row, params: row["kind"] == "blogpage"),
    other: Row = rows("pages", where=lambda row, p: row["kind"] == "blogpage" and row["id"] != p["one"]["id"]),
    later: str = computed(lambda state, params: max(params["one"]["date"], params["other"]["date"])),
) -> Verifier:
    return all_of(equals(later), unchanged())


@tell_later_date.oracle
async def _(page: Page, one: Row, other: Row) -> str:
    dates = []
    for item in (one, other):
        await edit(page, item["title"])
        dates.append(await page.get_by_role("textbox", name="Post date*").input_value())
        if item is one:
            await page.get_by_role("link", name="Dashboard").click()
    return str(max(dates))
