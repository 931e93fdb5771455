#!/usr/bin/env python3
"""Set-up of a checkout: virtual environment, packages, PyTorch, Chromium. `make` calls it; a second call is instant.

    python3 scripts/setup.py [--without-browser]

Needs nothing but the standard library. PyTorch comes as a CPU build where there is no NVIDIA GPU: a candidate is
first resolved without installing it, and one that would bring CUDA packages is passed over.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "uigym-setup.txt"
OLDEST = (3, 11)
PYTHONS = ("python3", "python3.13", "python3.12", "python3.11", "python3.14")
TORCH = "torch==2.13.0"
CPU_INDEX = "https://download.pytorch.org/whl/cpu"  # PyTorch's own index of CPU builds
CUDA_PACKAGES = ("nvidia-", "cuda-", "triton", "pytorch-triton")
REACH_TIMEOUT_S = 5.0
DATABASES = {
    "postgresql": lambda: any(Path("/usr/lib/postgresql").glob("*/bin/initdb")) or bool(shutil.which("initdb")),
    "mariadb-server": lambda: bool(shutil.which("mariadbd") or shutil.which("mysqld")),
}
"""Debian's packages of the servers that some tests start, and whether they are there."""


class SetupError(Exception):
    """Set-up cannot go on; the text says why and what to do."""


def say(text: str) -> None:
    """Print a line of progress at once, so that it stands before the output of the commands that follow."""
    print(f"setup: {text}", flush=True)  # noqa: T201


def run(*command: str | Path) -> None:
    """Run a command and show its output.

    Raises:
        SetupError: It did not end with 0.
    """
    words = [str(word) for word in command]
    status = subprocess.run(words, cwd=ROOT, check=False).returncode
    if status:
        raise SetupError(f"`{' '.join(words)}` ended with {status}; its output above says why. Mend it and run again.")


def pip_install(python: str | Path, *what: str) -> None:
    """`pip install`, quiet unless it fails.

    Raises:
        SetupError: It did not end with 0.
    """
    words = [str(python), "-m", "pip", "install", "-q", *what]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.stderr.write(done.stdout + done.stderr)
        raise SetupError(f"`{' '.join(words)}` failed; its output above says why. Mend it and run again.")


# --- Python and the virtual environment --------------------------------------------------------------------


def find_python() -> str:
    """An interpreter that is new enough: this one, or one of that name on the PATH.

    Raises:
        SetupError: There is none.
    """
    if sys.version_info >= OLDEST:
        return sys.executable
    ask = f"import sys; sys.exit(sys.version_info < {OLDEST!r})"
    for name in PYTHONS:
        path = shutil.which(name)
        if path and subprocess.run([path, "-c", ask], check=False).returncode == 0:
            return path
    raise SetupError(
        f"uigym needs Python {OLDEST[0]}.{OLDEST[1]} or newer; this is {platform.python_version()}. "
        "Install a newer one, or name it: make PYTHON=/path/to/python3"
    )


def make_venv(python: str) -> Path:
    """Create `.venv` unless a working one is there, and give its interpreter."""
    inside = VENV / "bin" / "python"
    if _works(inside, "import pip"):
        return inside
    if not _works(python, "import ensurepip"):
        _install_venv_module(python)
    say(f"virtual environment {VENV} with {python}")
    run(python, "-m", "venv", "--clear", VENV)
    return inside


def _works(python: str | Path, code: str) -> bool:
    try:
        return subprocess.run([str(python), "-c", code], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _install_venv_module(python: str) -> None:
    code = "import sys; print('python%d.%d-venv' % sys.version_info[:2])"
    package = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    advice = f"{python} cannot make a virtual environment. Install the missing part: sudo apt-get install {package}"
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise SetupError(advice)
    say(f"apt-get install {package}")
    subprocess.run(["apt-get", "update", "-qq"], check=False)
    status = subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", package], check=False)
    if status.returncode or not _works(python, "import ensurepip"):
        raise SetupError(advice)


# --- PyTorch -----------------------------------------------------------------------------------------------


def has_nvidia_gpu() -> bool:
    """Whether this machine has a GPU that a CUDA build of PyTorch could use."""
    gpus = Path("/proc/driver/nvidia/gpus")
    if gpus.is_dir() and any(gpus.iterdir()):
        return True
    smi = shutil.which("nvidia-smi")
    return bool(smi) and subprocess.run([str(smi), "-L"], capture_output=True, check=False).returncode == 0


def brings_cuda(report: dict[str, list[dict[str, dict[str, str]]]]) -> list[str]:
    """The CUDA packages among what pip would install, by pip's installation report."""
    names = [item["metadata"]["name"].lower().replace("_", "-") for item in report["install"]]
    return sorted(name for name in names if name.startswith(CUDA_PACKAGES))


def resolve(python: str | Path, options: list[str]) -> dict[str, list[dict[str, dict[str, str]]]] | None:
    """What `pip install TORCH` would install with these options; None if it finds nothing.

    Where the index serves metadata beside its files, as PyPI does, nothing is downloaded.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [
            str(python),
            "-m",
            "pip",
            "install",
            "-q",
            "--dry-run",
            "--ignore-installed",
            "--report",
            str(report),
        ]
        done = subprocess.run([*command, *options, TORCH], capture_output=True, text=True, check=False)
        return json.loads(report.read_text()) if done.returncode == 0 else None


def reachable(url: str, timeout_s: float = REACH_TIMEOUT_S) -> bool:
    """Whether a server answers at the address at all."""
    try:
        with urllib.request.urlopen(url, timeout=timeout_s):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


def install_torch(python: str | Path) -> None:
    """Install a PyTorch that fits the machine, never several GB of CUDA for nothing.

    Raises:
        SetupError: Only CUDA builds are on offer and there is no GPU.
    """
    if _works(python, "import torch"):
        return
    if platform.system() != "Linux" or has_nvidia_gpu():
        say(f"PyTorch: {TORCH} from the configured index")
        pip_install(python, TORCH)
        return
    options = choose_cpu_build(python)
    say(f"PyTorch: CPU build {TORCH} {' '.join(options) or 'from the configured index'}")
    pip_install(python, *options, TORCH)


def choose_cpu_build(python: str | Path) -> list[str]:
    """The pip options with which TORCH comes without CUDA.

    Raises:
        SetupError: There are none.
    """
    tried = []
    for options, where in ((["--index-url", CPU_INDEX], CPU_INDEX), ([], "the configured index")):
        if options and not reachable(f"{CPU_INDEX}/torch/"):
            tried.append(f"{where} cannot be reached")
            continue
        report = resolve(python, options)
        if report is None:
            tried.append(f"{where} does not offer {TORCH}")
        elif brings_cuda(report):
            tried.append(f"{where} offers a CUDA build ({', '.join(brings_cuda(report)[:3])}, ...)")
        else:
            return options
    raise SetupError(
        f"no CPU build of {TORCH} found, and this machine has no NVIDIA GPU: {'; '.join(tried)}. "
        f"Install one into {VENV} by hand (see https://pytorch.org/get-started/locally) and run again."
    )


# --- all of it ---------------------------------------------------------------------------------------------


def fingerprint() -> str:
    """Changes when the packages or this script do: then set-up runs again."""
    return hashlib.sha256((ROOT / "pyproject.toml").read_bytes() + Path(__file__).read_bytes()).hexdigest()


def is_done(wanted: str) -> bool:
    """Whether set-up has ended before, for this state of the checkout."""
    return STAMP.is_file() and STAMP.read_text() == wanted


def setup(browser: bool) -> None:
    """Make the checkout ready for use; does nothing if it is."""
    wanted = f"{fingerprint()} browser={browser}"
    if is_done(wanted) or is_done(f"{fingerprint()} browser=True"):
        return
    python = make_venv(find_python())
    say("packages (a few minutes the first time)")
    pip_install(python, "--upgrade", "pip>=24")  # older ones download whole files to resolve
    install_torch(python)
    pip_install(python, "-e", f"{ROOT}[train,dev]")
    if browser:
        run(VENV / "bin" / "uigym", "install-browser")
    install_databases()
    STAMP.write_text(wanted)
    say("ready; the uigym command is at hand after: . .venv/bin/activate")


def install_databases() -> None:
    """PostgreSQL and MariaDB from Debian, which their tests start themselves; without them those tests are skipped."""
    missing = [package for package, there in DATABASES.items() if not there()]
    if not missing:
        return
    command = f"apt-get install -y --no-install-recommends {' '.join(missing)}"
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        say(f"without {', '.join(missing)} their tests are skipped; to have them: sudo {command}")
        return
    say(command)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}  # install, do not start
    subprocess.run(["apt-get", "update", "-qq"], check=False, env=environment, stdout=subprocess.DEVNULL)
    done = subprocess.run(command.split(), check=False, env=environment, capture_output=True, text=True)
    if done.returncode:
        say(f"`{command}` failed, so the tests of these databases are skipped:\n{done.stderr[-2000:]}")


def main() -> int:
    """Exit code: 0 when the checkout is ready, 1 with one message when it cannot be made so."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--without-browser", action="store_true", help="leave Chromium and fonts alone")
    try:
        setup(browser=not parser.parse_args().without_browser)
    except SetupError as error:
        sys.stderr.write(f"setup: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("setup: interrupted; run again to go on\n")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
