"""Recordings of other tools, turned into demonstrations by doing them once in a harness."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from uigym.exchange import FORMATS
from uigym.exchange.importing import browser_use, codegen, devtools, pixels
from uigym.exchange.importing.asked import Recording as Recording
from uigym.exchange.importing.bring import Imported as Imported
from uigym.exchange.importing.bring import Importer as Importer
from uigym.exchange.importing.bring import Plan as Plan
from uigym.exchange.importing.bring import Remark as Remark
from uigym.exchange.importing.bring import follow as follow

READERS: Mapping[str, Callable[[Path], Iterable[Recording]]] = {
    "devtools": lambda path: [devtools.read(path)],
    "codegen": lambda path: [codegen.read(path)],
    "browser-use": lambda path: [browser_use.read(path)],
    "opencua": pixels.reader(FORMATS["opencua"].read),
    "atif": pixels.reader(FORMATS["atif"].read),
}
"""Formats, as `uigym import --from` says them, and what reads their files."""
