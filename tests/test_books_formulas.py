"""Formulas of the books' sheets: what they give, and that the page and the server work out the same."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from uigym.apps.books import formula
from uigym.browser import Browser

SHEET = {
    "A1": "1", "A2": "2.5", "A3": "=A1+A2*2", "A4": "text", "A5": "12%", "A6": "$1,250.75", "A7": "TRUE", "B1": "=SUM(A1:A6)",
    "B2": '=IF(A1>0,"yes","no")', "B3": "=AVERAGE(A1:A3)", "B4": "=COUNT(A1:A9)", "B5": "=MIN(A1:A3)+MAX(A1,A2,7)", "B6": "=ROUND(1.005,2)",
    "C1": "=C2+1", "C2": "=C1", "C3": "=C1&", "D1": "=1/0", "D2": "=D1+1", "D3": "=FOO(1)", "D4": "=A99", "D5": "=A4*2", "D6": "=-(2+3)*4%",
    "D7": "=M1", "D8": "=A1:A3", "D9": "=AVERAGE(F1:F9)", "D10": "=COUNT(D1:D9)", "E1": '="a"<"B"', "E2": '=1<"a"', "E3": "=F1=0",
    "E4": '=F1=""', "E5": "=1e5", "E6": "=IF(FALSE,1/0)", "E7": "=999999999999*10", "E8": "=((((1))))", "E9": "=" + "(" * 40 + "1",
    "E10": "=ROUND(-2.5)", "E11": "=ROUND(1234.5,-2)", "E12": "=1=1=TRUE", "E13": "=#REF!+1", "E14": "=IF(C1,1,2)", "E15": "=SUM(C1:C1)",
    "K1": "=9999999999999", "K2": f"={'9' * 298}", "K3": "=ROUND(999999999999+0.9,0)", "K4": "=ROUND(A1*0+1000000000000,-9)", "K5": f"=ROUND({'9' * 280},9)",
    "K6": "=MAX(1,2000000000000)", "K7": "=-1000000000000", "K8": "=IF(TRUE,1000000000001,0)", "K9": "=-1000000000001",
}  # fmt: skip
SHOWN = {
    "A3": "6", "B1": "1260.37", "B2": "yes", "B3": "3.166667", "B4": "5", "B5": "8", "B6": "1.01", "C1": "#CYCLE!", "C2": "#CYCLE!",
    "C3": "#ERROR!", "D1": "#DIV/0!", "D2": "#DIV/0!", "D3": "#NAME?", "D4": "#REF!", "D5": "#VALUE!", "D6": "-0.2", "D8": "#VALUE!",
    "D9": "#DIV/0!", "D10": "1", "E1": "TRUE", "E2": "TRUE", "E3": "TRUE", "E4": "TRUE", "E6": "FALSE", "E7": "#NUM!", "E8": "1",
    "E9": "#ERROR!", "E10": "-3", "E11": "1200", "E12": "TRUE", "E13": "#REF!", "E14": "#CYCLE!", "E15": "#CYCLE!",
    "K1": "#NUM!", "K2": "#NUM!", "K3": "1000000000000", "K4": "1000000000000", "K5": "#NUM!", "K6": "#NUM!", "K7": "-1000000000000",
    "K8": "#NUM!", "K9": "#NUM!",
}  # fmt: skip


def test_formulas() -> None:
    values = {cell: formula.shown(value) for cell, value in formula.evaluate(SHEET).items()}
    assert {cell: values[cell] for cell in SHOWN} == SHOWN
    assert formula.canonical(" x") == " x" and formula.canonical('=sum( a1:$b2 )+"x y"') == '=SUM(A1:$B2)+"x y"'
    assert formula.shifted("=A1+$A$1+A$1*B3", 1, 2) == "=B3+$A$1+B$1*C5" and formula.shifted("=A1", -1, 0) == "=#REF!"
    assert [formula.shown(-1234.5, form) for form in ("", "number", "money", "percent")] == [
        "-1234.5",
        "-1,234.50",
        "-$1,234.50",
        "-123450%",
    ]


def made_up(rng: random.Random) -> dict[str, str]:
    """A sheet of formulas that may make sense."""

    def part(depth: int) -> str:
        kind = rng.randrange(9 if depth else 4)
        cell = f"{rng.choice(['', '$'])}{rng.choice('ABCDEFL')}{rng.randint(1, 14)}"
        plain = (
            f"{rng.choice((0, 1, 2, 7, 0.125, 1.005, 99.995, 12345678, 999999999999.5, 1000000000001))}",
            cell,
            rng.choice(('"a"', '"B"', "TRUE", '"12"', '""')),
            cell,
        )
        if kind < 4:
            return plain[kind]
        if kind == 4:
            return f"({part(depth - 1)}{rng.choice(('+', '-', '*', '/', '<', '>=', '=', '<>'))}{part(depth - 1)})"
        if kind == 5:
            return f"{rng.choice(('SUM', 'AVERAGE', 'MIN', 'max', 'COUNT'))}({cell}:{rng.choice('ABC')}{rng.randint(1, 9)},{part(depth - 1)})"
        if kind == 6:
            return f"IF({part(depth - 1)},{part(depth - 1)},{part(depth - 1)})"
        return f"-{part(depth - 1)}%" if kind == 7 else f"ROUND({part(depth - 1)}, {rng.randint(-2, 3)})"

    values = ("5", "-3.25", "x", "", "10%", "$1,000.5", "true", "1,2", "0.0078125", "12 ")
    return {
        f"{c}{r}": rng.choice(values) if rng.random() < 0.45 else f"={part(3)}" for c in "ABCDEF" for r in range(1, 13)
    }


AGREE = """sheets => sheets.map(sheet => {
  const values = Formula.evaluate(new Map(Object.entries(sheet)));
  return Object.fromEntries([...values].map(([cell, value]) => [cell, ["", "number", "money", "percent"].map(f => Formula.shown(value, f))
    .concat([Formula.canonical(sheet[cell]), Formula.shifted(sheet[cell], 1, -2)])]));
})"""


@pytest.mark.browser
async def test_the_page_and_the_server_work_out_the_same() -> None:
    sheets = [SHEET, *(made_up(random.Random(i)) for i in range(60))]
    script = (Path(formula.__file__).parent / "static" / "formula.js").read_text()
    browser = await Browser.launch()
    try:
        session = await browser.session(base_url="http://127.0.0.1:1", viewport=(400, 300))
        found = await session.page.evaluate(f"(function () {{ {script}; return ({AGREE})({json.dumps(sheets)}); }})()")
    finally:
        await browser.close()
    for sheet, page in zip(sheets, found, strict=True):
        for cell, value in formula.evaluate(sheet).items():
            forms = [formula.shown(value, form) for form in ("", "number", "money", "percent")]
            assert page[cell] == [*forms, formula.canonical(sheet[cell]), formula.shifted(sheet[cell], 1, -2)], (
                cell,
                sheet[cell],
            )
