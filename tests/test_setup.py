"""Set-up never takes a CUDA build for a machine without a GPU. Wheels are made here and read by the real pip."""

from __future__ import annotations

import importlib.util
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parent.parent / "scripts" / "setup.py"


@pytest.fixture
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("uigym_setup", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.CPU_INDEX = "http://127.0.0.1:9/whl/cpu"  # nobody listens there
    return module


def add_wheel(folder: Path, name: str, version: str, *requires: str) -> None:
    info = f"{name}-{version}.dist-info"
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {name}",
        f"Version: {version}",
        *(f"Requires-Dist: {r}" for r in requires),
    ]
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{info}/METADATA", "\n".join(lines) + "\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the only place where pip looks."""
    for name, value in {"NO_INDEX": "1", "FIND_LINKS": str(tmp_path), "CONFIG_FILE": "/dev/null"}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    return tmp_path


def test_a_cuda_build_is_refused(script: ModuleType, index: Path) -> None:
    add_wheel(index, "torch", "2.13.0", "nvidia-cublas")
    add_wheel(index, "nvidia_cublas", "13.0")
    with pytest.raises(script.SetupError, match=r"cannot be reached; .* offers a CUDA build \(nvidia-cublas"):
        script.choose_cpu_build(sys.executable)


def test_a_cpu_build_of_the_configured_index_is_taken(script: ModuleType, index: Path) -> None:
    add_wheel(index, "torch", "2.13.0", "nvidia-cublas")
    add_wheel(index, "torch", "2.13.0+cpu", "filelock")
    add_wheel(index, "filelock", "3.0")
    assert script.choose_cpu_build(sys.executable) == []


def test_no_pytorch_at_all_is_said(script: ModuleType, index: Path) -> None:
    with pytest.raises(script.SetupError, match=r"does not offer torch==2\.13\.0"):
        script.choose_cpu_build(sys.executable)


def test_set_up_runs_again_when_the_packages_change(script: ModuleType, tmp_path: Path) -> None:
    script.STAMP = tmp_path / "stamp"
    assert not script.is_done("a")
    script.STAMP.write_text("a")
    assert script.is_done("a") and not script.is_done("b")


def test_a_python_without_venv_names_the_package_to_install(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\ncase "$2" in *ensurepip*) exit 1;; esac\nexec {sys.executable} "$@"\n')
    bare.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))  # no apt-get there
    script.VENV = tmp_path / "venv"
    package = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
    with pytest.raises(script.SetupError, match=f"sudo apt-get install {package}"):
        script.make_venv(str(bare))
    assert not script.VENV.exists()
