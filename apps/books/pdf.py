"""A small writer of PDF files: text and lines in Helvetica on A4 pages; the same text gives the same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..kit.pages import money
from .amounts import amount
from .schema import SIGNS

WIDTH, HEIGHT = 595, 842
"""A4, points."""
_NARROW = "iljtfI.,:;'|!()[] "
_WIDE = "mwMWG@%&QOD"


class Paper:
    """The pages of one file; y runs from the top down."""

    def __init__(self) -> None:
        self.pages: list[list[str]] = [[]]

    def text(self, x: float, y: float, text: str, size: float = 10, *, bold: bool = False, end: bool = False) -> None:
        """Write a line; `end` aligns its end at x."""
        left = x - width(text, size) if end else x
        font = "F2" if bold else "F1"
        self.pages[-1].append(f"BT /{font} {size:g} Tf {left:.1f} {HEIGHT - y:.1f} Td ({_escaped(text)}) Tj ET")

    def line(self, x: float, y: float, to_x: float) -> None:
        """Draw a level line."""
        self.pages[-1].append(f"0.6 w {x:.1f} {HEIGHT - y:.1f} m {to_x:.1f} {HEIGHT - y:.1f} l S")

    def turn(self) -> None:
        """Begin another page."""
        self.pages.append([])

    def file(self, title: str) -> bytes:
        """The file."""
        kids = " ".join(f"{6 + 2 * i} 0 R" for i in range(len(self.pages)))
        objects = [
            "<< /Type /Catalog /Pages 2 0 R >>",
            f"<< /Type /Pages /Kids [{kids}] /Count {len(self.pages)} >>",
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
            f"<< /Title ({_escaped(title)}) >>",
        ]
        for i, page in enumerate(self.pages):
            stream = "\n".join(page)
            fonts = "<< /Font << /F1 3 0 R /F2 4 0 R >> >>"
            box = f"/MediaBox [0 0 {WIDTH} {HEIGHT}]"
            objects.append(f"<< /Type /Page /Parent 2 0 R {box} /Resources {fonts} /Contents {7 + 2 * i} 0 R >>")
            objects.append(f"<< /Length {len(_coded(stream))} >>\nstream\n{stream}\nendstream")
        return _file(objects)


def width(text: str, size: float) -> float:
    """About how wide a text is, points."""
    return sum(0.27 if c in _NARROW else 0.83 if c in _WIDE else 0.556 for c in text) * size


def invoice_pdf(invoice: Mapping[str, Any], company: str) -> bytes:
    """An invoice or a credit note.

    Args:
        invoice: With its `customer` (a row) and its `lines`.
        company: Who sends it.
    """
    sign = SIGNS[invoice["currency"]]
    paper = Paper()
    _head(paper, invoice, company)
    y = _lines(paper, invoice["lines"], sign)
    paper.line(330, y, 545)
    for name, value in (("Net", "net"), ("Tax", "tax"), ("Total", "total"), ("Paid", "paid")):
        y += 18
        bold = name == "Total"
        paper.text(335, y, name, bold=bold)
        paper.text(545, y, money(invoice[value], sign), bold=bold, end=True)
    for i, part in enumerate(_wrapped(invoice["notes"], 480)):
        paper.text(50, y + 40 + 14 * i, part)
    return paper.file(invoice["number"])


def receipt_pdf(title: str, day: str, cents: int) -> bytes:
    """A receipt as a shop prints it."""
    paper = Paper()
    paper.text(50, 70, title, 16, bold=True)
    paper.text(50, 100, day)
    paper.text(50, 120, f"Total {money(cents)}", bold=True)
    return paper.file(title)


def _head(paper: Paper, invoice: Mapping[str, Any], company: str) -> None:
    customer = invoice["customer"]
    paper.text(50, 60, company, 12, bold=True)
    paper.text(
        50, 110, f"{'Credit note' if invoice['kind'] == 'credit' else 'Invoice'} {invoice['number']}", 20, bold=True
    )
    for i, text in enumerate((customer["name"], customer["company"], customer["street"], customer["city"])):
        paper.text(50, 145 + 14 * i, _cut(text, 270))
    facts = (("Issued", invoice["issued_on"]), ("Due", invoice["due_on"]), ("Reference", invoice["reference"] or "-"))
    for i, (name, value) in enumerate(facts):
        paper.text(370, 145 + 14 * i, name, bold=True)
        paper.text(545, 145 + 14 * i, _cut(value, 120), end=True)


def _lines(paper: Paper, lines: Sequence[Mapping[str, Any]], sign: str) -> float:
    y = 240.0
    for x, name, end in ((50, "Description", False), (340, "Quantity", True), (420, "Price", True), (465, "Tax", True), (545, "Amount", True)):  # fmt: skip
        paper.text(x, y, name, bold=True, end=end)
    paper.line(50, y + 6, 545)
    for line in lines:
        y += 22
        if y > HEIGHT - 160:
            paper.turn()
            y = 70
        paper.text(50, y, _cut(line["description"], 230))
        paper.text(340, y, f"{line['quantity']:g}", end=True)
        paper.text(420, y, money(line["price"], sign), end=True)
        paper.text(465, y, f"{line['tax']}%", end=True)
        paper.text(545, y, money(amount(line), sign), end=True)
    return y + 14


def _cut(text: str, room: float, size: float = 10) -> str:
    if width(text, size) <= room:
        return text
    while text and width(text + "...", size) > room:
        text = text[:-1]
    return text + "..."


def _wrapped(text: str, room: float) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if width(longer, 10) > room and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = longer
    return [_cut(line, room) for line in lines[:8]]


def _coded(text: str) -> bytes:
    return text.encode("cp1252", "replace")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)").replace("\n", " ")


def _file(objects: Sequence[str]) -> bytes:
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + _coded(body) + b"\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    for place in places:
        out += f"{place:010d} 00000 n \n".encode()
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info 5 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(out)
