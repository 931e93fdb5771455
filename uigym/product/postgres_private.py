"""A PostgreSQL server of one's own: on a free loopback port, in a temporary folder, gone for good afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

from uigym.errors import HarnessError, ProductError
from uigym.product import strays
from uigym.product.command import free_port, give_back, spawn, watch
from uigym.product.output import Output
from uigym.product.postgres_server import opened
from uigym.product.scratch import Scratch

VARIABLE = "UIGYM_POSTGRES_DSN"
START_S, STOP_S = 60.0, 10.0
SETTINGS = {
    "fsync": "off",  # it need not survive a power cut
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "listen_addresses": "127.0.0.1",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "128MB",
    "dynamic_shared_memory_type": "mmap",  # in the folder, which goes
    "max_connections": "200",
    "shared_buffers": "64MB",
    "autovacuum_naptime": "1min",
}


class PostgresServer:
    """A server for the databases of products, started with the first of them and gone with the last.

    It needs PostgreSQL's programs and nobody's permission: its folder is temporary, its superuser `gym` needs no
    password from this machine, and nothing is written through to a disk. The environment variable UIGYM_POSTGRES_DSN
    names a server that is running already, which is used instead and left as it is.

    Example:
        >>> PostgresTemplate(PostgresServer(), "crm.sql")  # doctest: +SKIP
    """

    def __init__(self, *, variable: str = VARIABLE, password: str = "", **settings: str):
        """
        Args:
            variable: The environment variable that may name a server; empty never looks for one.
            password: What its user must say; empty lets everybody on this machine in.
            settings: Of PostgreSQL, such as max_connections="50".
        """
        self.variable = variable
        self.password = password
        self.settings = settings
        self._lock = threading.Lock()
        self._running: _Running | None = None

    def begin(self) -> str:
        """Start it, unless it runs; the dsn of its database `postgres`.

        Raises:
            ProductError: PostgreSQL is not installed or did not start; the text has its last lines.
        """
        if self.variable and (given := os.environ.get(self.variable)):
            return given
        with self._lock:
            if self._running is None or self._running.ended:
                self._running = _Running(self.password, {**SETTINGS, **self.settings})
            return self._running.dsn

    def __enter__(self) -> str:
        """Start it; the dsn."""
        return self.begin()

    def __exit__(self, *_: object) -> None:
        """Stop it."""
        self.end()

    def end(self) -> None:
        """Stop it and delete its data; one that does not run stays as it is."""
        with self._lock:
            running, self._running = self._running, None
        if running is not None:
            running.stop()


class _Running:
    """The process, its folder and its port."""

    def __init__(self, password: str, settings: dict[str, str]):
        owner, bin_ = _owner(), programs()
        self._scratch, self._port = Scratch(), free_port()
        self._output, self._watcher = Output(), watch()
        self.dsn = f"postgresql://gym{':' if password else ''}{password}@127.0.0.1:{self._port}/postgres"
        self._process: subprocess.Popen[bytes] | None = None
        try:
            data = self._make(bin_, password, owner)
            settings = {**settings, "port": f"{self._port}", "unix_socket_directories": str(data)}
            words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
            self._process = spawn(
                [str(bin_ / "postgres"), "-D", str(data), *words],
                {**_PLAIN, strays.VARIABLE: strays.token()}, self._output, owner,
            )  # fmt: skip
            assert self._watcher.stdin is not None
            self._watcher.stdin.write(f"{self._process.pid}\n".encode())
            self._watcher.stdin.flush()
            self._until_ready(self._process)
        except BaseException:
            self.stop()
            raise

    def _make(self, bin_: Path, password: str, owner: dict[str, Any]) -> Path:
        home = self._scratch.path / "postgres"
        home.mkdir()
        secret = home / "password"
        secret.write_text(password or "-")
        if owner:
            self._scratch.path.chmod(0o711)  # its user passes through to what is its own
            for place in (home, secret):
                os.chown(place, owner["user"], owner["group"])
        how = [f"--pwfile={secret}", "--auth=md5"] if password else ["--auth=trust"]
        made = subprocess.run(
            [bin_ / "initdb", "-D", home / "data", "-U", "gym", "--no-sync", "-E", "UTF8", *how],
            env={**os.environ, **_PLAIN}, cwd=home, stdin=subprocess.DEVNULL, capture_output=True, text=True, **owner,
        )  # fmt: skip
        if made.returncode:
            raise ProductError(f"PostgreSQL's initdb failed: {made.stderr.strip()[-1000:]}")
        return home / "data"

    @property
    def ended(self) -> bool:
        """Whether the server is no more."""
        return self._process is None or self._process.poll() is not None

    def _until_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline, why = time.monotonic() + START_S, ""
        while process.poll() is None and time.monotonic() < deadline:
            try:
                with opened(self.dsn):
                    return
            except ProductError as exc:
                why = str(exc)
                time.sleep(0.02)
        raise ProductError(f"PostgreSQL did not start: {why}\nLast lines of its output:\n{self._output.tail()[-2000:]}")

    def stop(self) -> None:
        """End it and delete its folder."""
        if self._process is None:
            os.close(self._output.writer)
        elif self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)  # a fast shutdown: sessions are ended
            try:
                self._process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self._process.send_signal(signal.SIGQUIT)
                self._process.wait()
        self._output.end()
        self._watcher.kill()
        if self._watcher.stdin is not None:
            self._watcher.stdin.close()
        self._watcher.wait()
        self._scratch.remove()
        give_back(self._port)


_INSTALLED = Path("/usr/lib/postgresql")
"""Where Debian puts each version."""
_PLAIN = {"LC_ALL": "C", "TZ": "UTC"}


def programs() -> Path:
    """The folder of PostgreSQL's programs, the newest.

    Raises:
        ProductError: It is not installed.
    """
    found = sorted(_INSTALLED.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    on_path = shutil.which("initdb")
    if found:
        return found[-1].parent
    if on_path:
        return Path(on_path).resolve().parent
    raise ProductError(
        "PostgreSQL is not installed: sudo apt-get install postgresql; or name a running server in "
        f"{VARIABLE}=postgresql://USER@HOST:PORT/postgres"
    )


def is_installed() -> bool:
    """Whether PostgreSQL's programs are there."""
    try:
        programs()
    except ProductError:
        return False
    return True


def _owner() -> dict[str, Any]:
    """Whose the server is: PostgreSQL refuses to be root's."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    raise HarnessError("PostgreSQL refuses to run as root, and there is no account postgres or nobody")
