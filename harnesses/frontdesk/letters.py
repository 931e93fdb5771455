"""The mails about the desk that lie on top of the inbox: what they ask for, drawn from the desk's own data."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from uigym.types import Row, State

Tables = Mapping[str, Sequence[Row]]
PROBLEMS = (
    ("Projector in room 4 shows no picture", "The projector stays dark since this morning."),
    ("Two invoices for the same month", "We were billed twice and would like one of them cancelled."),
    ("Export stops half way", "The export ends after about a hundred lines."),
    ("Badge reader at the gate is slow", "It takes ten seconds until the gate opens."),
    ("Cannot change my password", "The form says that the link has expired."),
)
REFERENCES = ("R-8812", "R-4471", "R-9063", "R-2750", "R-6138")
FINISHED = ("solved", "closed")


@dataclass(frozen=True, slots=True)
class Letter:
    """One mail, and what is meant by it."""

    kind: str
    sender: str
    """Name."""
    address: str
    subject: str
    text: str
    meant: Row
    """The records and values that a task about it needs."""


def letters(tables: Tables) -> list[Letter]:
    """One mail of each kind, always the same for the same data of the desk."""
    rng = random.Random(f"letters:{tables['tickets'][0]['id']}:{len(tables['tickets'])}")
    customers = {row["id"]: row for row in tables["customers"]}
    count = Counter(row["name"] for row in customers.values())
    known = [row for row in customers.values() if count[row["name"]] == 1]
    names = {row["id"] for row in known}
    waiting = [t for t in tables["tickets"] if t["status"] not in FINISHED and t["customer_id"] in names]
    rng.shuffle(known)
    rng.shuffle(waiting)
    kept, assigned = waiting[:9], [ticket for ticket in waiting[9:] if ticket["assignee_id"] is not None]
    agents = {row["id"]: row for row in tables["agents"]}
    return [
        _moved(rng, known[0]),
        _problem(rng, known[1]),
        _solved(customers, kept[0]),
        _vanished(rng, tables, known[2]),
        _handed_over(rng, agents, assigned[0]),
        _referred(rng, agents, kept[1]),
        _listed(rng, agents, kept[2:5]),
        _asked("status", "How far are you with ticket #{id}?", customers, kept[5]),
        _asked("assignee", "Who works on ticket #{id}?", customers, assigned[1]),
        _asked("priority", "How urgent is ticket #{id} for you?", customers, kept[6]),
    ]


def _of(kind: str) -> Callable[[State, Mapping[str, Any]], list[Row]]:
    """For `one_from`: the mail of a kind, as what is meant with its subject, text, sender, address, `mail`, `thread`."""

    def found(state: State, params: Mapping[str, Any]) -> list[Row]:
        tables = {name.removeprefix("desk."): rows for name, rows in state.tables.items() if name.startswith("desk.")}
        one = next(each for each in letters(tables) if each.kind == kind)
        mail = next(
            row for row in state.tables["messages"] if row["subject"] == one.subject and row["sender"] == one.address
        )
        where = {"thread": mail["thread_id"], "mail": mail["id"], "sender": one.sender, "address": one.address}
        return [{**one.meant, "subject": one.subject, "text": one.text, **where}]

    return found


def _from(person: Row, kind: str, subject: str, text: str, **meant: Any) -> Letter:
    return Letter(kind, person["name"], person["email"], subject, text, meant)


def _moved(rng: random.Random, customer: Row) -> Letter:
    old = customer["phone"]
    phone = f"{old[:-4]}{(int(old[-4:]) + rng.randrange(1_000, 9_000)) % 10_000:04d}"
    text = f"Hello,\n\nfrom today on you reach me under {phone}. The old number is off.\n\n{customer['name']}"
    return _from(customer, "moved", "My new phone number", text, customer=customer, phone=phone)


def _problem(rng: random.Random, customer: Row) -> Letter:
    subject, text = rng.choice(PROBLEMS)
    return _from(customer, "problem", subject, text, customer=customer)


def _solved(customers: Mapping[int, Row], ticket: Row) -> Letter:
    customer = customers[ticket["customer_id"]]
    text = f"Hello,\n\nticket #{ticket['id']} has settled itself. Please close it.\n\n{customer['name']}"
    return _from(customer, "solved", "It works again", text, ticket=ticket)


def _vanished(rng: random.Random, tables: Tables, customer: Row) -> Letter:
    number = max(row["id"] for row in tables["tickets"]) + rng.randrange(20, 900)
    text = f"Hello,\n\nplease close my ticket #{number}, we do not need it any more.\n\n{customer['name']}"
    return _from(customer, "vanished", "No longer needed", text, number=number)


def _handed_over(rng: random.Random, agents: Mapping[int, Row], ticket: Row) -> Letter:
    agent = agents[ticket["assignee_id"]]
    other = rng.choice([row for row in agents.values() if row["id"] != agent["id"]])
    text = f"Hi,\n\nI am away from Monday. Please give ticket #{ticket['id']} to {other['name']}.\n\n{agent['name']}"
    return _from(agent, "handed over", "Away from Monday", text, ticket=ticket, agent=other)


def _referred(rng: random.Random, agents: Mapping[int, Row], ticket: Row) -> Letter:
    agent, reference = rng.choice(list(agents.values())), rng.choice(REFERENCES)
    text = (
        f"Hi,\n\nthe refund for ticket #{ticket['id']} is on its way, its reference is {reference}.\n\n{agent['name']}"
    )
    return _from(agent, "referred", "Refund is on its way", text, ticket=ticket, reference=reference)


def _listed(rng: random.Random, agents: Mapping[int, Row], tickets: Sequence[Row]) -> Letter:
    agent = rng.choice(list(agents.values()))
    numbers = "\n".join(f"#{ticket['id']}" for ticket in tickets)
    text = f"Hi,\n\nthese are urgent now:\n\n{numbers}\n\nThe others can wait.\n\n{agent['name']}"
    return _from(agent, "listed", "Three that cannot wait", text, ids=[ticket["id"] for ticket in tickets])


def _asked(what: str, question: str, customers: Mapping[int, Row], ticket: Row) -> Letter:
    customer = customers[ticket["customer_id"]]
    asked = question.format(id=ticket["id"])
    return _from(customer, f"asked {what}", asked, f"{asked}\n\n{customer['name']}", ticket=ticket)


MOVED = _of("moved")
PROBLEM = _of("problem")
SOLVED = _of("solved")
VANISHED = _of("vanished")
HANDED_OVER = _of("handed over")
REFERRED = _of("referred")
LISTED = _of("listed")
ASKED_STATUS = _of("asked status")
ASKED_ASSIGNEE = _of("asked assignee")
ASKED_PRIORITY = _of("asked priority")
