"""What counts as done in the kiosk."""

from __future__ import annotations

from uigym.types import Episode, Row, Stop, Verdict
from uigym.verifiers.answer import equals
from uigym.verifiers.page import url_matches
from uigym.verifiers.state import Change, added, unchanged
from uigym.verify import Verifier, all_of, check


def finished(episode: Episode) -> Verdict:
    """The agent said that it is done: who only happened to pass by the goal has not reached it."""
    return check("done", episode.stop is Stop.DONE, f"expected the agent to say that it is done, not {episode.stop}")


def just(*changes: Change) -> Verifier:
    """These changes, and nothing else."""
    return all_of(*changes, unchanged(except_=changes), finished)


def shown(pattern: str) -> Verifier:
    """This page is open, and nothing was touched."""
    return all_of(url_matches(pattern), unchanged(), finished)


def said(value: str | int) -> Verifier:
    """This answer, and nothing was touched."""
    return all_of(equals(value), unchanged())


def line_of(item: Row, quantity: int = 1, size: str = "", extras: str = "") -> Row:
    """The columns of an order or ticket line."""
    return {"item": item["name"], "quantity": quantity, "size": size, "extras": extras}


def ordered(table: int, *lines: Row, note: str = "") -> Verifier:
    """One new order of just these lines for a table."""
    order = added("orders", table_no=table, status="sent", note=note, paid_by="")
    return just(order, added("order_lines", *lines))
