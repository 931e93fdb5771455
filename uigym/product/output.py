"""What a product writes: read as it comes and only its end kept, so that it fills no disk and no memory."""

from __future__ import annotations

import os
import select
import threading
import time

KEPT_BYTES = 32 * 1024
_CHUNK_BYTES = 64 * 1024
_PAUSE_S = 0.005
"""Between two readings: a product that writes without end waits for us, and not we for it."""
_LOOK_MS = 1000
"""How soon the reader sees that it is no longer wanted, where somebody keeps the pipe open."""


class Output:
    """A pipe that a product writes to, read by a thread of its own."""

    def __init__(self) -> None:
        self._reader, self.writer = os.pipe()
        """`writer` is what the product gets; call `begin` once it has it."""
        os.set_blocking(self._reader, False)
        self._kept = b""
        self._lock = threading.Lock()
        self._over = False

    def begin(self) -> None:
        """Give up the writing end and read until the last of those who have it has ended."""
        os.close(self.writer)
        threading.Thread(target=self._read, name="uigym-output", daemon=True).start()

    def tail(self) -> str:
        """The last of what was written up to now."""
        self._drain()
        return self._kept.decode(errors="replace")

    def end(self) -> None:
        """Read no further; whoever still writes finds the pipe closed."""
        self._drain()
        self._over = True

    def _read(self) -> None:
        watch = select.poll()
        watch.register(self._reader, select.POLLIN)
        while not self._over:
            if watch.poll(_LOOK_MS) and not self._drain():
                break
            time.sleep(_PAUSE_S)
        with self._lock:
            os.close(self._reader)
            self._reader = -1

    def _drain(self) -> bool:
        """Take what is there, at most some pipes full; False if there will be no more."""
        with self._lock:
            for _ in range(8):
                try:
                    chunk = os.read(self._reader, _CHUNK_BYTES) if self._reader >= 0 else b""
                except BlockingIOError:
                    return True
                if not chunk:
                    return False
                self._kept = (self._kept + chunk)[-KEPT_BYTES:]
        return True
