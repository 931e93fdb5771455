"""The sheets that the books begin with: a budget, hours, and a price comparison."""

from __future__ import annotations

import random
from typing import Any

from ..kit.store import Rows
from . import words

Cell = tuple[int, str, str, int, str]
QUARTERS = ("Q1", "Q2", "Q3", "Q4")


def sheets(rng: random.Random, year: int) -> tuple[Rows, list[Cell]]:
    """Rows of the tables `sheets` and `cells`."""
    names = ((1, f"Budget {year + 1}"), (2, "Hours"), (3, "Prices"))
    cells = [*_budget(rng), *_hours(rng), *_prices(rng)]
    return names, cells


def _budget(rng: random.Random) -> list[Cell]:
    """Costs by quarter; the total of one quarter leaves out the last rows."""
    costs = rng.sample(words.COSTS, rng.randint(6, 9))
    last = len(costs) + 1
    short = rng.choice("BCDE")
    table: dict[str, Any] = {"A1": "Costs", "F1": "Year", **{f"{c}1": q for c, q in zip("BCDE", QUARTERS, strict=True)}}
    for row, cost in enumerate(costs, 2):
        table[f"A{row}"] = cost
        table |= {f"{column}{row}": 50 * rng.randint(8, 160) for column in "BCDE"}
        table[f"F{row}"] = f"=SUM(B{row}:E{row})"
    table[f"A{last + 1}"] = "Total"
    for column in "BCDEF":
        table[f"{column}{last + 1}"] = f"=SUM({column}2:{column}{last - 2 if column == short else last})"
    return _cells(1, table, "number")


def _hours(rng: random.Random) -> list[Cell]:
    """Hours and rates by team; the amount is worked out for the first team alone."""
    teams = rng.sample(words.TEAMS, rng.randint(5, 8))
    table: dict[str, Any] = {"A1": "Team", "B1": "Hours", "C1": "Rate", "D1": "Amount", "D2": "=B2*C2"}
    for row, team in enumerate(teams, 2):
        table |= {f"A{row}": team, f"B{row}": rng.randint(12, 160), f"C{row}": 5 * rng.randint(9, 28)}
    return _cells(2, table, "")


def _prices(rng: random.Random) -> list[Cell]:
    """Items with prices, in no order."""
    items = rng.sample(words.ITEMS, rng.randint(6, 9))
    prices = rng.sample(range(120, 4000), len(items))
    table: dict[str, Any] = {"A1": "Item", "B1": "Price", "C1": "Stock"}
    for row, (item, price) in enumerate(zip(items, prices, strict=True), 2):
        table |= {f"A{row}": item, f"B{row}": f"{price / 100:.2f}", f"C{row}": rng.randint(0, 90)}
    return _cells(3, table, "")


def _cells(sheet: int, table: dict[str, Any], form: str) -> list[Cell]:
    rows = []
    for cell, raw in table.items():
        head = cell[1:] == "1" or (cell[0] == "A" and raw == "Total")
        rows.append((sheet, cell, str(raw), int(head), "" if head or cell[0] == "A" else form))
    return rows
