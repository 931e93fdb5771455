"""A real PostgreSQL of one's own: on a free loopback port, in a temporary folder, gone for good afterwards.

python tests/postgres.py COMMAND...      # runs the command with the server's address in UIGYM_TEST_POSTGRES
"""

from __future__ import annotations

import ctypes
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from uigym.product.scratch import place

ADDRESS = "UIGYM_TEST_POSTGRES"
"""The environment variable that names a running server: the dsn of its database `postgres`, for a superuser."""
SETTINGS = {
    "fsync": "off",  # it need not survive a power cut
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "listen_addresses": "127.0.0.1",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "dynamic_shared_memory_type": "mmap",  # in the folder, which goes
    "max_connections": "60",
    "shared_buffers": "64MB",
    "autovacuum_naptime": "1min",
}
_PR_SET_PDEATHSIG = 1


def programs() -> Path | None:
    """The folder of PostgreSQL's programs, the newest; None where it is not installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).resolve().parent if on_path else None


def _account() -> dict[str, Any]:
    """Whose the server is: it refuses to be root's."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    raise RuntimeError("PostgreSQL refuses to run as root, and there is no account postgres or nobody")


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGQUIT)


@contextmanager
def running(password: str = "", **settings: str) -> Iterator[str]:
    """A server with a superuser `gym`, who needs no password unless one is given; the dsn of its database `postgres`."""
    folder, account, bin_ = Path(tempfile.mkdtemp(prefix="uigym-postgres-", dir=place())), _account(), programs()
    assert bin_ is not None
    try:
        if account:
            os.chown(folder, account["user"], account["group"])
        environment = {**os.environ, "LC_ALL": "C", "TZ": "UTC"}
        command = [bin_ / "initdb", "-D", folder / "data", "-U", "gym", "--no-sync", "-E", "UTF8"]
        (folder / "password").write_text(password or "-")
        command += [f"--pwfile={folder / 'password'}", "--auth=md5"] if password else ["--auth=trust"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment, cwd=folder, **account)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        options = {**SETTINGS, "port": str(port), "unix_socket_directories": str(folder), **settings}
        dsn = f"postgresql://gym{':' if password else ''}{password}@127.0.0.1:{port}/postgres"
        with _server(
            [bin_ / "postgres", "-D", folder / "data"], options, dsn, {"cwd": folder, "env": environment, **account}
        ):
            yield dsn
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _server(command: list[Any], options: dict[str, str], dsn: str, how: dict[str, Any]) -> Iterator[None]:
    words = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
    log = how["cwd"] / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, *words],
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, preexec_fn=_end_with_parent, **how,
        )  # fmt: skip
    try:
        _until_ready(process, dsn, log)
        yield
    finally:
        process.send_signal(signal.SIGINT)  # a fast shutdown: sessions are ended
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGQUIT)
            process.wait()


def _until_ready(process: subprocess.Popen[bytes], dsn: str, log: Path) -> None:
    import psycopg  # an extra, which not every checkout has

    deadline = time.monotonic() + 30
    while process.poll() is None and time.monotonic() < deadline:
        try:
            psycopg.connect(dsn, connect_timeout=2).close()
        except psycopg.OperationalError:
            time.sleep(0.02)
        else:
            return
    raise RuntimeError(f"PostgreSQL did not come up:\n{log.read_text()[-2000:]}")


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The dsn of a server that lives as long as the tests."""
    pytest.importorskip("psycopg")
    if programs() is None:
        pytest.skip("PostgreSQL is not installed: sudo apt-get install postgresql")
    with running() as dsn:
        yield dsn


if __name__ == "__main__":
    with running() as dsn:
        sys.exit(subprocess.run(sys.argv[1:], env={**os.environ, ADDRESS: dsn}).returncode)
