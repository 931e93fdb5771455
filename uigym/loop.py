"""One event loop in a thread of its own, for those who are not async: scripts, notebooks, the command line.

Started when first used, once per process: after a fork the child gets its own.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
_loops: dict[int, asyncio.AbstractEventLoop] = {}
_starting = threading.Lock()


def loop() -> asyncio.AbstractEventLoop:
    """The loop of this process, running."""
    with _starting:
        if os.getpid() not in _loops:
            new = asyncio.new_event_loop()
            threading.Thread(target=new.run_forever, name="uigym-loop", daemon=True).start()
            _loops.clear()
            _loops[os.getpid()] = new
        return _loops[os.getpid()]


def run_sync(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in the loop's thread and wait for its result; works where another loop is running too.

    KeyboardInterrupt cancels the work and waits until it has cleaned up.

    Raises:
        RuntimeError: Called from the loop's own thread, where waiting would never end; await instead.
    """
    if threading.current_thread().name == "uigym-loop":
        work.close()
        raise RuntimeError("run_sync was called from uigym's own loop: await the coroutine instead")
    task: asyncio.Future[asyncio.Task[T]] = asyncio.run_coroutine_threadsafe(_start(work), loop())  # type: ignore[assignment]
    running = task.result()
    over = threading.Event()
    loop().call_soon_threadsafe(running.add_done_callback, lambda _: over.set())
    try:
        over.wait()
    except KeyboardInterrupt:
        loop().call_soon_threadsafe(running.cancel)
        over.wait()
        raise
    return running.result()


async def _start(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    return asyncio.create_task(work)
