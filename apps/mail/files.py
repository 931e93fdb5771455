"""The files that come with mails: small texts, tables, and documents of one page."""

from __future__ import annotations

import csv
import io

from ..kit.pages import money

TYPES = {
    "txt": "text/plain", "csv": "text/csv", "pdf": "application/pdf", "png": "image/png", "jpg": "image/jpeg",
    "md": "text/markdown", "json": "application/json", "zip": "application/zip",
}  # fmt: skip


def type_of(name: str) -> str:
    """The kind of a file, by the end of its name."""
    return TYPES.get(name.rpartition(".")[2].lower(), "application/octet-stream")


def table(lines: list[tuple[str, int, int]]) -> bytes:
    """A table of items as CSV: item, quantity, price, and the sum at its end.

    Args:
        lines: Item, quantity, price of one in cents.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("Item", "Quantity", "Unit price", "Amount"))
    for item, quantity, cents in lines:
        writer.writerow((item, quantity, money(cents), money(quantity * cents)))
    writer.writerow(("Total", sum(line[1] for line in lines), "", money(sum(q * c for _, q, c in lines))))
    return out.getvalue().encode()


def document(lines: list[str]) -> bytes:
    """A page of text as PDF."""
    shown = [line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)") for line in lines]
    text = "BT /F1 11 Tf 60 780 Td 16 TL " + " ".join(f"({line}) '" for line in shown) + " ET"
    stream = text.encode("latin-1", "replace")
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
