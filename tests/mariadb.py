"""A real MariaDB for tests: on a free loopback port, in a temporary folder, stopped for good."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

READY_S = 30.0
USER, PASSWORD = "gym", "s3cret/word"  # with a character that URLs must quote
QUOTED = "s3cret%2Fword"


def missing() -> str:
    """Why no MariaDB can be started here; empty if one can."""
    if program("mariadbd") is None or program("mariadb-install-db") is None:
        return "MariaDB is not installed (apt-get install mariadb-server)"
    try:
        import pymysql  # noqa: F401
    except ImportError:
        return "pymysql is not installed"
    return "" if os.getuid() or owner() else "there is no user beside root that could run MariaDB"


def program(name: str) -> str | None:
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"]))


def owner() -> str | None:
    """Whom the server runs as, where this process is root's; None where it is not."""
    if os.getuid():
        return None
    names = {user.pw_name for user in pwd.getpwall()}
    return next((name for name in ("mysql", "nobody") if name in names), None)


class MariaDB:
    """A running server."""

    def __init__(self, port: int, process: subprocess.Popen[bytes]):
        self.port = port
        self.process = process

    def dsn(self, database: str = "{database}") -> str:
        return f"mysql://{USER}:{QUOTED}@127.0.0.1:{self.port}/{database}"

    def run(self, *statements: str, database: str | None = None) -> Sequence[Any]:
        """Run statements, as the gym's user; the rows of the last one."""
        import pymysql

        login = {"host": "127.0.0.1", "port": self.port, "user": USER, "password": PASSWORD, "database": database}
        with closing(pymysql.connect(**login, autocommit=True)) as server, server.cursor() as cursor:  # type: ignore[arg-type]
            for statement in statements:
                cursor.execute(statement)
            return cursor.fetchall()

    def databases(self) -> set[str]:
        return {name for (name,) in self.run("SHOW DATABASES")}


@contextmanager
def mariadb() -> Iterator[MariaDB]:
    """A server with the user `gym`, who may do everything."""
    folder = Path(tempfile.mkdtemp(prefix="uigym-mariadb-"))
    try:
        folder.chmod(0o755)
        data, run_as = folder / "data", owner()
        data.mkdir()
        if run_as:
            shutil.chown(data, run_as)
        _install(data, run_as)
        server = _start(data, run_as)
        try:
            yield server
        finally:
            server.process.terminate()
            try:
                server.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                server.process.kill()
                server.process.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _install(data: Path, run_as: str | None) -> None:
    command = [str(program("mariadb-install-db")), "--no-defaults", f"--datadir={data}", "--skip-test-db"]
    command += ["--auth-root-authentication-method=normal", *([f"--user={run_as}"] if run_as else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _start(data: Path, run_as: str | None) -> MariaDB:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    first = data / "first.sql"
    first.write_text(
        f"CREATE USER '{USER}'@'127.0.0.1' IDENTIFIED BY '{PASSWORD}';\n"
        f"GRANT ALL ON *.* TO '{USER}'@'127.0.0.1' WITH GRANT OPTION;\n"
    )
    log = data / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [
                str(program("mariadbd")), "--no-defaults", f"--datadir={data}", f"--socket={data}/sock",
                f"--port={port}", "--bind-address=127.0.0.1", f"--init-file={first}", "--skip-log-bin",
                "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=256M", "--skip-name-resolve",
                "--sync-frm=0", *([f"--user={run_as}"] if run_as else []),
            ],
            stdout=output, stderr=output,
        )  # fmt: skip
    server = MariaDB(port, process)
    deadline = time.monotonic() + READY_S
    while True:
        try:
            server.run("SELECT 1")
            return server
        except Exception:
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                process.wait()
                raise AssertionError(log.read_text(errors="replace")[-3000:]) from None
            time.sleep(0.05)
