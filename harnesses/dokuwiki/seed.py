"""The wiki of a boatyard: pages with their history, media, users and access rules, as the files that DokuWiki keeps."""

from __future__ import annotations

import gzip
import hashlib
import os
import random
import shutil
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

FIRST_DAY = datetime(2025, 3, 3, 9, 0, tzinfo=UTC)
FOLDERS = ("pages", "attic", "media", "media_attic", "meta", "media_meta", "cache", "index", "locks", "tmp", "log")
USER, PASSWORD = "kim", "harbour"
"""Who is signed in."""
USERS = (
    ("kim", "Kim Lindqvist", "admin,user"),
    ("amara", "Amara Okafor", "user,yard"),
    ("bruno", "Bruno Keller", "user,yard"),
    ("chloe", "Chloe Martin", "user,office"),
    ("dmitri", "Dmitri Volkov", "user,yard"),
    ("elena", "Elena Rossi", "user,office"),
)
AUTHORS = tuple(login for login, _, _ in USERS[1:])
BOATS = (
    "Albatross", "Bittern", "Curlew", "Dunlin", "Egret", "Fulmar", "Gannet", "Heron", "Kestrel", "Lapwing", "Osprey",
    "Plover", "Sandpiper", "Teal",
)  # fmt: skip
SUPPLIERS = (
    "Baltic Ropes",
    "Delta Chandlery",
    "Fjord Timber",
    "Havn Paint",
    "Lindau Sails",
    "Porto Cork",
    "Selsey Epoxy",
)
JOBS = (
    ("antifouling", ("Haul the boat out", "Wash the hull", "Sand the old paint", "Paint two coats")),
    ("engine_oil", ("Warm up the engine", "Drain the old oil", "Change the filter", "Fill in new oil")),
    ("mast_stepping", ("Check the shrouds", "Hook up the crane", "Lower the mast", "Tighten the rigging")),
    ("winter_cover", ("Dry the deck", "Set up the frame", "Pull over the cover", "Tie down the edges")),
    ("battery_care", ("Switch off the main switch", "Clean the poles", "Measure the voltage", "Charge the battery")),
    ("sail_storage", ("Rinse the sail", "Hang it up to dry", "Fold it along the seams", "Label the bag")),
    ("bilge_check", ("Lift the floorboards", "Pump out the water", "Look for leaks", "Test the float switch")),
    ("zinc_anodes", ("Find all anodes", "Weigh the old ones", "Brush the contact", "Bolt on new ones")),
)  # fmt: skip
GEAR = (
    "anchor 12 kg",
    "life raft",
    "VHF radio",
    "bow thruster",
    "spray hood",
    "autopilot",
    "boarding ladder",
    "heater",
)
CONF = """<?php
$conf['title'] = 'Harbour Works';
$conf['savedir'] = '{root}/data';
$conf['license'] = '';
$conf['useacl'] = 1;
$conf['superuser'] = '@admin';
$conf['passcrypt'] = 'smd5';
$conf['disableactions'] = 'register';
$conf['dformat'] = '%Y-%m-%d';
$conf['recent_days'] = 36500;
$conf['youarehere'] = 1;
$conf['breadcrumbs'] = 0;
$conf['dnslookups'] = 0;
$conf['showuseras'] = 'username';
$conf['indexdelay'] = 0;
"""
ACL = (("*", "@ALL", 1), ("*", "@user", 8), ("boats:*", "@office", 1), ("people:*", "@yard", 1), ("wiki:*", "@ALL", 1))
_HEAD = "# {name}\n# <?php exit()?>\n# Kept by the wiki\n"


@dataclass
class Page:
    """A page with its history, the oldest text first."""

    id: str
    texts: list[str]
    said: list[str] = field(default_factory=lambda: ["created"])


def write(root: Path, apt: Path) -> None:
    """Fill a folder with `conf` and `data`.

    Args:
        root: The folder; it must not be there yet.
        apt: Where Debian's package was unpacked.
    """
    data, conf = root / "data", root / "conf"
    for name in FOLDERS:
        (data / name).mkdir(parents=True)
    conf.mkdir()
    _configure(conf, apt / "etc/dokuwiki", root)
    rng = random.Random("harbour works")
    for page in pages(rng):
        _keep(data, page, rng)
    for number, boat in enumerate(BOATS[::2]):
        _keep_picture(data, f"boats/{boat.lower()}.png", number)


def pages(rng: random.Random) -> Iterator[Page]:
    """All pages of the wiki."""
    boats = [_boat(name, rng) for name in BOATS]
    people = [_person(login, name, rng) for login, name, _ in USERS]
    suppliers = [_supplier(name, rng) for name in SUPPLIERS]
    howto = [_job(name, steps, rng) for name, steps in JOBS]
    meetings = [_meeting(number, rng) for number in range(12)]
    groups = {"boats": boats, "people": people, "suppliers": suppliers, "howto": howto, "meetings": meetings}
    for name, group in groups.items():
        yield from group
        links = "".join(f"  * [[{page.id}]]\n" for page in group)
        yield Page(f"{name}:start", [f"====== {name.capitalize()} ======\n\n{links}"])
    links = "".join(f"  * [[{name}:start|{name.capitalize()}]]\n" for name in groups)
    yield Page("start", [f"====== Harbour Works ======\n\nThe yard's own handbook.\n\n{links}"])


def _boat(name: str, rng: random.Random) -> Page:
    length, berth, price = rng.randrange(72, 139) / 10, rng.randrange(1, 60), rng.randrange(40, 160) * 10
    old_berth, old_price = berth % 60 + 3, price - rng.randrange(1, 9) * 10
    gear, owner = rng.sample(GEAR, 4), rng.choice(USERS)[1]

    def text(berth: int, price: int) -> str:
        return (
            f"====== {name} ======\n\nA boat in the care of {owner}.\n\n===== Details =====\n\n^ What ^ Value ^\n"
            f"| Length | {length} m |\n| Berth | {berth} |\n| Yearly fee | {price} EUR |\n\n===== Equipment =====\n\n"
            + "".join(f"  * {each}\n" for each in gear)
            + f"\n===== Remarks =====\n\nThe {name} was surveyed in {rng.choice(('April', 'May', 'June'))}.\n"
        )

    rng_state = rng.getstate()
    texts = []
    for values in ((old_berth, old_price), (berth, old_price), (berth, price)):
        rng.setstate(rng_state)
        texts.append(text(*values))
    return Page(f"boats:{name.lower()}", texts, ["created", "moved to another berth", "new yearly fee"])


def _person(login: str, name: str, rng: random.Random) -> Page:
    phone, room = f"+46 555 {rng.randrange(1000, 9999)}", rng.randrange(1, 20)
    table = f"^ What ^ Value ^\n| Phone | {phone} |\n| Room | {room} |\n"
    return Page(f"people:{login}", [f"====== {name} ======\n\n===== Contact =====\n\n{table}"])


def _supplier(name: str, rng: random.Random) -> Page:
    city, days = rng.choice(("Bergen", "Gdansk", "Kiel", "Lindau", "Porto")), rng.randrange(2, 30)
    table = f"^ What ^ Value ^\n| City | {city} |\n| Delivery time | {days} days |\n| Discount | {rng.randrange(2, 16)} % |\n"
    text = f"====== {name} ======\n\n===== Terms =====\n\n{table}\n===== Remarks =====\n\nOrders by mail.\n"
    return Page(f"suppliers:{name.lower().replace(' ', '_')}", [text])


def _job(name: str, steps: tuple[str, ...], rng: random.Random) -> Page:
    def text(count: int, hours: int) -> str:
        listed = "".join(f"  - {step}\n" for step in steps[:count])
        return f"====== {name.replace('_', ' ').capitalize()} ======\n\n===== Steps =====\n\n{listed}\n===== Time =====\n\nAbout {hours} hours.\n"

    hours = rng.randrange(2, 9)
    return Page(
        f"howto:{name}", [text(3, hours + 1), text(4, hours + 1), text(4, hours)], ["created", "one step more", "time"]
    )


def _meeting(number: int, rng: random.Random) -> Page:
    day = FIRST_DAY + timedelta(days=14 * number)
    there = sorted(rng.sample([name for _, name, _ in USERS], 3))
    listed = "".join(f"  * {name}\n" for name in there)
    boat = rng.choice(BOATS)
    text = f"====== Meeting of {day:%d %B %Y} ======\n\n===== Present =====\n\n{listed}\n===== Decisions =====\n\n  * The {boat} goes first.\n"
    return Page(f"meetings:{day:%Y-%m-%d}", [text])


def _configure(conf: Path, package: Path, root: Path) -> None:
    for name in ("plugins.php", "plugins.required.php"):
        shutil.copyfile(package / name, conf / name)
    (conf / "plugins.local.php").write_text("<?php\n$plugins['popularity'] = 0;\n$plugins['extension'] = 0;\n")
    (conf / "local.php").write_text(CONF.format(root=root))
    rules = "".join(f"{scope}\t{who}\t{level}\n" for scope, who, level in ACL)
    (conf / "acl.auth.php").write_text(_HEAD.format(name="acl.auth.php") + rules)
    hashed = hashlib.md5(PASSWORD.encode(), usedforsecurity=False).hexdigest()
    users = "".join(f"{login}:{hashed}:{name}:{login}@harbour.test:{groups}\n" for login, name, groups in USERS)
    (conf / "users.auth.php").write_text(_HEAD.format(name="users.auth.php") + users)


def _keep(data: Path, page: Page, rng: random.Random) -> None:
    """Write a page as DokuWiki would have, had its authors saved it on these days."""
    path = page.id.replace(":", "/")
    days = sorted(rng.sample(range(400), len(page.texts)))
    log, before = "", ""
    for number, (day, text) in enumerate(zip(days, page.texts, strict=True)):
        at = int((FIRST_DAY + timedelta(days=day, minutes=rng.randrange(480))).timestamp())
        kind, grown = "CE"[number > 0], len(text) - len(before)
        log += f"{at}\t127.0.0.1\t{kind}\t{page.id}\t{rng.choice(AUTHORS)}\t{page.said[number]}\t\t{grown}\n"
        _put(data / "attic" / f"{path}.{at}.txt.gz", gzip.compress(text.encode(), mtime=0), at)
        before = text
    _put(data / "pages" / f"{path}.txt", before.encode(), at)
    _put(data / "meta" / f"{path}.changes", log.encode(), at)
    with (data / "meta/_dokuwiki.changes").open("a") as everything:
        everything.write(log)


def _keep_picture(data: Path, path: str, number: int) -> None:
    at = int((FIRST_DAY + timedelta(days=number)).timestamp())
    picture = png(120, 80, (40 + 25 * number, 110, 200 - 20 * number))
    _put(data / "media" / path, picture, at)
    line = f"{at}\t127.0.0.1\tC\t{path.replace('/', ':')}\tamara\tcreated\t\t{len(picture)}\n"
    _put(data / "media_meta" / f"{path}.changes", line.encode(), at)


def _put(place: Path, content: bytes, at: int) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    os.utime(place, (at, at))


def png(width: int, height: int, colour: tuple[int, int, int]) -> bytes:
    """A picture of one colour."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    row = b"\0" + bytes(colour) * width
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(row * height)) + chunk(b"IEND", b"")
    )
