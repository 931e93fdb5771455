"""A process of ours beside this one, and messages to and from it: JSON values and byte strings. Nothing is unpickled."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from uigym.errors import ConfigError, PolicyError, StoreError, UIGymError

_KINDS: dict[str, type[UIGymError]] = {each.__name__: each for each in (ConfigError, PolicyError, StoreError)}


def start(module: str) -> tuple[subprocess.Popen[bytes], Connection]:
    """Run `python -m MODULE FD`, where FD is its end of a pipe; returns the process and our end.

    In a session of its own, so that an interrupt from the keyboard reaches this process alone. A module that ends when
    its pipe does ends with this process, however that ends.
    """
    ours, theirs = Pipe()
    command = [sys.executable, "-m", module, str(theirs.fileno())]
    process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, start_new_session=True)
    theirs.close()
    return process, ours


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
