"""Transcripts of local models' families, Qwen's and UI-TARS's: whole conversations in their own words.

Messages are as `qwen-vl-utils` and most chat templates read them: a content of {"type": "image", "image": PATH} and
{"type": "text", "text": ...}.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from uigym.exchange.conversation import Message, Reply, rows, told
from uigym.exchange.demonstration import Demonstration
from uigym.exchange.formats import Lines, Options, Pictures, Wording, Write
from uigym.exchange.told import Told, files, objects, picture


def writing(*codecs: str) -> Callable[[Path, Options, Wording], AbstractContextManager[Write]]:
    """How transcripts of a family are written.

    Args:
        codecs: Of the family; the first unless the options name another of them.
    """

    @contextmanager
    def write_all(out: Path, options: Options, wording: Wording) -> Iterator[Write]:
        codec = options.codec if options.codec in codecs else codecs[0]
        chosen = replace(options, codec=codec, context="full")
        pictures = Pictures(out)
        with Lines(out) as lines:

            def write(demonstration: Demonstration) -> None:
                (row,) = rows(demonstration, chosen, wording)
                messages = [_message(message, demonstration, pictures) for message in row.messages]
                about = {**demonstration.about(), "codec": codec}
                lines.write(f"{demonstration.split}.jsonl", {"messages": messages, "uigym": about})

            yield write

    return write_all


def _message(message: Message, demonstration: Demonstration, pictures: Pictures) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if message.image:
        content.append({"type": "image", "image": pictures.put(demonstration.store, message.image)})
    if message.text:
        content.append({"type": "text", "text": message.text})
    return {"role": message.role, "content": content}


def read(path: Path) -> Iterator[Told]:
    """The demonstrations of such a file or folder."""
    for file in files(path, "*.jsonl"):
        for record in objects(file):
            yield told(record["uigym"], list(_replies(record["messages"], file.parent)))


def _replies(messages: list[Mapping[str, Any]], folder: Path) -> Iterator[Reply]:
    png = None
    step = 0
    for message in messages:
        for part in message["content"]:
            if part["type"] == "image":
                png = picture(folder, part["image"])
            elif message["role"] == "assistant":
                yield Reply(step, part["text"], png)
                step += 1
