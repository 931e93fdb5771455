"""What the programs that exports are for make of them. Runs in their own environment, knows nothing of uigym.

    python formats.py NAME FOLDER [MODEL] > answer.json

NAME is a format; what is answered depends on it. MODEL is a checkpoint, for trl.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error", "DISABLE_VERSION_CHECK": "1"}


def lines(folder: Path) -> list[dict[str, Any]]:
    """All records of the folder's JSON lines."""
    return [json.loads(line) for file in sorted(folder.glob("*.jsonl")) for line in file.read_text().splitlines()]


def hf(folder: Path) -> Any:
    """Rows by split, the kinds of the columns, and what the rows of the training split hold."""
    from datasets import load_dataset

    data = load_dataset(str(folder))
    train = data["train"]
    return {
        "rows": {split: len(rows) for split, rows in data.items()},
        "image": type(train.features["image"]).__name__,
        "sizes": [list(row["image"].size) for row in train],
        "actions": train["action"][:],
        "rewards": train["reward"][:],
    }


def trl(folder: Path, model: str) -> Any:
    """The loss of a step of supervised fine-tuning, and how many weights it changed."""
    import torch
    from datasets import load_dataset
    from transformers import AutoModelForImageTextToText
    from trl import SFTConfig, SFTTrainer

    torch.manual_seed(0)
    torch.set_num_threads(1)
    processor = _processor(model)
    pupil = AutoModelForImageTextToText.from_pretrained(model, dtype=torch.float32)
    before = {name: weight.clone() for name, weight in pupil.state_dict().items()}
    config = SFTConfig(
        output_dir=str(folder.parent / "trained"),
        max_steps=1,
        per_device_train_batch_size=2,
        learning_rate=1e-3,
        max_length=None,
        report_to=[],
        save_strategy="no",
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
    )
    data = load_dataset(str(folder), split="train")
    trainer = SFTTrainer(pupil, config, train_dataset=data, processing_class=processor)
    batch = next(iter(trainer.get_train_dataloader()))
    learnt = [processor.tokenizer.decode(row[row >= 0]) for row in batch["labels"]]
    loss = trainer.train().training_loss
    changed = sum(bool((before[name] != weight).any()) for name, weight in pupil.state_dict().items())
    return {"loss": loss, "changed": changed, "of": len(before), "learnt": learnt, "columns": data.column_names}


def _processor(model: str) -> Any:
    """The checkpoint's processor without its part for videos, which alone needs torchvision."""
    from transformers import AutoTokenizer, Qwen2VLImageProcessorPil
    from transformers.models.qwen3_vl.processing_qwen3_vl import Qwen3VLProcessor

    class Processor(Qwen3VLProcessor):
        def check_argument_for_proper_class(self, argument_name: str, argument: Any) -> Any:
            video = argument_name == "video_processor"
            return type(argument) if video else super().check_argument_for_proper_class(argument_name, argument)

    tokenizer = AutoTokenizer.from_pretrained(model)
    pictures = Qwen2VLImageProcessorPil.from_pretrained(model)
    return Processor(pictures, tokenizer, None, chat_template=tokenizer.chat_template)


def llamafactory(folder: Path) -> Any:
    """The messages and pictures of each row, as its loader hands them to the template."""
    import peft  # noqa: F401  before torchaudio, which is stood in for: no build of it fits, and no sound is loaded
    import trl  # noqa: F401

    sys.modules["torchaudio"] = type(sys)("torchaudio")
    from llamafactory.data.loader import _get_merged_dataset
    from llamafactory.hparams import DataArguments, ModelArguments
    from transformers import Seq2SeqTrainingArguments

    args = DataArguments(dataset="uigym_train", dataset_dir=str(folder))
    training = Seq2SeqTrainingArguments(output_dir=str(folder.parent / "trained"), use_cpu=True, report_to=[])
    rows = _get_merged_dataset(args.dataset, ModelArguments(model_name_or_path="none"), args, training, stage="sft")
    return [{name: row[f"_{name}"] for name in ("prompt", "response", "system", "images")} for row in rows]


def atif(folder: Path) -> Any:
    """What is wrong with each file, by the models and the validator of the format's authors."""
    from harbor.models.trajectories import Trajectory
    from harbor.utils.trajectory_validator import TrajectoryValidator

    found = {}
    for file in sorted(folder.glob("*.json")):
        validator = TrajectoryValidator()
        validator.validate(file)
        told = Trajectory.model_validate_json(file.read_text())
        found[file.name] = {"errors": validator.errors, "steps": len(told.steps), "pictures": told.has_multimodal_content()}  # fmt: skip
    return found


def openai(folder: Path) -> Any:
    """How many items of each conversation are such as the API takes."""
    from openai.types.responses import ResponseInputItemParam, ToolParam

    return [{"input": check(ResponseInputItemParam, r["input"]), "tools": check(ToolParam, r["tools"])} for r in lines(folder)]  # fmt: skip


def anthropic(folder: Path) -> Any:
    """How many messages of each conversation are such as the API takes."""
    from anthropic.types.beta import BetaMessageParam, BetaToolUnionParam

    return [{"messages": check(BetaMessageParam, r["messages"]), "tools": check(BetaToolUnionParam, r["tools"])} for r in lines(folder)]  # fmt: skip


def check(kind: Any, values: list[Any]) -> int:
    """How many there are; all must be of this kind."""
    from pydantic import TypeAdapter

    for value in values:
        TypeAdapter(kind).validate_python(value)
    return len(values)


FORMATS: dict[str, Callable[..., Any]] = {f.__name__: f for f in (hf, trl, llamafactory, atif, openai, anthropic)}

if __name__ == "__main__":
    name, folder, *more = sys.argv[1:]
    answer, sys.stdout = sys.stdout, sys.stderr
    print(json.dumps(FORMATS[name](Path(folder), *more)), file=answer)
