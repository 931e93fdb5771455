"""What a browser session is like beside the product: all that a page can ask about, and how a hand types."""

from __future__ import annotations

import datetime
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Fixed for a session, so that the same acts give the same pixels.

    Example:
        >>> Surroundings(timezone="Asia/Tokyo", random_seed=7).timezone
        'Asia/Tokyo'
    """

    locale: str = "en-US"
    timezone: str = "UTC"
    clock: datetime.datetime | None = None
    """What the page is told whenever it asks for the date; needs a time zone. None leaves the real clock. Animations
    without an end stand still, too; timers, frames and performance.now() run on. Workers keep the real clock."""
    random_seed: int | None = None
    """Makes Math.random a function of this number and the document's path, and what `crypto` draws one of its place in
    the history as well, so that no two documents draw the same names. None leaves them random. Workers draw freely."""
    scale: float = 1.0
    """Picture pixels per CSS px, as on a screen of that density. Actions stay in CSS px."""
    permissions: tuple[str, ...] = ()
    """Permissions that are granted when a page asks, by Playwright's names; all others are denied at once."""
    position: tuple[float, float] = (0.0, 0.0)
    """Latitude and longitude in degrees: where the page learns that it is, if geolocation is granted."""
    typing_delay_s: float = 0.0
    """Pause after each typed character."""

    def __post_init__(self) -> None:
        if self.clock is not None and self.clock.tzinfo is None:
            raise ValueError(f"the clock needs a time zone, such as tzinfo=datetime.UTC, not {self.clock!r}")
        if not 0.25 <= self.scale <= 4:
            raise ValueError(f"scale must be from 0.25 to 4 picture pixels per CSS px, not {self.scale!r}")
        if not 0 <= self.typing_delay_s <= 1:
            raise ValueError(f"typing_delay_s must be from 0 to 1 s, not {self.typing_delay_s!r}")
