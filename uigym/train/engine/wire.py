"""Messages between a run and its engine's process: JSON values and byte strings. Nothing is unpickled."""

from __future__ import annotations

import json
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

from uigym.errors import ConfigError, PolicyError, StoreError, UIGymError

_KINDS: dict[str, type[UIGymError]] = {each.__name__: each for each in (ConfigError, PolicyError, StoreError)}


def put(line: Connection, message: Any, blobs: Sequence[bytes] = ()) -> None:
    """Send one message.

    Raises:
        OSError: Nobody reads any more.
    """
    line.send_bytes(json.dumps([message, len(blobs)]).encode())
    for blob in blobs:
        line.send_bytes(blob)


def take(line: Connection) -> tuple[Any, list[bytes]]:
    """Wait for one message.

    Raises:
        EOFError: There will be none.
    """
    message, count = json.loads(line.recv_bytes())
    return message, [line.recv_bytes() for _ in range(count)]


def told(error: Exception) -> dict[str, str]:
    """An error as a message."""
    kind = next((name for name, each in _KINDS.items() if isinstance(error, each)), "")
    # Errors of our own are texts to be shown; of another one its kind says more than its text.
    ours = isinstance(error, UIGymError)
    return {"kind": kind or ("ConfigError" if ours else ""), "text": str(error) if ours else repr(error)}


def meant(said: dict[str, str]) -> Exception:
    """The error that `told` was given."""
    return _KINDS[said["kind"]](said["text"]) if said["kind"] else RuntimeError(said["text"])
