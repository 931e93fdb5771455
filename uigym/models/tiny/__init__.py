"""The tiny model: a Qwen3-VL of a few million parameters that reads and clicks, made on generic pages.

It is the default policy wherever no checkpoint is named. `make tiny-model` builds it from nothing.
"""

from importlib.resources import files
from pathlib import Path


def tiny_checkpoint() -> Path:
    """Folder of the checkpoint that ships with the package."""
    return Path(str(files("uigym"))) / "models" / "tiny" / "checkpoint"
