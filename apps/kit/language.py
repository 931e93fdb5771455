"""What an app says, in the language of its appearance.

Texts stand in templates and code in English, as `t("Save changes")` or `t("{n} orders", n=3)`; `languages/de.json` and
the like map them to another language, the app's own file before the kit's. Names of records are never translated.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from pathlib import Path

_KIT = Path(__file__).parent / "languages"
_MONTHS = {
    "en": ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
    "de": ("Jan.", "Feb.", "März", "Apr.", "Mai", "Juni", "Juli", "Aug.", "Sep.", "Okt.", "Nov.", "Dez."),
    "ar": ("يناير", "فبراير", "مارس", "أبريل", "مايو", "يونيو", "يوليو", "أغسطس", "سبتمبر", "أكتوبر", "نوفمبر", "ديسمبر"),
}  # fmt: skip
_WEEKDAYS = {
    "en": ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
    "de": ("Mo", "Di", "Mi", "Do", "Fr", "Sa", "So"),
    "ko": ("월", "화", "수", "목", "금", "토", "일"),
    "ar": ("الاثنين", "الثلاثاء", "الأربعاء", "الخميس", "الجمعة", "السبت", "الأحد"),
}


@dataclass(frozen=True)
class Language:
    """One language: texts and dates."""

    code: str
    texts: Mapping[str, str]
    """English -> this language; empty for English."""

    @property
    def direction(self) -> str:
        """ "rtl" where text runs from right to left, else "ltr"."""
        return "rtl" if self.code == "ar" else "ltr"

    @property
    def months(self) -> tuple[str, ...]:
        """Short names of the months, January first."""
        return _MONTHS.get(self.code) or tuple(f"{n}월" for n in range(1, 13))

    @property
    def weekdays(self) -> tuple[str, ...]:
        """Short names of the days, Monday first."""
        return _WEEKDAYS[self.code]

    def __call__(self, text: str, /, **values: object) -> str:
        """A text in this language, its {names} filled in; the English text where none is known."""
        said = self.texts.get(text, text)
        if self.direction == "rtl":  # a name or an amount of the other direction would be scrambled with what is around
            values = {name: f"\u2068{value}\u2069" for name, value in values.items()}
        return said.format(**values) if values else said

    def day(self, moment: date | str, *, year: bool = True) -> str:
        """A date: 13 Oct 2026."""
        at = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
        if self.code == "ko":
            return (f"{at.year}년 " if year else "") + f"{at.month}월 {at.day}일"
        dot = "." if self.code == "de" else ""
        return f"{at.day}{dot} {_MONTHS[self.code][at.month - 1]}" + (f" {at.year}" if year else "")

    def when(self, moment: datetime | str, *, year: bool = True) -> str:
        """A date and a time of day: 13 Oct 2026, 10:00."""
        at = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
        return f"{self.day(at, year=year)}{'،' if self.code == 'ar' else ','} {at:%H:%M}"

    def weekday(self, moment: date) -> str:
        """Short name of the day: Mon."""
        return _WEEKDAYS[self.code][moment.weekday()]


@lru_cache(maxsize=64)
def language(folder: Path, code: str) -> Language:
    """The language of an app.

    Args:
        folder: The app's folder of languages.
        code: "en", "de", "ko" or "ar".
    """
    texts: dict[str, str] = {}
    for place in (_KIT, folder):
        file = place / f"{code}.json"
        if file.exists():
            texts |= json.loads(file.read_text(encoding="utf-8"))
    return Language(code, texts)
