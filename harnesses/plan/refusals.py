"""What the planner does not allow, and the same where it does: only trying tells which."""

from __future__ import annotations

from uigym.harnesses.plan.boards import drag as drag_card
from uigym.harnesses.plan.boards import held, own_cards
from uigym.harnesses.plan.drags import drag, middle, other_days
from uigym.harnesses.plan.product import (
    FREE,
    IF_NOT,
    PLAN,
    Page,
    Params,
    is_in_sight,
    minutes,
    occurrences,
    only,
    open_board,
    rows_of,
    unlike,
    work_week,
)
from uigym.params import one_from
from uigym.types import Row, State
from uigym.verifiers.answer import equals
from uigym.verifiers.state import changed, unchanged
from uigym.verify import Verifier, all_of

START = (
    f'The work on "{{card[title]}}" begins: move the card to In progress on its board, {{card[board][name]}}. {IF_NOT}',
    f'Put the card "{{card[title]}}" of the board {{card[board][name]}} into the column In progress. {IF_NOT}',
)
START_HELDOUT = (
    f'"{{card[title]}}" goes from {{card[column][name]}} to In progress on the board {{card[board][name]}}. {IF_NOT}',
)
MOVE = (
    f'Move "{{event[title]}}" from {{event[on]}} to {{to[said]}}, at the same time. {IF_NOT}',
    f'"{{event[title]}}" of {{event[on]}} should be on {{to[said]}}, same time. {IF_NOT}',
)
MOVE_HELDOUT = (f'Reschedule "{{event[title]}}", on {{event[on]}} now, to {{to[said]}} and keep its time. {IF_NOT}',)


def impossible() -> Verifier:
    """The answer says so, and nothing was done."""
    return all_of(equals("impossible"), unchanged(except_=FREE))


def waiting(state: State, full: bool) -> list[Row]:
    """Cards of the first two columns, on boards where the column In progress is full, or is not."""
    found = []
    for card in own_cards(state):
        goal = rows_of(state, "columns", board_id=card["board"]["id"], name="In progress")[0]
        is_full = len(held(state, goal)) >= goal["wip_limit"]
        if card["column"]["name"] in ("Backlog", "To do") and is_full is full:
            found.append({**card, "goal": goal})
    return found


async def start(page: Page, card: Row) -> None:
    """Drag the card to the column In progress."""
    await open_board(page, card["board"]["id"])
    await drag_card(page, card, f"column-{card['goal']['id']}")


@PLAN.task(*START, heldout_wordings=START_HELDOUT, max_steps=21, expected_steps=7, tags=("drag", "refuse", "medium"))
def start_full(card: Row = one_from(lambda state, _: waiting(state, full=True))) -> Verifier:
    return impossible()


@start_full.oracle
async def _(page: Page, card: Row) -> str:
    await start(page, card)
    return "impossible"


@PLAN.task(*START, heldout_wordings=START_HELDOUT, max_steps=21, expected_steps=7, tags=("drag", "refuse", "easy"))
def start_with_room(card: Row = one_from(lambda state, _: waiting(state, full=False))) -> Verifier:
    return only(changed("cards", key=card["id"], column_id=card["goal"]["id"], also=("position",)))


@start_with_room.oracle
async def _(page: Page, card: Row) -> None:
    await start(page, card)


def single_events(state: State, params: Params, locked: bool) -> list[Row]:
    """Single events of the working week in the calendar of somebody else, or in the others."""
    week = work_week(state)
    shown = unlike(occurrences(state, week[0], week[-1]))
    mine = [each for each in shown if each["repeat"] == "none" and (each["calendar_id"] == 4) is locked]
    return [each for each in mine if is_in_sight(each)]


async def reschedule(page: Page, event: Row, to: Row) -> None:
    """Drag the event to another day."""
    await drag(page, f"event-{event['id']}-{event['day']}", to["day"], minutes(event["starts"]) + middle(event))


@PLAN.task(*MOVE, heldout_wordings=MOVE_HELDOUT, max_steps=15, expected_steps=3, tags=("drag", "refuse", "medium"))
def reschedule_locked(
    event: Row = one_from(lambda state, p: single_events(state, p, locked=True)), to: Row = one_from(other_days)
) -> Verifier:
    return impossible()


@reschedule_locked.oracle
async def _(page: Page, event: Row, to: Row) -> str:
    await reschedule(page, event, to)
    return "impossible"


@PLAN.task(*MOVE, heldout_wordings=MOVE_HELDOUT, max_steps=15, expected_steps=3, tags=("drag", "refuse", "medium"))
def reschedule_own(
    event: Row = one_from(lambda state, p: single_events(state, p, locked=False)), to: Row = one_from(other_days)
) -> Verifier:
    times = {name: f"{to['day']} {event[name][11:]}" for name in ("starts", "ends")}
    return only(changed("events", key=event["id"], **times))


@reschedule_own.oracle
async def _(page: Page, event: Row, to: Row) -> None:
    await reschedule(page, event, to)
