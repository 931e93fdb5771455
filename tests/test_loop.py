"""The event loop for those who have none."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading

import pytest

from uigym.loop import loop, run_sync


async def double(value: int) -> int:
    await asyncio.sleep(0)
    return 2 * value


def test_a_result_comes_back() -> None:
    assert run_sync(double(4)) == 8
    assert run_sync(double(5)) == 10
    assert loop() is loop()


def test_an_error_comes_back() -> None:
    async def fail() -> None:
        raise ValueError("so it is")

    with pytest.raises(ValueError, match="so it is"):
        run_sync(fail())


async def test_it_works_where_another_loop_runs() -> None:
    assert run_sync(double(4)) == 8


def test_waiting_for_itself_is_refused() -> None:
    async def nested() -> int:
        return run_sync(double(1))

    with pytest.raises(RuntimeError, match="await the coroutine instead"):
        run_sync(nested())


def test_ctrl_c_waits_until_the_work_has_cleaned_up() -> None:
    cleaned = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)
            cleaned.append(True)

    main = threading.main_thread().ident
    assert main is not None
    threading.Timer(0.2, signal.pthread_kill, (main, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        run_sync(work())
    assert cleaned == [True]


FORK = """
import os
from uigym.loop import run_sync

async def double(value): return 2 * value

run_sync(double(1))
child = os.fork()
if child == 0:
    os._exit(0 if run_sync(double(3)) == 6 else 1)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_child_gets_a_loop_of_its_own() -> None:
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", FORK], timeout=30, check=False).returncode == 0
