"""TRL: Parquet of conversations with their pictures, as `SFTTrainer` takes it for vision-language models.

A row for each action has `prompt`, `completion` and `images`, so that the loss is on the reply alone; with whole
episodes (context "full") it has `messages` and `images`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from uigym.exchange.conversation import Message, Reply, Row, gathered, rows, window
from uigym.exchange.demonstration import Demonstration
from uigym.exchange.formats import Options, Wording, Write
from uigym.exchange.tables import IMAGE, TEXT, Table, picture, table_rows
from uigym.exchange.told import Told

_MESSAGES = [{"role": TEXT, "content": [{"type": TEXT, "text": TEXT}]}]


@contextmanager
def writing(out: Path, options: Options, wording: Wording) -> Iterator[Write]:
    """Writes `out`/data/SPLIT-NNNNN.parquet."""
    whole = window(options.context) is None
    texts = ("messages",) if whole else ("prompt", "completion")
    with Table(out, {**dict.fromkeys(texts, _MESSAGES), "images": [IMAGE], "uigym": TEXT}) as table:

        def write(demonstration: Demonstration) -> None:
            about = {**demonstration.about(), "codec": options.codec}
            for row in list(rows(demonstration, options, wording)):
                pngs = {name: demonstration.store.image(name) for name in row.images}
                images = [picture(pngs[name], name) for name in row.images]
                record = {**_texts(row), "images": images, "uigym": json.dumps({**about, "step": row.step})}
                table.write(demonstration.split, record, sum(len(pngs[name]) for name in row.images))

        yield write


def _texts(row: Row) -> dict[str, Any]:
    said = [_message(message) for message in row.messages]
    return {"messages": said} if row.step is None else {"prompt": said[:-1], "completion": said[-1:]}


def _message(message: Message) -> dict[str, Any]:
    content = [{"type": "image", "text": None}] if message.image else []
    if message.text or not content:
        content.append({"type": "text", "text": message.text})
    return {"role": message.role, "content": content}


def read(path: Path) -> Iterator[Told]:
    """The demonstrations of such a file or folder."""
    return gathered(_row(row) for row in table_rows(path))


def _row(row: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[Reply]]:
    about = json.loads(row["uigym"])
    pngs = [image["bytes"] for image in row["images"]]
    if about["step"] is not None:
        return about, [Reply(about["step"], _said(row["completion"][-1]), pngs[-1])]
    said = [_said(message) for message in row["messages"] if message["role"] == "assistant"]
    return about, [Reply(step, words, png) for step, (words, png) in enumerate(zip(said, pngs, strict=True))]


def _said(message: Mapping[str, Any]) -> str:
    parts: Sequence[Mapping[str, Any]] = message["content"]
    return "".join(part["text"] or "" for part in parts if part["type"] == "text")
