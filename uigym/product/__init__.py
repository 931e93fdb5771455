"""One running product: start, ready, reset, state, stop."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from uigym.product.snapshot import Snapshot
from uigym.product.state import Sqlite

if TYPE_CHECKING:
    from uigym.product.directory import Directory
    from uigym.product.files import Files
    from uigym.product.http import Http
    from uigym.product.installs import Apt, Made, Npm, Pip
    from uigym.product.mail import Mail
    from uigym.product.mysql import Mysql, MysqlCopy
    from uigym.product.postgres import Postgres
    from uigym.product.postgres_private import PostgresServer
    from uigym.product.postgres_template import PostgresTemplate
    from uigym.product.product import Product
    from uigym.product.resets import CommandReset, HttpReset
    from uigym.product.together import InOrder, Together

_HOME = {
    "Apt": "installs",
    "CommandReset": "resets",
    "Directory": "directory",
    "Files": "files",
    "Http": "http",
    "HttpReset": "resets",
    "InOrder": "together",
    "Made": "installs",
    "Mail": "mail",
    "Mysql": "mysql",
    "MysqlCopy": "mysql",
    "Npm": "installs",
    "Pip": "installs",
    "Postgres": "postgres",
    "PostgresServer": "postgres_private",
    "PostgresTemplate": "postgres_template",
    "Product": "product",
    "Together": "together",
}

__all__ = [
    "Apt",
    "CommandReset",
    "Directory",
    "Files",
    "Http",
    "HttpReset",
    "InOrder",
    "Made",
    "Mail",
    "Mysql",
    "MysqlCopy",
    "Npm",
    "Pip",
    "Postgres",
    "PostgresServer",
    "PostgresTemplate",
    "Product",
    "Snapshot",
    "Sqlite",
    "Together",
]


def __getattr__(name: str) -> Any:
    """What needs servers or clients, on first touch: most harness files need none of them."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
