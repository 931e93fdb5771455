"""What synthetic pages say: interface words, invented words that must be read letter by letter, and values."""

from __future__ import annotations

import random

INTERFACE = tuple(
    """
    OK Cancel Save Delete Submit Next Back Login Search Help Close Edit Add Remove Open New Send Apply Reset
    Confirm Done More Less Home Menu Settings Profile Account Orders Items List Grid Details Options Filter Sort
    Share Print Copy Paste Undo Redo Yes No Accept Decline Approve Reject Start Stop Pause Resume Play Record
    Upload Download Import Export Refresh Reload View Hide Show Select Clear All None Today Week Month Year Monday
    Friday Sunday Morning Evening Small Medium Large Extra Single Double Hot Cold Sweet Fresh Red Green Blue White
    Black Yellow Total Price Quantity Amount Balance Due Paid Card Cash Pay Refund Discount Table Room Seat Floor
    Desk Guest Name Email Phone Address City Country Company Note Notes Comment Message Subject Title Status
    Priority Type Category Tag Owner Agent Customer User Group Team Role Date Time Number Code Draft Sent Active
    Closed Pending Ready Low Normal High Urgent First Last Left Right Top Bottom Front Light Dark Theme Language
    Sound Photos Music Video Files Folder Report Chart Invoice Receipt Ticket Basket Checkout Delivery Pickup
    Stock Sold Plan Basic Standard Premium Garden River Mountain Forest Ocean Bridge Castle Window Silver Golden
    Winter Summer Autumn Spring
    """.split()  # noqa: SIM905
)
_ONSETS = tuple("b c d f g h j k l m n p r s t v w z br cr dr fr gr pr tr bl cl fl pl sl st sp sh ch th wh qu".split())  # noqa: SIM905
_VOWELS = tuple("a e i o u a e i o ai ea ee oa ou".split())  # noqa: SIM905
_CODAS = ("", "", "", *"b d g k l m n p r s t x nd nt rt st ck ll mp rn ss".split())  # noqa: SIM905
STATUSES = tuple("Ready Sent Draft Active Closed Pending New Paid Late Done Open Shipped Waiting Blocked".split())  # noqa: SIM905
FIELDS = tuple("Name Email Phone City Note Title Code Address Company Subject Search Comment".split())  # noqa: SIM905


def invented(rng: random.Random) -> str:
    """A word that nobody has seen: one to three syllables."""
    syllables = rng.choice((1, 2, 2, 2, 3))
    word = "".join(rng.choice(_ONSETS) + rng.choice(_VOWELS) for _ in range(syllables)) + rng.choice(_CODAS)
    return word[:11]


def word(rng: random.Random) -> str:
    """An interface word or an invented one."""
    return rng.choice(INTERFACE) if rng.random() < 0.35 else invented(rng).capitalize()


def label(rng: random.Random, longest: int = 16) -> str:
    """One or two words, sometimes with a number, as on a button or a row."""
    kind = rng.random()
    if kind < 0.5:
        return word(rng)
    if kind < 0.9:
        second = word(rng)
        text = f"{word(rng)} {second.lower() if rng.random() < 0.7 else second}"
        return text if len(text) <= longest else word(rng)
    return f"{word(rng)} {rng.randrange(1, 100)}"


def labels(rng: random.Random, count: int, longest: int = 16) -> list[str]:
    """Distinct labels, now and then near-alike ones that differ in a letter or a word."""
    found: list[str] = []
    while len(found) < count:
        new = _alike(rng, rng.choice(found)) if found and rng.random() < 0.15 else label(rng, longest)
        if len(new) <= longest and new.lower() not in {f.lower() for f in found}:
            found.append(new)
    return found


def _alike(rng: random.Random, text: str) -> str:
    if " " in text:
        first, _, rest = text.partition(" ")
        return f"{word(rng)} {rest}" if rng.random() < 0.5 else f"{first} {word(rng).lower()}"
    at = rng.randrange(len(text))
    return (text[:at] + rng.choice("aeioulrnst") + text[at + 1 :]).capitalize()


def money(rng: random.Random) -> str:
    """A price such as 4.50 or $12.00."""
    amount = rng.choice((rng.randrange(50, 1000, 10), rng.randrange(100, 1000, 5), rng.randrange(100, 10000)))
    sign = rng.choice(("", "", "$", "$", "€", "£"))
    return f"{sign}{amount // 100}.{amount % 100:02d}"


def value(rng: random.Random) -> str:
    """Something a table cell may hold."""
    kind = rng.randrange(6)
    if kind == 0:
        return money(rng)
    if kind == 1:
        return str(rng.randrange(0, rng.choice((10, 100, 1000, 10000))))
    if kind == 2:
        return f"{rng.randrange(24):02d}:{rng.randrange(0, 60, 5):02d}"
    if kind == 3:
        return f"{rng.randrange(1, 29)} {rng.choice(['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'])}"
    return word(rng)


def typed(rng: random.Random) -> str:
    """What somebody is asked to type."""
    kind = rng.randrange(5)
    if kind == 0:
        return str(rng.randrange(1, 10000))
    if kind == 1:
        return " ".join(rng.choice((invented(rng), word(rng).lower())) for _ in range(rng.choice((2, 2, 3))))
    if kind == 2:
        return word(rng)
    return invented(rng)
