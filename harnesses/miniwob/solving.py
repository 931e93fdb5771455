"""Oracles of what is clicked and filled in."""

from __future__ import annotations

import re
from typing import Any

from uigym.harnesses.miniwob import pages  # noqa: F401 - the tasks
from uigym.harnesses.miniwob.product import oracle, quoted, submit, whole

Page = Any
"""Playwright's page, by hand."""


@oracle("click-test", steps=1)
async def _(page: Page) -> None:
    await submit(page)


@oracle("click-test-2", "click-test-transfer", steps=1)
async def _(page: Page, utterance: str) -> None:
    (name,) = re.findall("ONE|TWO", utterance)
    await page.get_by_role("button", name=name).click()


@oracle("click-button", "unicode-test", steps=1)
async def _(page: Page, utterance: str) -> None:
    await page.get_by_role("button", name=quoted(utterance)[0], exact=True).first.click()


@oracle("click-button-sequence", steps=2)
async def _(page: Page) -> None:
    await page.get_by_role("button", name="ONE").click()
    await page.get_by_role("button", name="TWO").click()


@oracle("click-color", steps=1)
async def _(page: Page, utterance: str) -> None:
    color = utterance.removeprefix("Click on the ").removesuffix(" colored box.")
    await page.locator(f'#area [data-color="{color}"]').click()


@oracle("click-dialog", steps=1)
async def _(page: Page) -> None:
    await page.locator(".ui-dialog-titlebar-close").click()


@oracle("click-dialog-2", steps=1)
async def _(page: Page, utterance: str) -> None:
    (name,) = quoted(utterance)
    found = page.locator(".ui-dialog-titlebar-close") if name == "x" else page.get_by_role("button", name=name)
    await found.click()


@oracle("click-link", steps=1)
async def _(page: Page, utterance: str) -> None:
    await page.locator(".alink", has_text=whole(quoted(utterance)[0])).first.click()


@oracle("click-tab", steps=1)
async def _(page: Page, utterance: str) -> None:
    (number,) = re.findall(r"#(\d)", utterance)
    await page.locator(f'#area a[href="#tabs-{number}"]').click()


@oracle("click-tab-2", "click-tab-2-easy", "click-tab-2-medium", "click-tab-2-hard", steps=2)
async def _(page: Page, utterance: str) -> None:
    links = page.locator(".alink", has_text=whole(quoted(utterance)[0]))
    panel = page.locator("#area > div", has=links).first
    if not await panel.is_visible():
        await page.locator(f'#area a[href="#{await panel.get_attribute("id")}"]').click()
    await panel.locator(links).first.click()


@oracle("click-widget", steps=1)
async def _(page: Page, utterance: str) -> None:
    await page.locator(f'[data-type="{quoted(utterance)[0]}"]').first.click()


@oracle("click-collapsible", "click-collapsible-nodelay", steps=3)
async def _(page: Page) -> None:
    await page.locator("#area h3").click()
    await submit(page)


@oracle("click-collapsible-2", "click-collapsible-2-nodelay", steps=4)
async def _(page: Page, utterance: str) -> None:
    links = page.locator(".alink", has_text=whole(quoted(utterance)[0]))
    panel = page.locator("#area > div", has=links).first
    await page.locator(f"#{await panel.get_attribute('aria-labelledby')}").click()
    await panel.locator(links).first.click()


@oracle("click-menu", steps=6)
async def _(page: Page, utterance: str) -> None:
    *above, last = utterance.removeprefix("Select ").split(">")
    for name in above:
        await page.locator("#menu .ui-menu-item > div", has_text=whole(name)).hover()
    await page.locator("#menu .ui-menu-item > div", has_text=whole(last)).click()


@oracle("click-menu-2", steps=4)
async def _(page: Page, utterance: str) -> None:
    icon = page.locator("#query .ui-icon")
    if await icon.count():
        (kind,) = re.findall(r"ui-icon-\S+", str(await icon.get_attribute("class")))
        item = page.locator(f"#menu .ui-menu-item > div:has(.{kind})")
    else:
        item = page.locator("#menu .ui-menu-item > div", has_text=whole(quoted(utterance)[1]))
    await page.locator("#open-menu").click()
    if not await item.is_visible():
        await page.locator("#menu .ui-menu-item > div", has_text=whole("Playback")).hover()
    await item.click()


@oracle("click-shades", steps=10)
async def _(page: Page, utterance: str) -> None:
    (color,) = re.findall(r"shades of (\w+)", utterance)
    shades = page.locator(f'#area span[data-color="{color}"]')
    for number in range(await shades.count()):
        await shades.nth(number).click()
    await page.locator("#submit").click()


@oracle("focus-text", steps=1)
async def _(page: Page) -> None:
    await page.locator("#area input").click()


@oracle("focus-text-2", steps=1)
async def _(page: Page, utterance: str) -> None:
    (number,) = re.findall(r"the (\d)", utterance)
    await page.locator("#area input").nth(int(number) - 1).click()


@oracle("grid-coordinate", steps=1)
async def _(page: Page, utterance: str) -> None:
    (point,) = re.findall(r"\(.*\)", utterance)
    await page.locator(f'circle[id="{point}"]').click()


@oracle("identify-shape", steps=1)
async def _(page: Page) -> None:
    drawn = page.locator("#area_svg > *").last
    kind = await drawn.evaluate("shape => shape.localName")
    if kind == "text":
        kind = "digit" if str(await drawn.text_content()).strip().isdigit() else "letter"
    names = {"rect": "rectangle", "polygon": "triangle", "path": "triangle"}
    await page.locator(f'[data-type="{names.get(kind, kind)}"]').click()


@oracle("choose-list", steps=3)
async def _(page: Page, utterance: str) -> None:
    name = utterance.removeprefix("Select ").removesuffix(" from the list and click Submit.")
    await page.locator("#options").select_option(label=name)
    await page.get_by_role("button", name="Submit").click()


@oracle("click-scroll-list", steps=6)
async def _(page: Page, utterance: str) -> None:
    names = utterance.removeprefix("Select ").removesuffix(" from the scroll list and click Submit.").split(", ")
    for number, name in enumerate(names):
        keys = ["Control"] if number else []
        await page.locator("#options option", has_text=whole(name)).click(modifiers=keys)
    await page.get_by_role("button", name="Submit").click()


@oracle("click-option", steps=2)
async def _(page: Page, utterance: str) -> None:
    name = utterance.removeprefix("Select ").removesuffix(" and click Submit.")
    await page.locator("#boxes label", has_text=whole(name)).locator("input").click()
    await submit(page)


@oracle("enter-text", "enter-text-dynamic", steps=3)
async def _(page: Page, utterance: str) -> None:
    await page.locator("#tt").fill(quoted(utterance)[0])
    await submit(page)


@oracle("enter-text-2", steps=3)
async def _(page: Page, utterance: str) -> None:
    (text,) = quoted(utterance)
    await page.locator("#tt").fill(text.upper() if "upper case" in utterance else text.lower())
    await submit(page)


@oracle("enter-password", steps=5)
async def _(page: Page, utterance: str) -> None:
    (password,) = quoted(utterance)
    await page.locator("#password").fill(password)
    await page.locator("#verify").fill(password)
    await submit(page)


@oracle("login-user", steps=5)
async def _(page: Page, utterance: str) -> None:
    user, password = quoted(utterance)
    await page.locator("#username").fill(user)
    await page.locator("#password").fill(password)
    await submit(page)


@oracle("login-user-popup", steps=9)
async def _(page: Page, utterance: str) -> None:
    for name, value in zip(("username", "password"), quoted(utterance), strict=True):
        await page.locator(f"#{name}").click()
        if await page.locator("#popup-cancel").count():
            await page.locator("#popup-cancel").click()
        await page.locator(f"#{name}").fill(value)
    await submit(page)


@oracle("enter-date", steps=5)
async def _(page: Page, utterance: str) -> None:
    month, day, year = re.findall(r"\d+", utterance)
    await page.locator("#tt").fill(f"{year}-{month}-{day}")
    await submit(page)


@oracle("enter-time", steps=5)
async def _(page: Page, utterance: str) -> None:
    hour, minute, half = re.findall(r"(\d+):(\d+)\s+([AP]M)", utterance)[0]
    await page.locator("#tt").fill(f"{int(hour) % 12 + 12 * (half == 'PM'):02}:{minute}")
    await submit(page)


@oracle("choose-date", "choose-date-easy", "choose-date-medium", "choose-date-nodelay", steps=14)
async def _(page: Page, utterance: str) -> None:
    month, day, _ = map(int, re.findall(r"\d+", utterance))
    await page.locator("#datepicker").click()
    while int(str(await page.locator("td[data-month]").first.get_attribute("data-month"))) + 1 != month:
        await page.locator(".ui-datepicker-prev").click()
    await page.locator("td[data-month] a", has_text=whole(str(day))).click()
    await submit(page)


@oracle("use-spinner", steps=11)
async def _(page: Page, utterance: str) -> None:
    (number,) = re.findall(r"-?\d+", utterance)
    way = "up" if int(number) > 0 else "down"
    for _ in range(abs(int(number))):
        await page.locator(f".ui-spinner-{way}").click()
    await submit(page)


@oracle("use-autocomplete", "use-autocomplete-nodelay", steps=5)
async def _(page: Page, utterance: str) -> None:
    start, end = [*quoted(utterance), ""][:2]
    await page.locator("#tags").fill(start)
    await page.locator(".ui-menu-item", has_text=re.compile(f"^{re.escape(start)}.*{re.escape(end)}$")).first.click()
    await submit(page)


@oracle("form-sequence", steps=24)
async def _(page: Page, utterance: str) -> None:
    number, nth = re.findall(r"-?\d+", utterance)
    await slide(page, int(number))
    await page.locator("#area input[type=checkbox]").nth(int(nth) - 1).click()
    await submit(page)


@oracle("form-sequence-2", steps=4)
async def _(page: Page, utterance: str) -> None:
    radio, field = re.findall(r"(\d)(?:st|nd|rd)", utterance)
    await page.locator("#area input[type=radio]").nth(int(radio) - 1).click()
    await page.locator(f"#input-{field}").fill(quoted(utterance)[0])
    await submit(page)


@oracle("form-sequence-3", steps=4)
async def _(page: Page, utterance: str) -> None:
    size = utterance.removeprefix("Choose ").partition(" from the dropdown")[0]
    await page.locator(".selectric").click()
    await page.locator(".selectric-items li", has_text=whole(size)).click()
    await page.get_by_role("button", name=quoted(utterance)[0]).click()


@oracle("use-slider", steps=24)
async def _(page: Page, utterance: str) -> None:
    (number,) = re.findall(r"-?\d+", utterance)
    await slide(page, int(number))
    await submit(page)


async def slide(page: Page, number: int) -> None:
    """Move the slider by its keys: it has large steps, small ones and two ends."""
    low, high = await page.evaluate("['min', 'max'].map(end => $('#slider').slider('option', end))")
    large = (high - low) / 5
    handle = page.locator(".ui-slider-handle")
    for _ in range(30):
        now = int(str(await page.locator("#val").text_content()))
        if now == number:
            return
        near = min(abs(now - number), number - low, high - number)
        if number - low == near and now != low and near < abs(now - number):
            await handle.press("Home")
        elif high - number == near and now != high and near < abs(now - number):
            await handle.press("End")
        elif large >= 2 and abs(now - number) > large / 2 and low <= now + large * (1 if number > now else -1) <= high:
            await handle.press("PageUp" if number > now else "PageDown")
        else:
            await handle.press("ArrowRight" if number > now else "ArrowLeft")
