"""On what, with what and when something was measured."""

from __future__ import annotations

import datetime
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from uigym import __version__


def circumstances(load_before: float, chromium: str) -> dict[str, Any]:
    """Machine, versions, command and date as JSON values.

    Args:
        load_before: The load average when the measurement began.
        chromium: Its version.
    """
    return {
        "machine": {
            "processor": _processor(),
            "cores": os.cpu_count(),
            "system": platform.platform(),
            "load_before": round(load_before, 2),
            "load_after": round(load(), 2),
        },
        "versions": {
            "uigym": __version__,
            "python": platform.python_version(),
            "playwright": version("playwright"),
            "chromium": chromium,
        },
        "command": " ".join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def load() -> float:
    """How many processes wanted a core, over the last minute."""
    return os.getloadavg()[0]


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
