"""Model families: how each lays out a conversation with pictures as ids, and how its forward pass wants them."""

from __future__ import annotations

from pathlib import Path

from uigym.errors import ConfigError, MissingExtra

try:
    import torch as _torch  # noqa: F401
    from transformers.utils import logging as _logging
except ImportError as exc:
    raise MissingExtra(f"model families need torch and transformers; {exc.name}", "train") from exc

from uigym.models.families import idefics, qwen
from uigym.models.families.base import read_json
from uigym.models.families.family import Family as Family
from uigym.models.families.tiny import Tiny
from uigym.models.families.tokens import Tokens
from uigym.models.tiny import tiny_checkpoint
from uigym.train.windows import Picture

_logging.disable_progress_bar()


def open(folder: str | Path, *, codec: str | None = None, thinking: bool = False) -> Family:
    """The family of a checkpoint, with its tokenizer; the weights are not read.

    Args:
        folder: Of the checkpoint, as transformers saves it; "tiny" is the one that ships with uigym.
        codec: That its replies are read with; None is the family's own.
        thinking: Whether a model that can think aloud is asked to.

    Raises:
        ConfigError: There is no such folder, or no family knows its architecture.
    """
    where = tiny_checkpoint() if str(folder) == "tiny" else Path(folder)
    if not (where / "config.json").is_file():
        raise ConfigError(f"no checkpoint in {where}: expected a folder with config.json and model.safetensors")
    kind = read_json(where / "config.json").get("model_type")
    if kind == "qwen3_vl" and codec in (None, "tiny") and Tokens(where).find("<click>") is not None:
        return Tiny(where)
    if kind in qwen.KINDS:
        return qwen.Qwen(where, codec or qwen.KINDS[kind], thinking=thinking)
    if kind in idefics.KINDS:
        return idefics.Idefics(where, codec or idefics.KINDS[kind])
    known = ", ".join([*qwen.KINDS, *idefics.KINDS])
    raise ConfigError(f"{where} holds a {kind!r} model; expected one of {known}")


def exact(family: Family, width: int, height: int) -> Picture:
    """How a viewport of that size is shown, which must be without resizing: ask before the first episode.

    A resized screenshot costs sharpness, and sampler and trainer may resize it differently.

    Raises:
        ConfigError: It would be resized; the text names the nearest size that is not.
    """
    picture = family.picture("", width, height)
    if (picture.width, picture.height) != (width, height):
        raise ConfigError(
            f"a viewport of {width} x {height} px would be resized for {family.name}; take {picture.width} x {picture.height} px"
        )
    return picture
