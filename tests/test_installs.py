"""Products of others: fetched once by whoever comes first, whole or not at all."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from uigym.cli.app import app
from uigym.errors import HarnessError, ProductError
from uigym.harness import Harness
from uigym.product import Apt, Made, Npm, Pip, Product
from uigym.product.installs import cache
from uigym.types import State

PRODUCT = """
import http.server, sys
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), http.server.SimpleHTTPRequestHandler).serve_forever()
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("UIGYM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return tmp_path / "cache"


@pytest.fixture
def wheel(tmp_path: Path) -> str:
    """A package of one module."""
    file = tmp_path / "tinyshop-1.0-py3-none-any.whl"
    told = "Metadata-Version: 2.1\nName: tinyshop\nVersion: 1.0\n"
    kind = "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    contents = {"tinyshop.py": PRODUCT, "tinyshop-1.0.dist-info/METADATA": told, "tinyshop-1.0.dist-info/WHEEL": kind}
    record = "".join(f"{name},,\n" for name in (*contents, "tinyshop-1.0.dist-info/RECORD"))
    with zipfile.ZipFile(file, "w") as packed:
        for name, text in {**contents, "tinyshop-1.0.dist-info/RECORD": record}.items():
            packed.writestr(name, text)
    return str(file)


@pytest.fixture
def packed(tmp_path: Path) -> str:
    """A package of npm, as `npm pack` makes it."""
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "package.json").write_text(json.dumps({"name": "tinyshop", "version": "1.0.0"}))
    with tarfile.open(tmp_path / "tinyshop-1.0.0.tgz", "w:gz") as file:
        file.add(tmp_path / "package", "package")
    return str(tmp_path / "tinyshop-1.0.0.tgz")


def tool(folder: Path, name: str, script: str) -> None:
    """A program of that name which comes first on the PATH."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def elsewhere(code: str) -> subprocess.Popen[bytes]:
    """Another process that uses the same cache."""
    return subprocess.Popen([sys.executable, "-c", f"import asyncio; from uigym.product import Npm; {code}"])


INSTALL = "asyncio.run(Npm('a@1.0.0').installed())"


def appears(file: Path) -> None:
    """Wait until a file is there and has something in it."""
    deadline = time.monotonic() + 30
    while not (file.exists() and file.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def packed_deb(folder: Path) -> Path:
    """A package of Debian with one file."""
    (folder / "tinyshop" / "DEBIAN").mkdir(parents=True)
    (folder / "tinyshop" / "DEBIAN" / "control").write_text(
        "Package: tinyshop\nVersion: 1.0\nArchitecture: all\nMaintainer: nobody <nobody@example.org>\nDescription: x\n"
    )
    (folder / "tinyshop" / "usr").mkdir()
    (folder / "tinyshop" / "usr" / "shop").write_text("open")
    deb = folder / "tinyshop_1.0_all.deb"
    subprocess.run(["dpkg-deb", "-b", folder / "tinyshop", deb], check=True, stdout=subprocess.DEVNULL)
    return deb


async def read(product: Any) -> State:
    return State({"t": ({"id": 1},)})


async def reset(product: Any, seed: int, appearance: Any) -> None:
    pass


# --- pins --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "pin"),
    [
        (Pip, "wagtail"),
        (Pip, "wagtail>=7"),
        (Pip, "wagtail==7.*"),
        (Pip, "wagtail @ https://example.org/x.tar.gz"),
        (Pip, "--index-url=https://example.org"),
        (Pip, ""),
        (Pip, 7),
        (Pip, "wagtail==7.0; rm -r ."),
        (Npm, "node-red"),
        (Npm, "node-red@latest"),
        (Npm, "node-red@^4.1.0"),
        (Npm, "node-red@4.1"),
        (Npm, "node-red@https://example.org/x.tgz@1.0.0"),
        (Npm, "--registry@1.0.0"),
        (Npm, "..@1.0.0"),
        (Apt, "DokuWiki"),
        (Apt, "dokuwiki="),
        (Apt, "-o=x"),
        (Apt, "dokuwiki/bookworm"),
    ],
)
def test_what_is_not_pinned_is_refused(kind: type, pin: Any) -> None:
    with pytest.raises(HarnessError, match=r"expected a package and the exact version of it, such as '.*'"):
        kind(pin)


@pytest.mark.parametrize("kind", [Pip, Npm, Apt])
def test_nothing_is_no_install(kind: type) -> None:
    with pytest.raises(HarnessError, match="needs at least one package, such as"):
        kind()


def test_a_file_that_is_not_there_is_refused() -> None:
    with pytest.raises(HarnessError, match="there is no such file"):
        Pip("/nowhere/tinyshop-1.0-py3-none-any.whl")


def test_pins_are_read_as_their_tools_write_them() -> None:
    assert Npm("node-red==4.1.0", "@node-rs/bcrypt@1.10.7").pins == ("node-red@4.1.0", "@node-rs/bcrypt@1.10.7")
    assert Pip("psycopg[binary]==3.2.9", "a.b==1!2.0rc1+x").pins == ("psycopg[binary]==3.2.9", "a.b==1!2.0rc1+x")
    assert Apt("php8.2-cli=2:8.2.1~rc1-1", "dokuwiki").pins == ("php8.2-cli=2:8.2.1~rc1-1", "dokuwiki")


def test_other_pins_have_another_folder(wheel: str, own_cache: Path) -> None:
    folders = {
        part.folder
        for part in (Pip("a==1"), Pip("a==2"), Pip("a==1", "b==1"), Pip("a==1", deps=False), Apt("ab=1"), Pip(wheel))
    }
    assert len(folders) == 6 and all(folder.is_relative_to(own_cache) for folder in folders)
    before = Pip(wheel).folder
    with zipfile.ZipFile(wheel, "a") as packed:
        packed.writestr("more.py", "")
    assert Pip(wheel).folder != before


def test_the_cache_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, own_cache: Path) -> None:
    assert cache() == own_cache
    monkeypatch.delenv("UIGYM_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/cache")
    assert cache() == Path("/var/cache/uigym")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache() == Path.home() / ".cache" / "uigym"


def test_a_harness_refuses_what_is_no_install() -> None:
    for wrong, why in (
        (Pip("a==1"), "install must be a tuple"),
        (("a==1",), "install takes parts such as Pip"),
        ((Pip,), "install takes parts such as Pip"),
        ((Pip("a==1"), Pip("b==1")), "two parts of install are {pip}"),
    ):
        with pytest.raises(HarnessError, match=why):
            Harness(name="shop", url="http://127.0.0.1:1", state=read, reset=reset, install=wrong)  # type: ignore[arg-type]


# --- installing --------------------------------------------------------------------------------------------------


async def test_a_product_starts_from_what_was_installed(wheel: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "uigym.product.installs")
    part = Pip(wheel)
    shop = Harness(
        name="shop", install=(part,), start="{pip}/bin/python -m tinyshop {port}", state=read, reset=reset,
        ready_timeout_s=60,
    )  # fmt: skip
    assert not part.is_there()
    async with Product(shop) as product, Product(shop) as other:
        assert product.values["pip"] == other.values["pip"] == str(part.folder)
    assert part.is_there() and len(part.listed()) == 1 and part.listed()[0].startswith("tinyshop")
    assert [record.message.split()[0] for record in caplog.records] == ["installing", "installed"]


async def test_many_at_once_install_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = tmp_path / "count"
    tool(tmp_path / "bin", "npm", f'echo x >> "{count}"; sleep 0.3; echo \'{{"packages": {{}}}}\' > package-lock.json')
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    others = [elsewhere(INSTALL) for _ in range(2)]
    folders = await asyncio.gather(*(Npm("a@1.0.0").installed() for _ in range(10)))
    assert [other.wait() for other in others] == [0, 0]
    assert len(set(folders)) == 1
    assert count.read_text() == "x\n"


async def test_npm(packed: str) -> None:
    try:
        folder = await Npm(packed).installed()
    except ProductError as exc:
        if "npm is not installed" not in str(exc):
            raise
        pytest.skip("npm is not installed")
    assert json.loads((folder / "node_modules" / "tinyshop" / "package.json").read_text())["version"] == "1.0.0"
    assert Npm(packed).listed() == ["tinyshop@1.0.0"]


async def test_apt_unpacks_what_was_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's lists are of no use here; the second try has lists of its own."""
    deb = packed_deb(tmp_path)
    tool(
        tmp_path / "bin",
        "apt-get",
        f'case "$*" in "-o "*download*) cp "{deb}" . ;; download*) echo "E: no such list"; exit 100; esac',
    )
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    folder = await Apt("tinyshop=1.0").installed()
    assert (folder / "usr" / "shop").read_text() == "open"
    assert Apt("tinyshop=1.0").listed() == ["tinyshop_1.0_all"]
    assert sorted(path.name for path in folder.iterdir()) == ["uigym-installed.json", "usr"]


# --- what goes wrong ---------------------------------------------------------------------------------------------


async def test_a_package_that_cannot_be_had_is_told(own_cache: Path) -> None:
    with pytest.raises(ProductError, match=r"(?s)pip .*failed with status 1\. Is the package's registry.*tinyshop==1"):
        await Pip("tinyshop==1.0").installed()
    assert [path for path in (own_cache / "pip").iterdir() if path.is_dir()] == []


@pytest.mark.parametrize(
    ("part", "why"),
    [
        (Npm("a@1.0.0"), "npm is not installed.*It comes with Node.js"),
        (Apt("ab=1.0"), "apt-get is not installed.*use Debian or Ubuntu"),
    ],
)
async def test_a_missing_tool_is_told(part: Any, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ProductError, match=why):
        await part.installed()
    assert not part.is_there()


async def test_a_cache_that_cannot_be_used_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    for place in ("/proc/nope", str(tmp_path / "file")):
        monkeypatch.setenv("UIGYM_CACHE", place)
        with pytest.raises(ProductError, match=re.escape(f"cannot install a@1.0.0 in {place}: ")):
            await Npm("a@1.0.0").installed()


async def test_what_a_function_makes_is_named_and_may_fail(own_cache: Path) -> None:
    for name in ("../evil", "port", "Site"):
        with pytest.raises(HarnessError, match="expected a name of its own"):
            Made(name, lambda folder: None)

    def fails(folder: Path) -> None:
        raise ValueError("no ink")

    with pytest.raises(ProductError, match=r"cannot install site in .*: ValueError: no ink"):
        await Made("site", fails).installed()


async def test_a_cut_mark_and_a_link_are_not_taken_for_a_product(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = Made("site", lambda folder: (folder / "page").write_text("new"))
    folder = await part.installed()
    (folder / "uigym-installed.json").write_text('{"asked": ["si')
    assert not part.is_there()
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "kept").touch()
    shutil.rmtree(folder)
    folder.symlink_to(tmp_path / "else")
    assert (await part.installed() / "page").read_text() == "new"
    assert not folder.is_symlink() and (tmp_path / "else" / "kept").exists()


def test_the_cache_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UIGYM_CACHE")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    assert Npm("a@1.0.0").folder.is_relative_to(tmp_path / "here" / "uigym")


async def test_a_failed_install_is_the_products_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    shop = Harness(name="shop", install=(Npm("a@1.0.0"),), start="node {npm} {port}", state=read, reset=reset)
    with pytest.raises(ProductError, match="npm is not installed"):
        await Product(shop).start()


async def test_a_killed_install_is_not_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool(
        tmp_path / "bin",
        "npm",
        'echo half > half; [ -e "$OK" ] || exec sleep 60; echo \'{"packages":{}}\' > package-lock.json',
    )
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    monkeypatch.setenv("OK", str(tmp_path / "ok"))
    part = Npm("a@1.0.0")
    process = elsewhere(INSTALL)
    await asyncio.to_thread(appears, part.folder / "half")
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert (part.folder / "half").exists() and not part.is_there()
    (tmp_path / "ok").touch()
    await part.installed()
    assert part.is_there()


async def test_a_cancelled_install_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool(tmp_path / "bin", "npm", f'echo $$ > "{tmp_path}/pid"; sleep 60 & wait')
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    installing = asyncio.ensure_future(Npm("a@1.0.0").installed())
    await asyncio.to_thread(appears, tmp_path / "pid")
    installing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await installing
    assert not Npm("a@1.0.0").folder.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


# --- the command -------------------------------------------------------------------------------------------------


def test_the_command_installs_ahead(wheel: str, tmp_path: Path) -> None:
    file = tmp_path / "shop.py"
    file.write_text(
        "from uigym import Harness\nfrom uigym.product import Pip, Snapshot, Sqlite\n"
        f"shop = Harness(name='shop', install=(Pip({wheel!r}),), start='{{pip}}/bin/python -m tinyshop {{port}}',\n"
        "               state=Sqlite('x.db'), reset=Snapshot('x.db'))\n"
        "@shop.task('Go.', max_steps=1)\ndef go(): ...\n"
    )
    assert CliRunner().invoke(app, ["list", str(file)]).exit_code == 0
    assert not Pip(wheel).is_there()  # looking costs nothing
    done = CliRunner().invoke(app, ["install", str(file)])
    assert done.exit_code == 0, done.output
    assert done.stdout == f"{Pip(wheel).folder}\n"
    assert Pip(wheel).is_there()


def test_the_command_says_where_there_is_nothing_to_do() -> None:
    done = CliRunner().invoke(app, ["install", "kiosk"])
    assert done.exit_code == 0 and "kiosk needs nothing that has to be fetched" in done.output
