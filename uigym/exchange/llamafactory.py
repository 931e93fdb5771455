"""LLaMA-Factory: conversations as JSON lines, pictures by path, and the dataset_info.json that makes them known.

Train with `dataset_dir: OUT`, `dataset: uigym_train`, and, unless whole episodes were written, `mask_history: true`,
so that each reply is learnt once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from uigym.exchange.conversation import Message, Reply, gathered, rows
from uigym.exchange.demonstration import Demonstration
from uigym.exchange.formats import Lines, Options, Pictures, Wording, Write
from uigym.exchange.told import Told, files, objects, picture
from uigym.exchange.words import Unsayable

PLACE = "<image>"
"""Stands for a picture in a message's text."""
_PLACES = re.compile("<image>|<video>|<audio>")
_TAGS = {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant", "system_tag": "system"}  # fmt: skip


@contextmanager
def writing(out: Path, options: Options, wording: Wording) -> Iterator[Write]:
    """Writes `out`/SPLIT.jsonl, `out`/images and `out`/dataset_info.json."""
    pictures = Pictures(out)
    info: dict[str, Any] = {}
    with Lines(out) as lines:

        def write(demonstration: Demonstration) -> None:
            about = {**demonstration.about(), "codec": options.codec}
            records: list[dict[str, Any]] = []
            for row in rows(demonstration, options, wording):
                messages = [_message(message) for message in row.messages]
                told = json.dumps({**about, "step": row.step})
                records.append({"messages": messages, "images": row.images, "uigym": told})
            for record in records:
                record["images"] = [pictures.put(demonstration.store, str(name)) for name in record["images"]]
                lines.write(f"{demonstration.split}.jsonl", record)
            info[f"uigym_{demonstration.split}"] = _info(f"{demonstration.split}.jsonl")

        yield write
    (out / "dataset_info.json").write_text(json.dumps(info, indent=2) + "\n", encoding="utf-8")


def _info(file: str) -> dict[str, Any]:
    columns = {"messages": "messages", "images": "images"}
    return {"file_name": file, "formatting": "sharegpt", "columns": columns, "tags": _TAGS}


def _message(message: Message) -> dict[str, str]:
    if found := _PLACES.search(message.text):
        raise Unsayable(f"its text holds {found[0]}, which would stand for a file there")
    return {"role": message.role, "content": (PLACE if message.image else "") + message.text}


def read(path: Path) -> Iterator[Told]:
    """The demonstrations of such a file or folder."""
    return gathered(_row(record, file.parent) for file in files(path, "*.jsonl") for record in objects(file))


def _row(record: Mapping[str, Any], folder: Path) -> tuple[Mapping[str, Any], list[Reply]]:
    about = json.loads(record["uigym"])
    said = [message["content"] for message in record["messages"] if message["role"] == "assistant"]
    pngs = [picture(folder, name) for name in record["images"]]
    replies = [Reply(step, words, png) for step, (words, png) in enumerate(zip(said, pngs, strict=True))]
    if about["step"] is None:
        return about, replies
    return about, [Reply(about["step"], replies[-1].words, replies[-1].png)]
