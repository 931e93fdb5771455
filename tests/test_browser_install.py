"""Finding a Chromium, and installing one on systems that are made up of small scripts in a folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from uigym.browser import find, find_chromium, install, install_browser
from uigym.errors import BrowserError

CHROMIUM = "#!/bin/sh\necho 'Chromium 150.0.0.0'\n"


def program(path: Path, text: str = CHROMIUM) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


class Machine:
    """A system with a PATH, a library folder and a Playwright cache of its own."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch):
        self.bin, self.lib, self.cache = root / "bin", root / "lib", root / "cache"
        self.bin.mkdir()
        self.log = root / "log"
        self.said: list[str] = []
        monkeypatch.delenv("UIGYM_CHROMIUM", raising=False)
        monkeypatch.setenv("PATH", str(self.bin))
        monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(self.cache))
        monkeypatch.setattr(find, "LIBRARY_FOLDERS", (str(self.lib),))
        monkeypatch.setattr(install.sys, "executable", str(self.bin / "python"))
        self.python("exit 1")
        program(self.bin / "fc-list", "#!/bin/sh\necho 'Liberation Sans,NanumGothic,Noto Sans,Noto Color Emoji'\n")

    def python(self, script: str) -> None:
        """What `python -m playwright ...` does here."""
        program(self.bin / "python", f'#!/bin/sh\necho "python $@" >> {self.log}\n{script}\n')

    def apt(self, script: str) -> None:
        program(self.bin / "apt-get", f'#!/bin/sh\necho "apt-get $@" >> {self.log}\n{script}\n')

    def makes(self, path: Path) -> str:
        """Shell: put a Chromium at `path`."""
        return f"/bin/mkdir -p {path.parent}; printf '{CHROMIUM!r}' > {path}; /bin/chmod 755 {path}".replace(
            repr(CHROMIUM), CHROMIUM.replace("\n", "\\n").replace("'", '"')
        )

    def install(self) -> Path:
        return install_browser(self.said.append)

    def did(self) -> str:
        return self.log.read_text() if self.log.exists() else ""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def test_the_named_chromium_comes_first(machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program(machine.lib / "chromium")
    named = program(tmp_path / "mine")
    monkeypatch.setenv("UIGYM_CHROMIUM", str(named))
    assert find_chromium() == named
    monkeypatch.setenv("UIGYM_CHROMIUM", str(tmp_path / "none"))
    with pytest.raises(BrowserError, match=r"UIGYM_CHROMIUM is .*none.*not a program"):
        find_chromium()
    with pytest.raises(BrowserError, match="UIGYM_CHROMIUM"):
        machine.install()


def test_real_binaries_come_before_wrapper_scripts(machine: Machine) -> None:
    program(machine.bin / "chromium")
    real = program(machine.lib / "chromium")
    assert find_chromium() == real
    shell = program(machine.lib / "chromium-headless-shell")
    assert find_chromium() == shell


def test_a_command_that_only_tells_where_to_get_one_is_none(machine: Machine) -> None:
    program(machine.bin / "chromium-browser", "#!/bin/sh\necho 'requires the chromium snap to be installed'\nexit 1\n")
    with pytest.raises(BrowserError, match="uigym install-browser"):
        find_chromium()
    chrome = program(machine.bin / "google-chrome")
    assert find_chromium() == chrome


def test_playwrights_newest_headless_shell(machine: Machine) -> None:
    program(machine.cache / "chromium-1300" / "chrome-linux" / "chrome")
    program(machine.cache / "chromium_headless_shell-999" / "chrome-linux" / "headless_shell")
    newest = program(
        machine.cache / "chromium_headless_shell-1200" / "chrome-headless-shell-linux64" / "chrome-headless-shell"
    )
    assert find_chromium() == newest


def test_what_is_there_is_used_and_said(machine: Machine) -> None:
    there = program(machine.lib / "chromium")
    assert machine.install() == there
    assert machine.said == [f"already there: {there} (Chromium 150.0.0.0)", "fonts: all there"]
    assert machine.did() == ""


def test_playwrights_download_comes_before_the_package_manager(machine: Machine) -> None:
    target = machine.cache / "chromium_headless_shell-1200" / "x" / "headless_shell"
    machine.python(machine.makes(target))
    machine.apt("exit 0")
    assert machine.install() == target
    assert machine.did() == "python -m playwright install --only-shell chromium\n"
    assert any(line.startswith("downloaded") for line in machine.said)


@pytest.mark.skipif(os.geteuid() != 0, reason="apt-get is only asked as root")
def test_the_package_manager_is_the_last_resort(machine: Machine) -> None:
    machine.python("echo 'Error: getaddrinfo ENOTFOUND cdn'; exit 1")
    machine.apt(
        f'case "$*" in *headless-shell*) echo "E: Unable to locate package"; exit 100;; *install*) {machine.makes(machine.lib / "chromium")};; esac'
    )
    assert machine.install() == machine.lib / "chromium"
    assert "the download failed: Error: getaddrinfo ENOTFOUND cdn" in machine.said
    assert "apt-get install chromium-headless-shell failed: E: Unable to locate package" in machine.said
    assert "installed chromium" in machine.said
    assert "apt-get update" in machine.did()


@pytest.mark.skipif(os.geteuid() != 0, reason="apt-get is only asked as root")
def test_missing_fonts_are_installed(machine: Machine) -> None:
    program(machine.lib / "chromium")
    program(machine.bin / "fc-list", "#!/bin/sh\necho 'DejaVu Sans'\n")
    machine.apt("exit 0")
    machine.install()
    assert machine.said[-1] == "installed fonts-liberation fonts-nanum fonts-noto-color-emoji fonts-noto-core"


def test_without_root_the_command_is_said(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install.os, "geteuid", lambda: 1000)
    machine.apt("exit 0")
    with pytest.raises(BrowserError, match="UIGYM_CHROMIUM"):
        machine.install()
    assert any("sudo apt-get install chromium-headless-shell fonts-liberation" in line for line in machine.said)
    assert "apt-get" not in machine.did()


def test_without_anything_each_reason_is_said(machine: Machine) -> None:
    (machine.bin / "fc-list").unlink()
    with pytest.raises(BrowserError, match="no Chromium could be installed"):
        machine.install()
    assert machine.said == [
        "no Chromium is there yet",
        "downloading Playwright's Chromium headless shell ...",
        "the download failed: no output",
        "cannot install a Chromium: no apt-get on this system",
    ]


def test_a_download_that_lacks_libraries(machine: Machine) -> None:
    broken = program(machine.cache / "chromium_headless_shell-1200" / "x" / "headless_shell", "#!/bin/sh\nexit 127\n")
    machine.python(f'case "$*" in *install-deps*) {machine.makes(broken)};; esac')
    assert machine.install() == broken
    assert "installed the system libraries" in machine.said
    program(broken, "#!/bin/sh\nexit 127\n")
    machine.python("echo 'must be root'; exit 1")
    with pytest.raises(BrowserError, match="install-deps"):
        machine.install()
