"""Synthetic pages as Chromium draws them: pixels, what lies where, and every visible character."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image
from playwright.async_api import Browser, Page, async_playwright

from uigym.browser import find_chromium
from uigym.models.tiny.pages import HEIGHT, WIDTH

SHEET = (4, 4)
"""Columns and rows of pages that are drawn in one picture."""
_STYLE = """
*{box-sizing:border-box;margin:0} body{margin:0;background:#888}
.cell{position:absolute;width:WIDTHpx;height:HEIGHTpx;overflow:hidden;contain:strict}
.page{position:absolute;inset:0;overflow:hidden}
""".replace("WIDTH", str(WIDTH)).replace("HEIGHT", str(HEIGHT))
_DRAW = """
({pages, columns, W, H}) => {
  document.body.innerHTML = pages.map((html, i) =>
    `<div class="cell" style="left:${(i % columns) * W}px;top:${Math.floor(i / columns) * H}px">${html}</div>`).join('')
  return [...document.querySelectorAll('.cell')].map(cell => {
    const origin = cell.getBoundingClientRect()
    const inside = r => [r.left - origin.left, r.top - origin.top, r.right - origin.left, r.bottom - origin.top].map(v => Math.round(v * 10) / 10)
    const elements = []
    for (const e of cell.querySelectorAll('[data-k]')) {
      const r = e.getBoundingClientRect(), x = (r.left + r.right) / 2, y = (r.top + r.bottom) / 2
      const top = document.elementFromPoint(x, y)
      const shown = r.left >= origin.left && r.top >= origin.top && r.right <= origin.right + 1 && r.bottom <= origin.bottom + 1
        && r.width > 5 && r.height > 5 && top && (e === top || e.contains(top) || (e.dataset.k === 'row' && top.contains && top.closest('[data-k=row]') === e))
      const cut = e.scrollWidth > e.clientWidth + 2 && e.dataset.k !== 'row'
      elements.push({...e.dataset, box: inside(r), shown: !!shown && !cut})
    }
    const chars = [], walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), range = document.createRange()
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      for (let i = 0; i < node.length; i++) {
        const code = node.data.charCodeAt(i)
        if (code <= 32 || code > 126) continue
        range.setStart(node, i); range.setEnd(node, i + 1)
        const r = range.getBoundingClientRect()
        const x = (r.left + r.right) / 2, y = (r.top + r.bottom) / 2
        if (x < origin.left || y < origin.top || x >= origin.right || y >= origin.bottom) continue
        chars.push(code, Math.floor(x - origin.left), Math.floor(y - origin.top))
      }
    }
    return {elements, chars}
  })
}
"""


@dataclass(slots=True)
class Drawn:
    """One page as drawn."""

    image: np.ndarray
    """uint8 [256, 320, 3]."""
    elements: list[dict[str, Any]]
    """Data attributes (k, l, g, v, s), box [x0, y0, x1, y1] in px, and whether it can be seen and hit."""
    chars: np.ndarray
    """int [n, 3]: character code, x, y of every visible character, px."""


class Easel:
    """A Chromium that draws sheets of synthetic pages."""

    def __init__(self) -> None:
        self._browser: Browser | None = None
        self._page: Page | None = None

    async def __aenter__(self) -> Easel:
        self._playwright = await async_playwright().start()
        flags = [
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--force-color-profile=srgb",
            "--disable-background-networking",
        ]
        self._browser = await self._playwright.chromium.launch(executable_path=str(find_chromium()), args=flags)
        size = {"width": SHEET[0] * WIDTH, "height": SHEET[1] * HEIGHT}
        self._page = await self._browser.new_page(viewport=size)  # type: ignore[arg-type]
        await self._page.set_content(f"<style>{_STYLE}</style><body></body>")
        self._cdp = await self._page.context.new_cdp_session(self._page)
        return self

    async def __aexit__(self, *exc: object) -> None:
        assert self._browser
        await self._browser.close()
        await self._playwright.stop()

    async def draw(self, markups: Sequence[str]) -> list[Drawn]:
        """Draw at most 16 pages."""
        assert self._page
        found = await self._page.evaluate(_DRAW, {"pages": list(markups), "columns": SHEET[0], "W": WIDTH, "H": HEIGHT})
        shot = await self._cdp.send("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})
        sheet = np.asarray(Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB"))
        return [self._cut(sheet, i, cell) for i, cell in enumerate(found)]

    def _cut(self, sheet: np.ndarray, index: int, cell: dict[str, Any]) -> Drawn:
        y, x = (index // SHEET[0]) * HEIGHT, (index % SHEET[0]) * WIDTH
        image = np.ascontiguousarray(sheet[y : y + HEIGHT, x : x + WIDTH])
        return Drawn(image, cell["elements"], np.array(cell["chars"], np.int32).reshape(-1, 3))
