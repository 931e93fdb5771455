"""Finds a Chromium on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from uigym.errors import BrowserError

COMMANDS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "chrome",
)
LIBRARY_FOLDERS = (
    "/usr/lib/chromium",
    "/usr/lib/chromium-browser",
    "/usr/lib64/chromium-browser",
    "/opt/google/chrome",
)
"""Where distributions keep the real binaries. Their commands on the PATH are scripts that add flags."""
MISSING = "no Chromium was found. Install one with: uigym install-browser (or set UIGYM_CHROMIUM to its path)"


def find_chromium() -> Path:
    """The Chromium to use: UIGYM_CHROMIUM, else one of the system, else one that Playwright downloaded.

    Raises:
        BrowserError: There is none, or UIGYM_CHROMIUM names none; the text says what to do.
    """
    if named := os.environ.get("UIGYM_CHROMIUM"):
        path = Path(named).expanduser()
        if not _is_program(path):
            raise BrowserError(
                f"UIGYM_CHROMIUM is {named!r}, which is not a program. Set it to a Chromium, or unset it"
            )
        return path.absolute()
    found = next(_candidates(), None)
    if found is None:
        raise BrowserError(MISSING)
    return found


def windowed_chromium() -> Path | None:
    """One that can show a window, if there is one: UIGYM_CHROMIUM, else of the system, else of Playwright's."""
    named = [Path(path).expanduser()] if (path := os.environ.get("UIGYM_CHROMIUM")) else []
    return next((path for path in (*named, *_candidates()) if "headless" not in path.name and _is_program(path)), None)


def _candidates() -> Iterator[Path]:
    for command in COMMANDS:
        yield from _library(command)
        found = shutil.which(command)
        if found and _runs(Path(found)):
            yield Path(found)
    yield from playwright_chromiums()


def _library(command: str) -> Iterator[Path]:
    yield from (path for folder in LIBRARY_FOLDERS if _is_program(path := Path(folder, command)))


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _runs(path: Path) -> bool:
    """Whether a command on the PATH is a Chromium that can be driven; some only say where to get one."""
    if "snap" in path.resolve().parts or path.resolve().name == "snap":
        return False  # a snap sees neither our pipes nor our folders
    return version(path) != ""


def version(path: Path) -> str:
    """What the program says that it is, such as "Chromium 156.0.8078.108"; empty if it does not run."""
    try:
        result = subprocess.run([str(path), "--version"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout.strip().splitlines()[-1] if result.returncode == 0 and result.stdout.strip() else ""


def playwright_folder() -> Path:
    """Where Playwright keeps the browsers that it downloads."""
    named = os.environ.get("PLAYWRIGHT_BROWSERS_PATH", "")
    if named and named != "0":
        return Path(named)
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "ms-playwright"


def playwright_chromiums() -> list[Path]:
    """Chromiums that Playwright downloaded: headless shells first, newest first."""
    folder = playwright_folder()
    names = ("headless_shell", "chrome-headless-shell", "chrome", "Chromium", "Google Chrome for Testing")
    found = [path for name in names for path in folder.glob(f"chromium*/**/{name}") if _is_program(path)]

    def rank(path: Path) -> tuple[bool, int]:
        build = path.relative_to(folder).parts[0]
        number = build.rsplit("-", 1)[-1]
        return ("headless_shell" not in build, -int(number) if number.isdigit() else 0)

    return sorted(found, key=rank)
