"""Oracles of small applications: mails, contacts, a search, files."""

from __future__ import annotations

import re
from typing import Any

from uigym.harnesses.miniwob import pages  # noqa: F401 - the tasks
from uigym.harnesses.miniwob.product import oracle
from uigym.harnesses.miniwob.words import quoted, whole

Page = Any
"""Playwright's page, by hand."""


def thread(page: Page, name: str) -> Page:
    """The first mail of a sender in the inbox."""
    return page.locator("#main .email-thread", has=page.locator(".email-sender", has_text=whole(name))).first


async def forward(page: Page, sender: str, to: str) -> None:
    """Open a mail and send it on."""
    await thread(page, sender).click()
    await page.locator(".email-forward").click()
    await page.locator(".forward-sender").fill(to)
    await page.locator("#send-forward").click()


async def reply(page: Page, sender: str, text: str) -> None:
    """Open a mail and answer it."""
    await thread(page, sender).click()
    await page.locator(".email-reply").click()
    await page.locator("#reply-text").fill(text)
    await page.locator("#send-reply").click()


@oracle("email-inbox", "email-inbox-noscroll", "email-inbox-delete", "email-inbox-important", "email-inbox-forward", "email-inbox-reply", "email-inbox-star-reply", steps=12)  # fmt: skip
async def _(page: Page, utterance: str) -> None:
    (sender,) = re.findall(r"email by (\w+)", utterance)
    if "trash" in utterance:
        await thread(page, sender).locator(".trash").click()
    elif "star" in utterance:
        await thread(page, sender).locator(".star").click()
    elif to := re.findall(r"forward that email to (\w+)", utterance):
        await forward(page, sender, to[0])
    else:
        await reply(page, sender, quoted(utterance)[0])


@oracle("multi-orderings", "multi-layouts", steps=7)
async def _(page: Page, utterance: str) -> None:
    genre, name, year = re.findall(r"for (\S+) movies directed by (\S+) from year (\d+)", utterance)[0]
    fields = page.locator("#area input[type=text]")
    for number in range(await fields.count()):
        around = str(
            await fields.nth(number).evaluate("field => field.closest('p, tr, .row, .field, .ui-entry').textContent")
        )
        value = genre if "enre" in around else name if "irector" in around else year
        await fields.nth(number).fill(value)
    await page.locator("#area").get_by_text(re.compile("^(Submit|Search|Go!)$")).last.click()


@oracle("search-engine", steps=6)
async def _(page: Page, utterance: str) -> None:
    (nth,) = re.findall(r"(\d)(?:st|nd|rd|th)", utterance)
    number = int(nth) - 1
    await page.locator("#search-text").fill(quoted(utterance)[0])
    await page.locator("#search").click()
    if number >= 3:
        await page.locator("#pagination").get_by_text(str(number // 3 + 1), exact=True).click()
    await page.locator("#page-content a").nth(number % 3).click()


@oracle("sign-agreement", steps=6)
async def _(page: Page, utterance: str) -> None:
    names = quoted(utterance)
    if len(names) < 2:
        await page.locator("#cancel").click()
        return
    await page.locator("#text-area").hover()
    await page.mouse.wheel(0, 9000)
    await page.locator("#name").fill(names[0])
    await page.get_by_role("button", name=names[1]).click()


@oracle("navigate-tree", steps=8)
async def _(page: Page, utterance: str) -> None:
    names = page.locator("#tree span", has_text=whole(quoted(utterance)[0]))
    above = page.locator("#tree li", has=names)
    for number in range(await above.count()):
        if await names.first.is_visible():
            break
        await above.nth(number).locator("> .hitarea").click()
    await names.first.click()


@oracle("social-media", steps=6)
async def _(page: Page, utterance: str) -> None:
    user = re.findall(r"user (@\w+)", utterance)[0]
    (action,) = quoted(utterance)
    post = page.locator(".media", has=page.locator(".username", has_text=whole(user))).first
    icon = post.locator(f".{action.lower()}" if action in ("Reply", "Retweet", "Like") else ".more")
    await icon.hover()  # while its other picture is on its way, it has no size
    await icon.click()
    if action not in ("Reply", "Retweet", "Like"):
        await post.locator("ul li", has_text=re.compile(f"^{action}")).click()
