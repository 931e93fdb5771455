"""Oracles of what is read on the page and answered there."""

from __future__ import annotations

import re
from typing import Any

from uigym.harnesses.miniwob import pages  # noqa: F401 - the tasks
from uigym.harnesses.miniwob.product import oracle, submit, whole

Page = Any
"""Playwright's page, by hand."""


async def text(page: Page, selector: str) -> str:
    """What an element says."""
    return str(await page.locator(selector).text_content()).strip()


@oracle("copy-paste", steps=7)
async def _(page: Page) -> None:
    await copy(page, "#to-copy")


@oracle("copy-paste-2", steps=7)
async def _(page: Page, utterance: str) -> None:
    (number,) = re.findall(r"the (\d)", utterance)
    await copy(page, f"#text-{number}")


async def copy(page: Page, source: str) -> None:
    """All of a field's text into the field of the answer, by the clipboard."""
    await page.locator(source).press("Control+a")
    await page.keyboard.press("Control+c")
    await page.locator("#answer-input").press("Control+v")
    await submit(page)


@oracle("find-word", steps=3)
async def _(page: Page, utterance: str) -> None:
    (number,) = re.findall(r"(\d+)(?:st|nd|rd|th) word", utterance)
    word = (await text(page, "#area p")).split()[int(number) - 1]
    await page.locator("#answer-input").fill(re.sub("[^a-zA-Z]", "", word))
    await submit(page)


@oracle("scroll-text", steps=3)
async def _(page: Page) -> None:
    words = str(await page.locator("#text-area").input_value()).split()
    await page.locator("#answer-input").fill(words[-1].rstrip(".,"))
    await submit(page)


@oracle("scroll-text-2", steps=3)
async def _(page: Page, utterance: str) -> None:
    await page.locator("#text-area").hover()
    await page.mouse.wheel(0, 2000 if "bottom" in utterance else -2000)
    await submit(page)


@oracle("highlight-text", steps=2)
async def _(page: Page) -> None:
    await page.locator("#randomText").click(click_count=3, position={"x": 5, "y": 6})
    await submit(page)


@oracle("text-transform", steps=3)
async def _(page: Page) -> None:
    await page.locator("#tt").fill(await text(page, "#captcha"))
    await submit(page)


@oracle("simple-arithmetic", steps=3)
async def _(page: Page) -> None:
    one, sign, two = re.findall(r"(\d) ([-+x]) (\d)", await text(page, "#math-problem"))[0]
    left, right = int(one), int(two)
    await page.locator("#math-answer").fill(str({"+": left + right, "-": left - right, "x": left * right}[sign]))
    await submit(page)


@oracle("simple-algebra", steps=3)
async def _(page: Page) -> None:
    left, sign, right, result = re.findall(r"(\w+) ([-+]) (\w+) = (-?\d+)", await text(page, "#math-problem"))[0]
    known, total = int(right if left == "x" else left), int(result)
    found = total - known if sign == "+" else total + known if left == "x" else known - total
    await page.locator("#math-answer").fill(str(found))
    await submit(page)


@oracle("visual-addition", steps=3)
async def _(page: Page) -> None:
    await page.locator("#math-answer").fill(str(await page.locator(".addition-block").count()))
    await submit(page)


@oracle("guess-number", steps=16)
async def _(page: Page) -> None:
    low, high = 0, 9
    while True:
        guess = (low + high) // 2
        await page.locator("#tt").fill(str(guess))
        await submit(page)
        if await page.locator("#higher").is_visible():
            low = guess + 1
        elif await page.locator("#lower").is_visible():
            high = guess - 1
        else:
            return


@oracle("read-table", steps=3)
async def _(page: Page, utterance: str) -> None:
    (label,) = re.findall(r"value of (.+) into", utterance)
    await page.locator("#tt").fill(await cell(page, label))
    await submit(page)


@oracle("read-table-2", steps=5)
async def _(page: Page) -> None:
    for number in (1, 2):
        label = (await text(page, f"#ll{number}")).removesuffix(":")
        await page.locator(f"#tt{number}").fill(await cell(page, label))
    await submit(page)


async def cell(page: Page, label: str) -> str:
    """What stands beside a label in the table."""
    row = page.locator("#tab tr", has=page.locator("td:first-child", has_text=whole(label)))
    return str(await row.locator("td").nth(1).text_content())


@oracle("buy-ticket", steps=1)
async def _(page: Page, utterance: str) -> None:
    what, best = {
        "cheapest cost": ("price", min),
        "most expensive cost": ("price", max),
        "shortest duration": ("duration", min),
        "longest duration": ("duration", max),
    }[re.findall("with the (.+)[.]", utterance)[0]]
    flights = page.locator(".flight")
    values = []
    for number in range(await flights.count()):
        flight = flights.nth(number)
        shown = flight.locator(".buy-ticket" if what == "price" else ".time-duration")
        attribute = "data-price" if what == "price" else "data-duration"
        values.append(
            float(re.findall(r"\d+", str(await shown.get_attribute(attribute) or await shown.text_content()))[0])
        )
    await flights.nth(values.index(best(values))).locator(".buy-ticket").click()
