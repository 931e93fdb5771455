"""Two products in one gym: mail, where episodes begin, and the help desk beside it."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping
from typing import Any

from uigym.apps.desk import seed as desk_data
from uigym.apps.kit.store import lead_to
from uigym.apps.kit.web import introduce
from uigym.apps.mail import seed as mail_data
from uigym.harness import Running
from uigym.harnesses.desk.product import desk
from uigym.harnesses.frontdesk.letters import letters
from uigym.harnesses.mail.product import LOGS as MAIL_LOGS
from uigym.harnesses.mail.product import mail
from uigym.verifiers.state import Change, only
from uigym.verify import Verifier

Page = Any  # Playwright's
LOGS = (*MAIL_LOGS, "desk.events")
"""What only tells what happened, in both."""


async def reset_desk(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
    """Give the desk the seed's data, and a way to the mail."""
    path = product.workdir / "desk.db"
    await asyncio.to_thread(desk_data.write, path, seed, appearance)
    await asyncio.to_thread(lead_to, path, ["mail"])


async def reset_mail(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
    """Give the mail the seed's data, with letters about the desk on top, and a way to the desk."""
    path, held = product.workdir / "mail.db", await desk.state(product.beside["desk"])
    told = [(each.sender, each.address, each.subject, each.text, ()) for each in letters(held.tables)]
    await asyncio.to_thread(mail_data.write, path, seed, appearance, told)
    await asyncio.to_thread(lead_to, path, ["desk"])


async def meet(products: Mapping[str, Running]) -> None:
    """Tell each where the other is."""
    introduce({"mail": products["frontdesk"], "desk": products["desk"]})


frontdesk = dataclasses.replace(
    mail,
    name="frontdesk",
    reset=reset_mail,
    beside={"desk": dataclasses.replace(desk, reset=reset_desk)},
    meet=meet,
    logs=MAIL_LOGS,
)


def just(*changes: Change | Verifier) -> Verifier:
    """These changes, each for an equal share of the score, and nothing else in either product but lines in its log."""
    return only(*changes, except_=LOGS)


async def to_desk(page: Page) -> None:
    """From the mail to the desk."""
    await page.get_by_test_id("go-desk").click()


async def read(page: Page, letter: Mapping[str, Any]) -> None:
    """Find a letter by its subject and open it."""
    await page.get_by_test_id("search").fill(f'subject:"{letter["subject"]}"')
    await page.get_by_test_id("search").press("Enter")
    await page.get_by_test_id(f"thread-{letter['thread']}").click()
