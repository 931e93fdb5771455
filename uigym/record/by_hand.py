"""Recording by a person: a page on this machine, or a window that shows it, for some tasks one after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack

from uigym.env import Env
from uigym.harness import Harness
from uigym.record.attempt import Giver, Prove
from uigym.record.prove import prove as proves
from uigym.record.serve import Recorder
from uigym.record.studio import LIMITS, Studio, Tally
from uigym.record.window import window
from uigym.rollout import Request
from uigym.store import RunStore


async def record_by_hand(
    harness: Harness,
    wanted: Sequence[Request],
    store: RunStore,
    tell: Callable[[str], None],
    *,
    giver: Giver | None = None,
    port: int = 0,
    prove: Prove = proves,
) -> Tally:
    """Let a person show how it is done; returns when they have finished, or nothing is left to show.

    Args:
        harness: The product and its tasks.
        wanted: Tasks and seeds, in the order in which they are asked for.
        store: Where the demonstrations go.
        tell: Called with the address of the page once it can be opened.
        giver: Who it is, and how; by way of "window" the page is opened in a window of its own.
        port: Of the page, on 127.0.0.1; 0 takes one that is free.
        prove: Says whether an attempt counts.

    Raises:
        ConfigError: Nothing is wanted, the port is taken, or there is no screen for a window.
        BrowserError: There is no Chromium, or none that has windows.
        StoreError: The folder cannot be written.
    """
    giver = giver or Giver()
    store.claim()
    async with AsyncExitStack() as stack:
        env = await stack.enter_async_context(Env(harness, limits=LIMITS))
        studio = Studio(env, wanted, store, giver, prove)
        recorder = await stack.enter_async_context(Recorder(studio, port))
        if giver.way == "window":
            gone = await stack.enter_async_context(window(recorder.url, harness.viewport))
            gone.add_done_callback(lambda _: studio.leave())
        tell(recorder.url)
        tally = await studio.run()
        await recorder.farewell()
        return tally
