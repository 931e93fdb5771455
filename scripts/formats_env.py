"""Environments with the programs that exports are for: .venv-formats and .venv-llamafactory. Takes no time if they are there.

PyTorch is the one that uigym itself uses. What a program declares and its reading of data does not need is left out,
so that no other PyTorch is pulled in.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
TORCH = "torch==2.13.0"
ENVIRONMENTS: dict[str, tuple[list[str], list[str]]] = {
    ".venv-formats": (
        [TORCH, "transformers==5.19.0", "datasets==5.2.0", "accelerate", "pillow", "jinja2", "anthropic==2.14.0", "openai==3.57.0"],
        ["trl==1.16.0"],
    ),
    ".venv-llamafactory": (
        [TORCH, "transformers==5.6.0", "datasets==4.0.0", "accelerate==1.11.0", "pillow", "pandas", "omegaconf", "einops", "sentencepiece",
         "tiktoken", "scipy", "protobuf", "pydantic", "pyyaml", "httpx", "jinja2"],
        ["peft==0.18.1", "trl==0.24.0", "llamafactory==0.9.5", "av<=16.0.0"],
    ),
}  # fmt: skip
"""Folder -> (packages with what they need, packages alone)."""
ANY_PYTHON = "harbor==0.26.0"
"""Declares a newer Python than its models need."""


def make(folder: Path, whole: list[str], alone: list[str]) -> None:
    """An environment; a mark is written last."""
    mark = folder / "complete"
    if mark.exists():
        return
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [str(folder / "bin" / "pip"), "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, *whole], check=True)
    subprocess.run([*pip, "--no-deps", *alone], check=True)
    if folder.name == ".venv-formats":
        subprocess.run([*pip, "--no-deps", "--ignore-requires-python", ANY_PYTHON], check=True)
    mark.touch()


if __name__ == "__main__":
    for name, (whole, alone) in ENVIRONMENTS.items():
        make(ROOT / name, whole, alone)
