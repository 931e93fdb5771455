"""Products that are ASGI apps, all served from one warm thread of this process, a port each."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import os
import socket
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import uvicorn

from uigym.errors import HarnessError, ProductError, did_you_mean

T = TypeVar("T")
GRACE_S = 1
"""How long running requests may take to end when the product is stopped, whole seconds."""
STOP_S = 8.0
"""How long stopping may take before the warm thread is said to hang."""
OUTPUT_LINES = 20

_lock = threading.Lock()
_loops: dict[int, asyncio.AbstractEventLoop] = {}


class Served:
    """An ASGI app on its own loopback port. Its code runs in the warm thread, never in the caller's loop."""

    def __init__(self, factory: Callable[[Path], Any], workdir: Path):
        self._factory = factory
        self._workdir = workdir
        self._errors: deque[str] = deque(maxlen=OUTPUT_LINES)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._socket.bind(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self.base_url = f"http://127.0.0.1:{self.port}"
        self._server: uvicorn.Server | None = None
        self._task: asyncio.Task[None] | None = None
        self._given_up = False

    async def start(self, timeout_s: float) -> None:
        """Build the app and serve it.

        Raises:
            ProductError: The factory or the app's start-up failed or took too long; the text has the place.
        """
        await _in_warm_thread(self._start(), timeout_s)

    async def _start(self) -> None:
        try:
            app = self._factory(self._workdir)
        except (Exception, SystemExit) as exc:
            raise ProductError(f"its ASGI factory raised {described(exc)}") from exc
        if self._given_up:  # the factory took longer than anybody waited
            return
        if not callable(app):
            raise HarnessError(f"its ASGI factory returned {app!r}, expected an ASGI app")
        config = uvicorn.Config(
            _Recorded(app, self._errors), log_config=None, access_log=False, timeout_graceful_shutdown=GRACE_S
        )
        self._server = uvicorn.Server(config)
        self._task = asyncio.get_running_loop().create_task(self._serve(self._server))
        while not (self._server.started or self._task.done()):  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.001)
        if not self._server.started:
            raise ProductError("its ASGI app did not start up")

    async def _serve(self, server: uvicorn.Server) -> None:
        try:
            await server.serve(sockets=[self._socket])
        except SystemExit as exc:  # how uvicorn says that the app's start-up failed
            self._errors.append(f"the server ended with status {exc.code}")

    def ended(self) -> str | None:
        """Why the server no longer runs; None while it does."""
        if self._task is None or not self._task.done():
            return None
        return "its ASGI app was stopped"

    def output(self) -> str:
        """The last 20 lines of errors that the app raised."""
        return "\n".join(self._errors)

    async def stop(self) -> None:
        """Close the port and end the app; a second call does nothing."""
        if self._server is None:
            self._given_up = True
            self._socket.close()
        else:  # the server closes the socket, in its own thread and time
            self._server.should_exit = True
            await _in_warm_thread(self._stop(), STOP_S)

    async def _stop(self) -> None:
        assert self._task is not None
        await asyncio.wait([self._task], timeout=GRACE_S + 2)
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])
        self._socket.close()  # where the app's start-up failed, nobody else has


class _Recorded:
    """Passes everything to an ASGI app and keeps what it raises."""

    def __init__(self, app: Any, errors: deque[str]):
        self._app = app
        self._errors = errors

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def record(message: Any) -> None:
            if message["type"] == "lifespan.startup.failed":
                self._errors.extend(message.get("message", "").splitlines())
            await send(message)

        try:
            await self._app(scope, receive, record)
        except Exception:
            if scope["type"] != "lifespan":  # an app without a lifespan raises there by custom
                self._errors.extend(traceback.format_exc().splitlines())
            raise


def factory(asgi: str | Callable[..., Any], values: Mapping[str, str]) -> Callable[[Path], Any]:
    """The function that makes the app from a work folder, from "module:function" or the function itself.

    Args:
        asgi: The function, or where it is.
        values: What it may ask for beside the work folder, by the names of its parameters.

    Raises:
        HarnessError: There is no such module or function, the module raises, or it is an app and not a factory.
    """
    made = _imported(asgi) if isinstance(asgi, str) else asgi
    if not callable(made):
        raise HarnessError(f"asgi={asgi!r} is {made!r}, expected a function (workdir) -> ASGI app")
    needs, known = _parameters(made)
    given = {name: value for name, value in values.items() if name in known[1:]}
    if left := [name for name in needs[1:] if name not in given]:
        offered = f"; beside the work folder there are {', '.join(values)}" if values else ""
        raise HarnessError(
            f"asgi={asgi!r} takes {len(needs)} arguments, expected a function (workdir) -> ASGI app, so that each slot "
            f"has an app and data of its own; nothing gives it {', '.join(left)}{offered}"
        )
    return partial(made, **given) if given else made


def described(exc: BaseException) -> str:
    """The error with the place where it was raised: type, text, file and line."""
    frames = traceback.extract_tb(exc.__traceback__)
    place = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    return f"{type(exc).__name__}: {exc}{place}"


def _imported(reference: str) -> Any:
    module_name, _, attribute = reference.partition(":")
    if not module_name or not attribute:
        raise HarnessError(f'asgi={reference!r}: expected "module:function"')
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))  # as `python -m` would find it
    try:
        module = importlib.import_module(module_name)
    except Exception as exc:
        raise HarnessError(f"asgi={reference!r}: importing {module_name} failed with {described(exc)}") from exc
    if not hasattr(module, attribute):
        public = [name for name in vars(module) if not name.startswith("_")]
        hint = did_you_mean(attribute, public)
        raise HarnessError(f"asgi={reference!r}: {module_name} has no {attribute!r}. {hint}")
    return getattr(module, attribute)


def _parameters(function: Callable[..., Any]) -> tuple[list[str], list[str]]:
    """Names of the parameters that it needs, and of all."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return ["workdir"], ["workdir"]
    taken = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return [p.name for p in taken if p.default is p.empty], [p.name for p in taken]


async def _in_warm_thread(work: Coroutine[Any, Any, T], timeout_s: float) -> T:
    future = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, _warm_loop()))
    try:
        return await asyncio.wait_for(future, timeout_s)
    except TimeoutError as exc:
        raise ProductError(
            f"the thread that serves ASGI apps did not answer within {timeout_s:g} s: does an app block it? "
            "An app with blocking code is better started by a command."
        ) from exc


def _warm_loop() -> asyncio.AbstractEventLoop:
    with _lock:
        loop = _loops.get(os.getpid())  # a forked child has the entry but not the thread
        if loop is None:
            loop = _loops[os.getpid()] = asyncio.new_event_loop()
            threading.Thread(target=_serve_forever, args=(loop,), name="uigym-asgi", daemon=True).start()
        return loop


def _serve_forever(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    exit_watch = loop.create_task(_until_exit())
    while not exit_watch.done():
        try:
            loop.run_until_complete(exit_watch)
        except (SystemExit, KeyboardInterrupt):  # raised by a task of one app; it must not end the others
            continue


async def _until_exit() -> None:
    """Ends the servers with the main thread: an app's worker threads would keep the process from exiting."""
    while threading.main_thread().is_alive():  # noqa: ASYNC110 - a thread's end has no event
        await asyncio.sleep(0.25)
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks, timeout=1.0) if tasks else None
