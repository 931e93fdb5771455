"""Gets a Chromium and the fonts that its pictures need."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from uigym.browser.find import MISSING, find_chromium, playwright_chromiums, version
from uigym.errors import BrowserError

Say = Callable[[str], None]
FONTS = {
    "Liberation Sans": "fonts-liberation",
    "NanumGothic": "fonts-nanum",
    "Noto Color Emoji": "fonts-noto-color-emoji",
    "Noto Sans": "fonts-noto-core",
}
"""Family -> Debian package. Without them most of the web falls to one font, and emoji and Korean to boxes."""
PACKAGES = ("chromium-headless-shell", "chromium")
DOWNLOAD_S = 900.0


def install_browser(say: Say = print) -> Path:
    """Find a Chromium, or install one; then the fonts that are missing. Says each thing that it did.

    Order: UIGYM_CHROMIUM, one that is already there, Playwright's own download, the system's package manager.

    Returns:
        The path of the Chromium that uigym will use.

    Raises:
        BrowserError: There is none and none could be installed, with the reasons.
    """
    path = _there(say) or _download(say) or _package(say)
    if path is None:
        raise BrowserError(
            "no Chromium could be installed (the lines above say why). Install one yourself, for example with "
            "apt-get install chromium, and set UIGYM_CHROMIUM to its path if it is not on the PATH"
        )
    if not version(path):
        path = _libraries(path, say)
    _fonts(say)
    return path


def _there(say: Say) -> Path | None:
    try:
        path = find_chromium()
    except BrowserError as exc:
        if str(exc) != MISSING:
            raise
        say("no Chromium is there yet")
        return None
    origin = "UIGYM_CHROMIUM names" if os.environ.get("UIGYM_CHROMIUM") else "already there:"
    say(f"{origin} {path} ({version(path) or 'it does not run yet'})")
    return path


def _download(say: Say) -> Path | None:
    say("downloading Playwright's Chromium headless shell ...")
    ok, output = _run([sys.executable, "-m", "playwright", "install", "--only-shell", "chromium"])
    found = playwright_chromiums()
    if ok and found:
        say(f"downloaded {found[0]}")
        return found[0]
    say(f"the download failed: {_last_line(output)}")
    return None


def _package(say: Say) -> Path | None:
    if not _apt(say, "a Chromium"):
        return None
    for package in PACKAGES:
        if _apt_install(package, say=say):
            try:
                return find_chromium()
            except BrowserError:
                say(f"{package} is installed but has no Chromium that can be driven")
    return None


def _libraries(path: Path, say: Say) -> Path:
    """A downloaded Chromium without the system libraries that it needs: get them."""
    say(f"{path} does not run; system libraries may be missing")
    ok, output = _run([sys.executable, "-m", "playwright", "install-deps", "chromium"])
    if version(path):
        say("installed the system libraries")
        return path
    reason = "" if ok else f" ({_last_line(output)})"
    package = _package(say)
    if package is None or not version(package):
        raise BrowserError(
            f"{path} does not run{reason}. As root, run: {Path(sys.executable)} -m playwright install-deps chromium"
        )
    return package


def _fonts(say: Say) -> None:
    if shutil.which("fc-list") is None:
        missing = list(FONTS.values())
    else:
        _, families = _run(["fc-list", ":", "family"])
        missing = [package for family, package in FONTS.items() if family not in families]
    if not missing:
        say("fonts: all there")
    elif not _apt(say, f"the fonts {', '.join(missing)}") or not _apt_install(*missing, say=say):
        say("fonts: pages will look different without them (other fonts, no emoji), everything else works")


def _apt(say: Say, what: str) -> bool:
    """Whether apt-get can be used; says why not."""
    if shutil.which("apt-get") is None:
        say(f"cannot install {what}: no apt-get on this system")
    elif os.geteuid() != 0:
        packages = " ".join((PACKAGES[0], *FONTS.values()))
        say(f"cannot install {what}: not root. An administrator can run: sudo apt-get install {packages}")
    else:
        return True
    return False


def _apt_install(*packages: str, say: Say) -> bool:
    names = " ".join(packages)
    say(f"apt-get install {names} ...")
    command = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    ok, output = _run(command)
    if not ok:  # a fresh system has no package lists yet
        _run(["apt-get", "update"])
        ok, output = _run(command)
    say(f"installed {names}" if ok else f"apt-get install {names} failed: {_last_line(output)}")
    return ok


def _run(command: Sequence[str]) -> tuple[bool, str]:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        result = subprocess.run(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=DOWNLOAD_S,
            check=False,
            env=environment,
        )
    except (OSError, subprocess.TimeoutExpired) as exc:
        return False, str(exc)
    return result.returncode == 0, result.stdout


def _last_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("E:", "Error"))]
    return (errors or lines or ["no output"])[-1]
