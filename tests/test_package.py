"""What is in the wheel, and that it works where nothing of the checkout is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CONTENT = ("apps", "harnesses", "verifiers")
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "uigym", *CONTENT)


def run(*command: str | Path, cwd: Path) -> str:
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run([str(c) for c in command], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built through the source distribution, from a copy, with the build tools that are installed."""
    source = tmp_path_factory.mktemp("source") / "uigym"
    source.mkdir()
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, source)
    run(sys.executable, "-m", "build", "--no-isolation", cwd=source)
    (built,) = (source / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of an environment that has the wheel; the rest is seen through this environment's packages."""
    venv = tmp_path_factory.mktemp("empty") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", venv, cwd=venv.parent)
    (site,) = venv.glob("lib/python*/site-packages")
    here = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site / "dependencies.pth").write_text("\n".join(here))  # their own .pth files, such as an editable uigym, stay out
    pip = (sys.executable, "-m", "pip", "--python", venv / "bin" / "python")
    run(*pip, "install", "-q", "--no-deps", "--no-index", wheel, cwd=venv.parent)
    return venv / "bin"


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.mark.parametrize("folder", [*CONTENT, "uigym"])
def test_every_file_is_in_the_wheel(wheel: Path, folder: str) -> None:
    found = {p.relative_to(ROOT) for p in (ROOT / folder).rglob("*") if p.is_file() and p.suffix != ".pyc"}
    files = {path for path in found if "web" not in path.parts}  # what a bundled page's scripts are built from
    wanted = {str(p if folder == "uigym" else Path("uigym") / p) for p in files}
    assert wanted
    missing = sorted(wanted - names(wheel))
    assert not missing


def test_one_top_level_package(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in names(wheel)}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"uigym"}


@pytest.mark.parametrize("folder", CONTENT)
def test_content_folders_are_no_packages(folder: str) -> None:
    assert not (ROOT / folder / "__init__.py").exists()
    assert (ROOT / "uigym" / folder).is_symlink(), "uigym needs a checkout with symbolic links"


def test_licence_is_in_the_wheel(wheel: Path) -> None:
    assert any(name.endswith("/licenses/LICENSE") for name in names(wheel))


def test_installed_elsewhere_it_lists_both_harnesses(installed: Path, tmp_path: Path) -> None:
    where = run(installed / "python", "-c", "import uigym; print(uigym.__file__)", cwd=tmp_path)
    assert where.startswith(str(installed.parent))
    listed = json.loads(run(installed / "uigym", "list", "--json", cwd=tmp_path))
    assert {"kiosk", "desk"} <= {entry["harness"] for entry in listed}


def answer(url: str) -> int:
    """Status of a page, once somebody listens."""
    deadline = time.monotonic() + 20
    while True:
        try:
            with urllib.request.urlopen(url, timeout=20) as response:
                return int(response.status)
        except urllib.error.URLError as error:
            if not isinstance(error.reason, ConnectionRefusedError) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


@pytest.mark.parametrize("app", ["kiosk", "desk"])
def test_installed_elsewhere_an_app_starts(installed: Path, tmp_path: Path, app: str) -> None:
    command = [str(installed / "python"), "-u", "-m", f"uigym.apps.{app}"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout
        url = next((w for line in process.stdout for w in line.split() if w.startswith("http://")), None)
        try:
            assert url, f"{app} printed no address"
            assert answer(url) == 200
        finally:
            process.terminate()
            process.wait(timeout=20)
