"""Recordings of other tools, turned into demonstrations by doing them once in a harness."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from uigym.exchange.importing import browser_use, codegen, devtools
from uigym.exchange.importing.asked import Recording as Recording
from uigym.exchange.importing.bring import Imported as Imported
from uigym.exchange.importing.bring import Plan as Plan
from uigym.exchange.importing.bring import Told as Told
from uigym.exchange.importing.bring import bring_in as bring_in

READERS: Mapping[str, Callable[[Path], Recording]] = {
    "devtools": devtools.read,
    "codegen": codegen.read,
    "browser-use": browser_use.read,
}
"""Formats, as `uigym import --from` says them, and what reads their files."""
