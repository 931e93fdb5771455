"""What looking at a large run costs: 5,000 steps with pictures of 1 MB each, in many episodes and in one.

    python benchmarks/viewer.py --out benchmarks/results/viewer.json

`uigym view` runs as its own process, and a real Chromium opens its pages. A list counts as shown when its document and
the thumbnails on the screen are there, an episode when its large picture is decoded. Both are asked of a server
that has just started; its memory is read before, and after hundreds of pages. Needs 11 GB of disk while it runs.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import json
import os
import re
import statistics
import struct
import sys
import tempfile
import time
import zlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.async_api import Page, async_playwright

from uigym.bench.machine import circumstances, load
from uigym.browser import find_chromium
from uigym.state import State
from uigym.store import RunStore
from uigym.types import Click, Episode, Key, Part, StepRecord, Stop, Type, Verdict

ACTIONS = (Click(412, 233), Type("Quarterly figures"), Key("Enter"), Click(1010, 640, count=2))
NOISE = (590, 590)
"""Pixels of a picture that cannot be compressed: 1 MB of it."""
AT_REST = "() => [...document.images].every((i) => i.complete || i.getBoundingClientRect().top > innerHeight)"
SHOWN = "() => { const i = document.querySelector('img.now'); return i && i.complete && i.naturalWidth > 0; }"


def pictures(count: int) -> Iterator[bytes]:
    """Screens of 1280 x 800 px, 1 MB each, no two alike."""
    noise = np.random.default_rng(0)
    bases = []
    for _ in range(8):
        screen = np.full((800, 1280, 3), 244, np.uint8)
        screen[:56] = (32, 68, 58)
        screen[120 : 120 + NOISE[1], 300 : 300 + NOISE[0]] = noise.integers(0, 256, (NOISE[1], NOISE[0], 3), np.uint8)
        out = io.BytesIO()
        Image.fromarray(screen).save(out, "PNG", compress_level=1)
        bases.append(out.getvalue())
    for number in range(count):
        base = bases[number % len(bases)]
        text = b"tEXtnumber\0%d" % number  # a chunk of its own makes it another file
        chunk = struct.pack(">I", len(text) - 4) + text + struct.pack(">I", zlib.crc32(text))
        yield base[:-12] + chunk + base[-12:]


def write(folder: Path, episodes: int, steps: int) -> None:
    """A run of so many episodes with so many steps each, on disk as a rollout leaves it."""
    store = RunStore(folder)
    screens = pictures(episodes * steps)
    rows = tuple({"id": n, "title": f"Row {n}", "status": "open"} for n in range(200))
    for number in range(episodes):
        good = number % 3 > 0
        part = Part("changed rows 7", float(good), "" if good else 'expected status="done", found "open"')
        records = []
        with store.begin(f"bench-edit_{number % 12}-{number}--0") as writer:
            for step in range(steps):
                png = next(screens)
                record = StepRecord(
                    store.put_image(png), ACTIONS[step % len(ACTIONS)], "I look for the row.", latency_ms=80.0
                )
                writer.step(record, b"")
                records.append(record)
            episode = Episode(
                id=f"bench-edit_{number % 12}-{number}--0", harness="bench", task=f"edit_{number % 12}", seed=number, params={},
                instruction=f"Set the status of row 7 to done, and then that of row {number}.", steps=tuple(records), stop=Stop.DONE,
                verdict=Verdict(float(good), good, (part,), part.reason), policy=("oracle", "random")[number % 2],
                before=State({"rows": rows}), after=State({"rows": ({**rows[0], "status": "done"}, *rows[1:])}),
                final_image=records[-1].image, wall_s=steps * 0.2,
            )  # fmt: skip
            writer.finish(episode, b"")


@contextlib.asynccontextmanager
async def served(folder: Path) -> AsyncIterator[tuple[str, int]]:
    """(address, process id) of a viewer that has just started."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "uigym", "view", str(folder), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )  # fmt: skip
    assert process.stdout is not None
    try:
        yield (await process.stdout.readline()).decode().strip(), process.pid
    finally:
        process.terminate()
        await process.wait()


def rss_mb(pid: int) -> float:
    """Memory of a process that is its own, MB."""
    found = re.search(r"RssAnon:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


async def timed(page: Page, address: str, until: str) -> float:
    """Seconds until a page is shown."""
    began = time.perf_counter()
    await page.goto(address)
    await page.wait_for_function(until)
    return time.perf_counter() - began


def summed(seconds: list[float]) -> dict[str, float]:
    """Median and worst, in ms."""
    return {
        "median_ms": round(statistics.median(seconds) * 1000),
        "max_ms": round(max(seconds) * 1000),
        "n": len(seconds),
    }


async def keyed(page: Page, count: int) -> list[float]:
    """Seconds from an arrow key to the next picture."""
    found = []
    for _ in range(count):
        before = await page.get_attribute("img.now", "src")
        began = time.perf_counter()
        await page.keyboard.press("ArrowRight")
        await page.wait_for_function(
            "(old) => document.querySelector('img.now').getAttribute('src') !== old", arg=before
        )
        found.append(time.perf_counter() - began)
    return found


async def look(folder: Path, episodes: int, steps: int, browse: int, page: Page) -> dict[str, Any]:
    """Open everything once with a fresh server, then browse for a while."""
    async with served(folder) as (address, pid):
        origin, _, token = address.partition("/?")
        await page.goto(f"{origin}/static/viewer.css?{token}")
        idle = rss_mb(pid)
        run = f"{origin}/runs/{folder.name}"
        result: dict[str, Any] = {"episodes": episodes, "steps": episodes * steps}
        result["list_first_ms"] = round(await timed(page, run, AT_REST) * 1000)
        result["list_again"] = summed([await timed(page, run, AT_REST) for _ in range(5)])
        result["list_filtered"] = summed(
            [await timed(page, f"{run}?outcome=failed&order=newest", AT_REST) for _ in range(5)]
        )
        result["home"] = summed([await timed(page, f"{origin}/", AT_REST) for _ in range(3)])
        names = [f"bench-edit_{n % 12}-{n}--0" for n in range(episodes)]
        chosen = names[:: max(1, episodes // 20)][:20]
        result["episode"] = summed(
            [await timed(page, f"{run}/episodes/{name}?step={steps // 2}", SHOWN) for name in chosen]
        )
        result["next_step"] = summed(await keyed(page, min(40, steps - steps // 2 - 1)))
        memory = [rss_mb(pid)]
        for at in range(browse):
            await page.goto(f"{run}/episodes/{names[at % episodes]}?step={at % steps}")
            if at % 25 == 24:
                memory.append(rss_mb(pid))
        result |= {
            "server_idle_mb": round(idle),
            "server_mb": [round(each) for each in memory],
            "pages_browsed": browse,
        }
        return result


async def run(root: Path, total: int, browse: int) -> dict[str, Any]:
    """All cells."""
    before = load()
    cells = {}
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium())
        for name, episodes in (("many", total // 10), ("one", 1)):
            folder = root / name
            write(folder, episodes, total // episodes)
            page = await browser.new_page(viewport={"width": 1440, "height": 900})
            cells[name] = await look(folder, episodes, total // episodes, browse, page)
            await page.close()
            print(name, cells[name], flush=True)
        await browser.close()
    size = sum(path.stat().st_size for path in root.rglob("*.png"))  # noqa: ASYNC240
    return {"pictures_gb": round(size / 1e9, 1), "cells": cells, **circumstances(before, "chromium")}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--browse", type=int, default=300)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix=f"uigym-viewer-{os.getpid()}-") as place:
        result = asyncio.run(run(Path(place), options.steps, options.browse))
    if options.out:
        options.out.write_text(json.dumps(result, indent=2) + "\n")
