"""The verifier of downloads: what passes, and the near misses that must not."""

from __future__ import annotations

from typing import Any

import pytest

from uigym.types import Download, Episode, Stop
from uigym.verifiers.download import downloaded
from uigym.verifiers.match import close

CSV = Download.of("report.csv", b'\xef\xbb\xbfid,total,note\r\n1,12.50,"a, b"\r\n2,7,\r\n')
OTHER = Download.of("report.csv", b"id,total,note\n1,12.51,x\n")
PDF = Download.of("bill-7.pdf", b"%PDF-1.7 total 12.50")
PARTIAL = Download("report.csv", 4, "", "unfinished")
BROKEN = Download("report.csv", 0, "", "failed")
ROWS: list[dict[str, Any]] = [{"id": 1, "total": 12.5, "note": "a, b"}, {"id": 2, "total": 7, "note": ""}]


def episode(*downloads: Download) -> Episode:
    return Episode("e", "office", "export", 0, {}, "Export.", (), Stop.DONE, downloads=downloads)


@pytest.mark.parametrize(
    ("wanted", "given", "reason"),
    [
        ({"name": "report.csv"}, (CSV,), ""),
        ({"name": "report.csv"}, (PDF, CSV), ""),
        ({"name": "bill-*.pdf", "contains": ("12.50", b"%PDF")}, (PDF,), ""),
        ({"name": "report.csv", "sha256": CSV.sha256.upper()}, (CSV,), ""),
        ({"sha256": CSV.sha256}, (PDF, CSV), ""),
        ({"name": "report.csv", "rows": ROWS}, (CSV,), ""),
        ({"name": "report.csv", "rows": [{"id": 1}, {"id": 2}]}, (CSV,), ""),
        ({"name": "report.csv", "rows": ROWS}, (BROKEN, PARTIAL, CSV), ""),  # a second try that worked
        ({"name": "report.csv", "times": 2}, (CSV, CSV), ""),
        ({"rows": [{"total": close(12.4, 0.1)}, {"note": lambda note: note == ""}]}, (CSV,), ""),
        ({"rows": [{"id": 1, "total": 7}], "delimiter": ";"}, (Download.of("x.csv", b"id;total\n1;7\n"),), ""),
        # near misses
        ({"rows": [{"total": close(12.4, 0.05)}, {}]}, (CSV,), "row 1: expected total = close(12.4, 0.05), found '12.50'"),
        ({"rows": [{"id": 1}]}, (Download.of("x.csv", b"id;total\n1;7\n"),), "row 1: expected id = 1, found None"),
        ({"name": "report.csv"}, (), "found none"),
        ({"name": "report.csv"}, (PDF,), "'bill-7.pdf' (finished, 20 bytes)"),
        ({"name": "report.csv"}, (PARTIAL,), "'report.csv' (unfinished, 4 bytes)"),
        ({"name": "report.csv"}, (BROKEN,), "'report.csv' (failed, 0 bytes)"),
        ({"name": "Report.csv"}, (CSV,), "expected the download of Report.csv"),
        ({"name": "report.cs"}, (CSV,), "expected the download of report.cs"),
        ({"name": "report?csv"}, (CSV,), "expected the download of report?csv"),
        ({"name": "report.csv"}, (CSV, CSV), "expected it 1 time(s), found it 2 times"),
        ({"name": "report.csv", "times": 2}, (CSV,), "found it 1 times"),
        ({"name": "report.csv", "sha256": CSV.sha256}, (OTHER,), "expected content with sha256"),
        ({"name": "report.csv", "rows": ROWS}, (CSV, OTHER), "expected 2 rows, found 1"),
        ({"name": "report.csv", "rows": ROWS[:1]}, (CSV,), "expected 1 rows, found 2"),
        ({"name": "report.csv", "rows": ROWS[::-1]}, (CSV,), "row 1: expected id = 2, found '1'"),
        ({"name": "report.csv", "rows": [{**ROWS[0], "total": 12.51}, ROWS[1]]}, (CSV,), "expected total = 12.51"),
        ({"name": "report.csv", "rows": [{"sum": 1}, {}]}, (CSV,), "expected sum = 1, found None"),
        ({"name": "bill-*.pdf", "contains": "12.51"}, (PDF,), "expected content with '12.51'"),
        ({"name": "bill-*.pdf", "rows": []}, (Download.of("bill-7.pdf", b"\xff\xfe"),), "expected CSV in UTF-8"),
        ({"contains": "12.51"}, (PDF, CSV), "expected content with '12.51'"),
    ],
)  # fmt: skip
def test_downloaded(wanted: dict[str, Any], given: tuple[Download, ...], reason: str) -> None:
    verdict = downloaded(**wanted)(episode(*given))
    assert verdict.success is (reason == "") and verdict.score == float(verdict.success)
    assert reason in verdict.reason and downloaded(**wanted)(episode(*given)) == verdict


def test_something_must_be_asked_for() -> None:
    with pytest.raises(ValueError, match="say at least one of"):
        downloaded()
    with pytest.raises(ValueError, match="at least 1, not 0"):
        downloaded("a", times=0)
