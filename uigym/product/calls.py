"""Calling what a harness's author wrote, be it async or not."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any


async def finished(function: Callable[..., Any], *arguments: Any) -> Any:
    """The function's result; a plain function runs in a worker thread, so that other slots go on meanwhile."""
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004
        result = function(*arguments)
    else:
        result = await asyncio.to_thread(function, *arguments)
    return await result if inspect.isawaitable(result) else result
