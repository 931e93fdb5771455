"""A real PostgreSQL of one's own: on a free loopback port, in a temporary folder, gone for good afterwards.

python tests/postgres.py COMMAND...      # runs the command with the server's address in UIGYM_TEST_POSTGRES
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from uigym.product.postgres_private import PostgresServer, is_installed

ADDRESS = "UIGYM_TEST_POSTGRES"
"""The environment variable that names a running server: the dsn of its database `postgres`, for a superuser."""


@contextmanager
def running(password: str = "", **settings: str) -> Iterator[str]:
    """A server with a superuser `gym`, who needs no password unless one is given; the dsn of its database `postgres`."""
    with PostgresServer(variable="", password=password, **settings) as dsn:
        yield dsn


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The dsn of a server that lives as long as the tests."""
    pytest.importorskip("psycopg")
    if not is_installed():
        pytest.skip("PostgreSQL is not installed: sudo apt-get install postgresql")
    with running() as dsn:
        yield dsn


if __name__ == "__main__":
    with running() as dsn:
        sys.exit(subprocess.run(sys.argv[1:], env={**os.environ, ADDRESS: dsn}).returncode)
