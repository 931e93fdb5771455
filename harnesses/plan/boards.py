"""Boards: cards dragged, filled in, labelled, put away; columns renamed and moved."""

from __future__ import annotations

from collections.abc import Callable

from uigym.harnesses.plan.product import (
    PLAN,
    Page,
    Params,
    choose,
    click,
    fill,
    find,
    later,
    named,
    next_id,
    only,
    open_board,
    rows_of,
    today,
)
from uigym.params import computed, one_from, one_of, rows
from uigym.types import Row, State
from uigym.verifiers.state import added, changed, removed
from uigym.verify import Verifier


def own_cards(state: State) -> list[Row]:
    """Cards whose title stands in no other, with their column and board."""
    titles = [row["title"] for row in state.tables["cards"]] + [row["title"] for row in state.tables["events"]]
    alone = [row for row in rows_of(state, "cards", archived=0) if sum(row["title"] in title for title in titles) == 1]
    return [{**row, **place(state, row)} for row in alone]


def place(state: State, card: Row) -> Row:
    """The column and the board of a card."""
    column = rows_of(state, "columns", id=card["column_id"])[0]
    return {"column": column, "board": rows_of(state, "boards", id=column["board_id"])[0]}


def cards(state: State, params: Params) -> list[Row]:
    """Cards that can be named by their title."""
    return own_cards(state)


def held(state: State, column: Row) -> list[Row]:
    """The cards of a column, in order."""
    mine = rows_of(state, "cards", column_id=column["id"], archived=0)
    return sorted(mine, key=lambda row: row["position"])


def other_columns(state: State, params: Params) -> list[Row]:
    """Other columns of the card's board that have room."""
    card = params["card"]
    beside = [row for row in rows_of(state, "columns", board_id=card["board"]["id"]) if row["id"] != card["column_id"]]
    return [row for row in beside if not row["wip_limit"] or len(held(state, row)) < row["wip_limit"]]


def before(position: float) -> Callable[[object], bool]:
    """A position nearer the top."""
    return lambda value: isinstance(value, int | float) and value < position


async def drag(page: Page, card: Row, target: str, where: dict[str, float] | None = None) -> None:
    """Drag a card of the board that is shown."""
    options = {"target_position": where} if where else {}
    await page.get_by_test_id(f"card-{card['id']}").drag_to(page.get_by_test_id(target), **options)


@PLAN.task(
    'Move the card "{card[title]}" of the board {card[board][name]} to the column {to[name]}.',
    'On the board {card[board][name]}, drag "{card[title]}" to {to[name]}.',
    heldout_wordings=('The card "{card[title]}" belongs in the column {to[name]} of its board, {card[board][name]}.',),
    max_steps=18,
    expected_steps=6,
    tags=("drag", "easy"),
)
def move_card(card: Row = one_from(cards), to: Row = one_from(other_columns)) -> Verifier:
    return only(changed("cards", key=card["id"], column_id=to["id"], also=("position",)))


@move_card.oracle
async def _(page: Page, card: Row, to: Row) -> None:
    await open_board(page, card["board"]["id"])
    await drag(page, card, f"column-{to['id']}")


def lower_cards(state: State, params: Params) -> list[Row]:
    """Cards that are third or fourth in their column, and the one at its top."""
    found = []
    for card in own_cards(state):
        column = held(state, card["column"])
        if card["id"] in [row["id"] for row in column[2:4]]:
            found.append({**card, "top": column[0]})
    return found


@PLAN.task(
    'Put the card "{card[title]}" at the top of its column ({card[column][name]}) on the board {card[board][name]}.',
    'On the board {card[board][name]}, make "{card[title]}" the first card of the column {card[column][name]}.',
    heldout_wordings=('"{card[title]}" comes first: move it up to the top of {card[column][name]} on the board {card[board][name]}.',),
    max_steps=18,
    expected_steps=6,
    tags=("drag", "medium"),
)  # fmt: skip
def card_to_top(card: Row = one_from(lower_cards)) -> Verifier:
    return only(changed("cards", key=card["id"], position=before(card["top"]["position"])))


@card_to_top.oracle
async def _(page: Page, card: Row) -> None:
    await open_board(page, card["board"]["id"])
    await drag(page, card, f"card-{card['top']['id']}", {"x": 60, "y": 6})


def open_items(state: State, params: Params) -> list[Row]:
    """Cards with two or more steps that are not done, and two of these."""
    found = []
    for card in own_cards(state):
        todo = rows_of(state, "items", card_id=card["id"], done=0)
        if len(todo) >= 2:
            found.append({**card, "first": todo[0], "second": todo[-1]})
    return found


@PLAN.task(
    'Tick "{card[first][text]}" and "{card[second][text]}" in the checklist of the card "{card[title]}".',
    'On the card "{card[title]}" the steps "{card[first][text]}" and "{card[second][text]}" are done: tick them.',
    heldout_wordings=('Mark these steps of the card "{card[title]}" as done: "{card[second][text]}", "{card[first][text]}".',),
    max_steps=21,
    expected_steps=8,
    tags=("find", "edit", "medium"),
)  # fmt: skip
def tick_steps(card: Row = one_from(open_items)) -> Verifier:
    return only(*(changed("items", key=card[which]["id"], done=1) for which in ("first", "second")))


@tick_steps.oracle
async def _(page: Page, card: Row) -> None:
    await find(page, "card", card)
    for which in ("first", "second"):
        await page.get_by_test_id(f"item-{card[which]['id']}").check()


def other_dues(state: State, params: Params) -> list[Row]:
    """Days of the next weeks on which the card is not due."""
    return [named(day) for day in (later(today(state), i) for i in range(1, 40)) if day != params["card"]["due"]]


@PLAN.task(
    'Make the card "{card[title]}" due on {due[said]}.',
    'Set the due date of the card "{card[title]}" to {due[said]}.',
    heldout_wordings=('"{card[title]}" has to be ready by {due[said]}: set this as the card\'s due date.',),
    max_steps=33,
    expected_steps=11,
    tags=("find", "edit", "date", "medium"),
)
def set_due(card: Row = one_from(cards), due: Row = one_from(other_dues)) -> Verifier:
    return only(changed("cards", key=card["id"], due=due["day"]))


@set_due.oracle
async def _(page: Page, card: Row, due: Row) -> None:
    await find(page, "card", card)
    await fill(page, due=due["day"])
    await click(page, "save")


def missing_labels(state: State, params: Params) -> list[Row]:
    """Labels that the card does not have."""
    has = {row["label_id"] for row in rows_of(state, "card_labels", card_id=params["card"]["id"])}
    return [row for row in state.tables["labels"] if row["id"] not in has]


@PLAN.task(
    'Give the card "{card[title]}" the label "{label[name]}".',
    'Add the label "{label[name]}" to the card "{card[title]}".',
    heldout_wordings=('The card "{card[title]}" needs one more label: "{label[name]}".',),
    max_steps=20,
    expected_steps=6,
    tags=("find", "edit", "easy"),
)
def add_label(card: Row = one_from(cards), label: Row = one_from(missing_labels)) -> Verifier:
    return only(added("card_labels", card_id=card["id"], label_id=label["id"]))


@add_label.oracle
async def _(page: Page, card: Row, label: Row) -> None:
    await find(page, "card", card)
    await click(page, f"label-{label['id']}")


def other_people(row: Row, params: Params) -> bool:
    """Whether somebody does not have the card."""
    return bool(row["id"] != params["card"]["assignee_id"])


@PLAN.task(
    'Assign the card "{card[title]}" to {person[name]}.',
    'Give the card "{card[title]}" to {person[name]}.',
    heldout_wordings=('{person[name]} takes over the card "{card[title]}": assign it.',),
    max_steps=24,
    expected_steps=8,
    tags=("find", "edit", "easy"),
)
def assign_card(card: Row = one_from(cards), person: Row = rows("people", where=other_people)) -> Verifier:
    return only(changed("cards", key=card["id"], assignee_id=person["id"]))


@assign_card.oracle
async def _(page: Page, card: Row, person: Row) -> None:
    await find(page, "card", card)
    await choose(page, assignee=person["id"])
    await click(page, "save")


@PLAN.task(
    'Comment on the card "{card[title]}": "{text}"',
    'Write the comment "{text}" on the card "{card[title]}".',
    heldout_wordings=('Leave this comment with the card "{card[title]}": "{text}"',),
    max_steps=27,
    expected_steps=9,
    tags=("find", "edit", "easy"),
)
def comment(
    card: Row = one_from(cards), text: str = one_of("Ready on Friday.", "Blocked by legal.", "I will call them today.")
) -> Verifier:
    return only(added("comments", card_id=card["id"], author_id=1, body=text))


@comment.oracle
async def _(page: Page, card: Row, text: str) -> None:
    await find(page, "card", card)
    await fill(page, new_comment=text)
    await click(page, "new-comment-add")


def done_columns(state: State, params: Params) -> list[Row]:
    """The columns Done, with their board and their cards."""
    return [
        {**row, "board": rows_of(state, "boards", id=row["board_id"])[0], "ids": [card["id"] for card in held(state, row)]}
        for row in rows_of(state, "columns", name="Done")
    ]  # fmt: skip


@PLAN.task(
    "Archive all cards of the column Done on the board {column[board][name]}.",
    "Clear the column Done of the board {column[board][name]}: archive its cards.",
    heldout_wordings=("Everything in Done on the board {column[board][name]} goes into the archive.",),
    max_steps=20,
    expected_steps=6,
    tags=("multi-step", "medium"),
)
def archive_done(column: Row = one_from(done_columns)) -> Verifier:
    return only(*(changed("cards", key=number, archived=1) for number in column["ids"]))


@archive_done.oracle
async def _(page: Page, column: Row) -> None:
    await open_board(page, column["board"]["id"])
    await click(page, f"column-menu-{column['id']}", "column-archive")


@PLAN.task(
    'Create the card "{title}" in the column To do of the board {board[name]}: label "{label[name]}", assigned to {person[name]}, with the checklist "{first}", "{second}".',
    'Add a card to To do on the board {board[name]}. Title "{title}", assignee {person[name]}, label "{label[name]}"; its checklist has the steps "{first}" and "{second}".',
    heldout_wordings=('On the board {board[name]}, {person[name]} gets a new card "{title}" (column To do, label "{label[name]}") with two steps to tick: "{first}" and "{second}".',),
    max_steps=72,
    expected_steps=24,
    tags=("form", "multi-step", "hard"),
)  # fmt: skip
def create_card(
    title: str = one_of("Plan the summer party", "Replace the door lock", "Collect old laptops", "Renew the domain"),
    board: Row = rows("boards"),
    label: Row = rows("labels"),
    person: Row = rows("people"),
    first: str = one_of("Ask three vendors", "Make a list", "Set the date"),
    second: str = one_of("Sign the order", "Inform everybody", "Pay the invoice"),
    made: int = computed(lambda state, _: next_id(state, "cards")),
) -> Verifier:
    column = 5 * (board["id"] - 1) + 2
    card = {"column_id": column, "assignee_id": person["id"], "due": None, "archived": 0}
    return only(
        added("cards", id=made, title=title, description="", **card),
        added("card_labels", card_id=made, label_id=label["id"]),
        added("items", {"text": first}, {"text": second}, card_id=made, done=0),
    )


@create_card.oracle
async def _(page: Page, title: str, board: Row, label: Row, person: Row, first: str, second: str) -> None:
    await open_board(page, board["id"])
    await click(page, "new-card")
    await fill(page, card_title=title)
    await choose(page, assignee=person["id"], card_column=5 * (board["id"] - 1) + 2)
    await click(page, f"label-{label['id']}")
    for step in (first, second):
        await fill(page, new_item=step)
        await click(page, "new-item-add")
    await click(page, "save")


@PLAN.task(
    'Rename the column {column[name]} of the board {column[board][name]} to "{name}".',
    'On the board {column[board][name]}, the column {column[name]} is called "{name}" from now on. Rename it.',
    heldout_wordings=('Give the column {column[name]} on the board {column[board][name]} the new name "{name}".',),
    max_steps=27,
    expected_steps=10,
    tags=("navigate", "edit", "easy"),
)  # fmt: skip
def rename_column(
    column: Row = one_from(lambda state, _: _columns(state)),
    name: str = one_of("Ideas", "Waiting", "Next up", "Sign-off"),
) -> Verifier:
    return only(changed("columns", key=column["id"], name=name))


def _columns(state: State) -> list[Row]:
    return [{**row, "board": rows_of(state, "boards", id=row["board_id"])[0]} for row in state.tables["columns"]]


@rename_column.oracle
async def _(page: Page, column: Row, name: str) -> None:
    await open_board(page, column["board"]["id"])
    await click(page, f"column-menu-{column['id']}", "column-edit")
    await fill(page, column_name=name)
    await click(page, "save")


@PLAN.task(
    "On the board {board[name]}, move the column {column[name]} to the very front, before Backlog.",
    "Make {column[name]} the first column of the board {board[name]}.",
    heldout_wordings=("The column {column[name]} of the board {board[name]} should stand before all others.",),
    max_steps=18,
    expected_steps=6,
    tags=("drag", "medium"),
)
def column_to_front(
    board: Row = rows("boards"),
    column: Row = rows(
        "columns",
        where=lambda row, p: row["board_id"] == p["board"]["id"] and row["name"] in ("To do", "Review", "Done"),
    ),
) -> Verifier:
    return only(changed("columns", key=column["id"], position=before(1024.0)))  # fmt: skip


@column_to_front.oracle
async def _(page: Page, board: Row, column: Row) -> None:
    await open_board(page, board["id"])
    rtl = await page.locator("html").get_attribute("dir") == "rtl"
    front = page.get_by_test_id(f"column-{5 * (board['id'] - 1) + 1}")
    box = await front.bounding_box()
    near = {"x": box["width"] - 20 if rtl else 20, "y": 20}
    head = page.get_by_test_id(f"column-head-{column['id']}")
    await head.drag_to(front, source_position={"x": 60, "y": 16}, target_position=near)


def label_groups(state: State, params: Params) -> list[Row]:
    """Labels that two to four cards of a board have, not all of them with the same person."""
    found = []
    for board in state.tables["boards"]:
        columns = {row["id"] for row in rows_of(state, "columns", board_id=board["id"])}
        mine = {row["id"]: row for row in rows_of(state, "cards", archived=0) if row["column_id"] in columns}
        for label in state.tables["labels"]:
            ids = [
                row["card_id"] for row in rows_of(state, "card_labels", label_id=label["id"]) if row["card_id"] in mine
            ]
            if 2 <= len(ids) <= 4:
                found.append({"board": board, "label": label, "cards": [mine[number] for number in ids]})
    return found  # fmt: skip


def free_hands(row: Row, params: Params) -> bool:
    """Whether somebody has none of the cards."""
    return bool(all(card["assignee_id"] != row["id"] for card in params["group"]["cards"]))


@PLAN.task(
    'Assign every card with the label "{group[label][name]}" on the board {group[board][name]} to {person[name]}.',
    'On the board {group[board][name]}, {person[name]} takes over all cards labelled "{group[label][name]}".',
    heldout_wordings=('All cards of the board {group[board][name]} that have the label "{group[label][name]}" go to {person[name]}: assign them.',),
    max_steps=72,
    expected_steps=24,
    tags=("find", "edit", "multi-step", "hard"),
)  # fmt: skip
def reassign_label(group: Row = one_from(label_groups), person: Row = rows("people", where=free_hands)) -> Verifier:
    return only(*(changed("cards", key=card["id"], assignee_id=person["id"]) for card in group["cards"]))


@reassign_label.oracle
async def _(page: Page, group: Row, person: Row) -> None:
    await open_board(page, group["board"]["id"])
    await choose(page, filter_label=group["label"]["id"])
    for card in group["cards"]:
        await click(page, f"card-{card['id']}")
        await choose(page, assignee=person["id"])
        await click(page, "save")


@PLAN.task(
    'Take the label "{label[name]}" off the card "{card[title]}".',
    'The card "{card[title]}" should not have the label "{label[name]}" any more.',
    heldout_wordings=('Remove "{label[name]}" from the labels of the card "{card[title]}".',),
    max_steps=20,
    expected_steps=6,
    tags=("find", "edit", "easy"),
)
def remove_label(
    card: Row = one_from(
        lambda state, _: [row for row in own_cards(state) if rows_of(state, "card_labels", card_id=row["id"])]
    ),
    label: Row = one_from(
        lambda state, p: [
            rows_of(state, "labels", id=row["label_id"])[0]
            for row in rows_of(state, "card_labels", card_id=p["card"]["id"])
        ]
    ),
) -> Verifier:
    return only(removed("card_labels", card_id=card["id"], label_id=label["id"]))  # fmt: skip


@remove_label.oracle
async def _(page: Page, card: Row, label: Row) -> None:
    await find(page, "card", card)
    await click(page, f"label-{label['id']}")
