"""Calling what a harness's author wrote, be it async or not."""

from __future__ import annotations

import asyncio
import ctypes
import inspect
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any


async def finished(function: Callable[..., Any], *arguments: Any) -> Any:
    """The function's result; a plain function runs in a thread, so that other slots go on meanwhile.

    The thread is a daemon: one that never comes back does not keep the process from ending.
    """
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004
        result = function(*arguments)
    else:
        result = await _in_thread(function, *arguments)
    return await result if inspect.isawaitable(result) else result


async def _in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def settle(set_outcome: Callable[[Any], None], outcome: Any) -> None:
        if not done.done():
            set_outcome(outcome)

    def work() -> None:
        try:
            told = done.set_result, function(*arguments)
        except StopIteration as exc:  # which no future can hold
            told = done.set_exception, RuntimeError(f"it raised {exc!r}")
        except BaseException as exc:
            told = done.set_exception, exc
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, *told)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        return await done
    finally:
        if not done.done() or done.cancelled():
            _end(thread)


def _end(thread: threading.Thread) -> None:
    """Raise SystemExit in a thread that is no longer waited for: a loop that never ends would take turns for ever.

    What waits in a call into the system ends when that call does.
    """
    assert thread.ident is not None
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit))
