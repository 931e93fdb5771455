"""Products of others, fetched once into a cache of one's own: from PyPI, from npm, from Debian.

Nothing of the system is changed and nobody needs to be root. Every part is pinned, so that the same harness means the
same product tomorrow.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import importlib.util
import json
import logging
import os
import platform
import re
import shutil
import signal
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from uigym.errors import HarnessError, ProductError, attribute
from uigym.product import strays
from uigym.product.calls import finished

_log = logging.getLogger(__name__)
LIMIT_S = 1800.0
"""How long one tool may take before it is ended."""
TOLD_LINES = 12
_MARK = "uigym-installed.json"
"""Written last: a folder without it is not whole. What a tool makes cannot be moved (programs of a virtual environment
name its folder), so it is this file that is made under a temporary name and renamed."""
_PAUSE_S = 0.1
_TAKEN = ("apt", "npm", "pip", "port", "python", "secret", "url", "workdir")
"""What a harness's strings may name already."""


def cache() -> Path:
    """Where products are kept: UIGYM_CACHE, else uigym in XDG_CACHE_HOME, else ~/.cache/uigym."""
    if own := os.environ.get("UIGYM_CACHE"):
        return Path(own).expanduser().resolve()
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared).expanduser().resolve() if shared else Path.home() / ".cache") / "uigym"


class Install(ABC):
    """Pinned packages of one kind, in a folder of their own; harnesses give them as `install=(...)`."""

    value: str
    """What a harness's strings name the folder by, in braces."""
    example: ClassVar[str]
    _pin: ClassVar[re.Pattern[str]]
    _file: ClassVar[tuple[str, ...]] = ()
    """Endings of files that may be named instead of a package."""

    def __init__(self, *pins: str):
        """
        Args:
            pins: Each names a package and its version.

        Raises:
            HarnessError: There is none, or one does not say which version.
        """
        if not pins:
            raise HarnessError(f"{type(self).__name__}() needs at least one package, such as {self.example!r}")
        self.pins = tuple(self._checked(pin) for pin in pins)

    def _checked(self, pin: str) -> str:
        if isinstance(pin, str) and (pin.endswith(self._file) if self._file else False):
            if not Path(pin).is_file():
                raise HarnessError(f"{type(self).__name__}({pin!r}): there is no such file")
            return str(Path(pin).resolve())
        if not isinstance(pin, str) or not self._pin.fullmatch(pin):
            raise HarnessError(
                f"{type(self).__name__}({pin!r}): expected a package and the exact version of it, such as "
                f"{self.example!r}: with another version it would be another product"
            )
        return pin

    @property
    def folder(self) -> Path:
        """Where it is or will be: another one for other packages, another Python, another cache."""
        told = json.dumps([self.value, self._identity(), [_known(pin) for pin in self.pins]])
        name = re.sub(r"[^A-Za-z0-9.]+", "-", Path(self.pins[0]).name)[:40].strip("-")
        return cache() / self.value / f"{name}-{hashlib.sha256(told.encode()).hexdigest()[:12]}"

    def is_there(self) -> bool:
        """Whether it was installed in full."""
        try:
            return bool(json.loads((self.folder / _MARK).read_text())["asked"])
        except (OSError, ValueError, LookupError, TypeError):  # none, or one that was cut off
            return False

    def listed(self) -> list[str]:
        """What was installed, with what came along: names and versions."""
        return list(json.loads((self.folder / _MARK).read_text())["installed"])

    async def installed(self) -> Path:
        """The folder; what is not there is fetched first, by one of all processes that ask for it.

        Raises:
            ProductError: The tool is missing or failed; the text has its last lines. Or the folder cannot be used.
        """
        with attribute(ProductError, f"cannot install {', '.join(self.pins)} in {cache()}"):
            folder = self.folder
            if not self.is_there():
                async with _alone(folder):
                    if not self.is_there():  # or somebody else has done it meanwhile
                        await self._install(folder)
        return folder

    async def _install(self, folder: Path) -> None:
        _log.info("installing %s; this is done once and may take a minute", ", ".join(self.pins))
        began = time.monotonic()
        await asyncio.to_thread(_empty, folder)
        try:
            self._mark(await self._make(folder))
        except BaseException:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
            raise
        _log.info("installed %s in %.0f s: %s", ", ".join(self.pins), time.monotonic() - began, folder)

    def _mark(self, listed: list[str]) -> None:
        new = self.folder / f"{_MARK}.new"
        new.write_text(json.dumps({"asked": self.pins, "installed": listed}, indent=1))
        new.rename(self.folder / _MARK)

    @abstractmethod
    def _identity(self) -> str:
        """What else it depends on than its packages."""

    @abstractmethod
    async def _make(self, folder: Path) -> list[str]:
        """Fill the empty folder; what is in it then, by name and version."""


class Pip(Install):
    """Packages of PyPI in a virtual environment: `{pip}` is its folder, `{pip}/bin/python` its interpreter.

    Example:
        >>> Pip("wagtail==7.0", "psycopg[binary]==3.2.9").pins
        ('wagtail==7.0', 'psycopg[binary]==3.2.9')
    """

    value = "pip"
    example = "wagtail==7.0"
    _pin = re.compile(r"[A-Za-z0-9][\w.-]*(\[[\w.,-]+\])?==[0-9][A-Za-z0-9.!+_-]*")
    _file = (".whl",)

    def __init__(self, *pins: str, deps: bool = True):
        """
        Args:
            pins: NAME==VERSION, or the path of a wheel.
            deps: Whether what they depend on comes along, in the newest versions that fit.
        """
        super().__init__(*pins)
        self.deps = deps

    def is_there(self) -> bool:
        """Whether it was installed in full, and its interpreter is still there."""
        return super().is_there() and (self.folder / "bin" / "python").exists()

    def _identity(self) -> str:
        return f"{platform.python_version()} {sys.base_prefix} {self.deps}"

    async def _make(self, folder: Path) -> list[str]:
        python, ours = str(folder / "bin" / "python"), importlib.util.find_spec("pip") is not None
        base = getattr(sys, "_base_executable", sys.executable)
        await _run([base, "-m", "venv", *(["--without-pip"] if ours else []), str(folder)], folder)
        pip = [sys.executable, "-m", "pip", "--python", python] if ours else [python, "-m", "pip"]
        asked = [*(() if self.deps else ("--no-deps",)), "--disable-pip-version-check", "--no-input", *self.pins]
        await _run([*pip, "install", *asked], folder)
        return (await _run([*pip, "freeze"], folder)).splitlines()


class Npm(Install):
    """Packages of npm: `{npm}` is the folder that holds `node_modules`.

    Example:
        >>> Npm("node-red==4.1.0").pins
        ('node-red@4.1.0',)
    """

    value = "npm"
    example = "node-red@4.1.0"
    _pin = re.compile(r"(@[a-z0-9][a-z0-9._-]*/)?[A-Za-z0-9][A-Za-z0-9._-]*@\d+\.\d+\.\d+[A-Za-z0-9.+-]*")
    _file = (".tgz",)

    def __init__(self, *pins: str):
        """
        Args:
            pins: NAME@VERSION or NAME==VERSION, or the path of a packed package (`.tgz`).
        """
        super().__init__(*(pin.replace("==", "@", 1) if isinstance(pin, str) else pin for pin in pins))

    def _identity(self) -> str:
        return f"{platform.system()} {platform.machine()}"

    async def _make(self, folder: Path) -> list[str]:
        await _run(["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--", *self.pins], folder)
        locked = json.loads((folder / "package-lock.json").read_text())["packages"]
        return [f"{name.rpartition('node_modules/')[2]}@{told.get('version')}" for name, told in locked.items() if name]


class Apt(Install):
    """Debian's packages, unpacked: `{apt}` is the root of their files, such as `{apt}/usr/share/dokuwiki`.

    They are neither configured nor does anything come along that is not named. A version may be left out: a release
    of Debian has one.

    Example:
        >>> Apt("dokuwiki=0.0.20220731.a-2", "php8.2-cli").pins
        ('dokuwiki=0.0.20220731.a-2', 'php8.2-cli')
    """

    value = "apt"
    example = "dokuwiki=0.0.20220731.a-2"
    _pin = re.compile(r"[a-z0-9][a-z0-9.+-]+(:[a-z0-9-]+)?(=[A-Za-z0-9.+:~-]+)?")

    def _identity(self) -> str:
        with contextlib.suppress(OSError):
            told = platform.freedesktop_os_release()
            return f"{told.get('ID')} {told.get('VERSION_ID')} {platform.machine()}"
        return platform.machine()

    async def _make(self, folder: Path) -> list[str]:
        debs = folder / ".debs"
        debs.mkdir()
        try:
            await _run(["apt-get", "download", *self.pins], debs)
        except ProductError:  # the system's lists may be missing or too old: with lists of our own, once
            lists = await self._lists(folder)
            await _run(["apt-get", *lists, "download", *self.pins], debs)
            await asyncio.to_thread(shutil.rmtree, folder / ".apt", ignore_errors=True)
        found = sorted(debs.glob("*.deb"))
        for deb in found:
            await _run(["dpkg-deb", "-x", str(deb), str(folder)], folder)
        await asyncio.to_thread(shutil.rmtree, debs)
        return [deb.stem for deb in found]

    async def _lists(self, folder: Path) -> list[str]:
        own = folder / ".apt"
        for part in ("lists/partial", "archives/partial"):
            (own / part).mkdir(parents=True)
        options = [f"Dir::State::lists={own}/lists", f"Dir::Cache={own}", "APT::Sandbox::User=root"]
        words = [word for option in options for word in ("-o", option)]
        await _run(["apt-get", *words, "update", "--error-on=any"], folder)
        return words


def _empty(folder: Path) -> None:
    """An empty folder, without what a killed install has left or is still writing."""
    strays.sweep()
    if folder.is_symlink() or folder.is_file():
        folder.unlink()  # what it leads to belongs to somebody else
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)


class Made(Install):
    """What a function makes of what was installed before it, such as a filled database: `{NAME}` is its folder.

    Example:
        >>> Made("site", fill_site, PIP, Path(__file__).with_name("site"))  # doctest: +SKIP
    """

    def __init__(self, value: str, make: Callable[[Path], Any], *of: Install | Path):
        """
        Args:
            value: What the harness's strings name its folder by.
            make: Fills the empty folder that it gets, async or not.
            of: What it is made of. Where one of these is another one, or a file of a folder differs, it is made anew.
        """
        if not re.fullmatch(r"[a-z][a-z0-9_]*", value) or value in _TAKEN:
            raise HarnessError(f"Made({value!r}): expected a name of its own in lower-case letters, none of {_TAKEN}")
        self.value = value
        self.pins = (value,)
        self._function, self._of = make, of

    def _identity(self) -> str:
        return json.dumps([part.folder.name if isinstance(part, Install) else _contents(part) for part in self._of])

    async def _make(self, folder: Path) -> list[str]:
        await finished(self._function, folder)
        return [self.value]


def _contents(place: Path) -> list[str]:
    """Names and contents of all files in a folder, or of a file."""
    files = sorted(path for path in place.rglob("*") if path.is_file()) if place.is_dir() else [place]
    kept = [path for path in files if path.suffix != ".pyc"]
    return [f"{path.relative_to(place)} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in kept]


def _known(pin: str) -> str:
    """A pin as the key has it: a file by what is in it."""
    return hashlib.sha256(Path(pin).read_bytes()).hexdigest() if pin.startswith("/") else pin


@contextlib.asynccontextmanager
async def _alone(folder: Path) -> AsyncIterator[None]:
    """Only one of all tasks and processes is in here for a folder; the kernel lets go if that one dies."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder.parent / f".{folder.name}.lock", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                await asyncio.sleep(_PAUSE_S)
        yield
    finally:
        os.close(handle)


async def _run(command: Sequence[str], folder: Path) -> str:
    """What a tool writes to its standard output.

    Raises:
        ProductError: It is missing, failed or hung; the text has its last lines.
    """
    token = strays.token()
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    environment |= {strays.VARIABLE: token, "LC_ALL": "C.UTF-8"}
    pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *command, cwd=folder, env=environment, stdin=nothing, stdout=pipe, stderr=pipe, start_new_session=True
        )
    except FileNotFoundError as exc:
        raise ProductError(
            f"{command[0]} is not installed, which fetches this product. {_MISSING.get(command[0], '')}"
        ) from exc
    try:
        async with asyncio.timeout(LIMIT_S):
            said, complained = await process.communicate()
    except BaseException as exc:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await asyncio.to_thread(strays.end, token)
        await process.communicate()  # to the end of its pipes, which closes them
        if isinstance(exc, TimeoutError):
            raise ProductError(f"{_shown(command)} took more than {LIMIT_S:g} s and was ended") from exc
        raise
    if process.returncode:
        lines = (said + b"\n" + complained).decode(errors="replace").split("\n")
        told = "\n".join([line[:300] for line in lines if line.strip()][-TOLD_LINES:])
        raise ProductError(f"{_shown(command)} failed with status {process.returncode}. {_HINT}\n{told}")
    return said.decode(errors="replace")


_MISSING = {
    "npm": "It comes with Node.js: sudo apt-get install npm",
    "apt-get": "This product is Debian's: use Debian or Ubuntu, or a container of it",
    "dpkg-deb": "This product is Debian's: use Debian or Ubuntu, or a container of it",
}
_HINT = "Is the package's registry reachable from here, and is there a package of this version? Its last lines:"


def _shown(command: Sequence[str]) -> str:
    return " ".join(Path(word).name if word.startswith("/") else word for word in command)
