"""OpenAI's Responses API: a JSON line a demonstration, with `computer_call` items of the tool `computer`.

What works only where a harness grants it is a function call. The end is a message. Pictures are by path: make them
data URLs before sending it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from uigym.exchange.calls import definitions
from uigym.exchange.conversation import Reply
from uigym.exchange.demonstration import Demonstration, Taken
from uigym.exchange.ending import spoken
from uigym.exchange.formats import Pictures
from uigym.exchange.lines import lines
from uigym.exchange.told import Told, files, objects, picture
from uigym.policy.chat import told as told_after

CODEC = "openai"


def _record(demonstration: Demonstration, said: list[Any], pictures: Pictures) -> dict[str, Any]:
    episode = demonstration.episode
    first = episode.steps[0].image if episode.steps else episode.final_image
    asked = [{"type": "input_text", "text": episode.instruction}, _image(pictures.put(demonstration.store, first))]
    items: list[dict[str, Any]] = [{"type": "message", "role": "user", "content": asked}]
    for taken, words in zip(demonstration.steps(), said, strict=True):
        items += _items(demonstration, taken, words, pictures)
    used = {item["name"] for item in items if item["type"] == "function_call"}
    return {"tools": _tools(used), "input": items, "uigym": {**demonstration.about(), "codec": CODEC}}


writing = lines(CODEC, _record)


def _items(demonstration: Demonstration, taken: Taken, words: Any, pictures: Pictures) -> Iterator[dict[str, Any]]:
    name = f"call_{taken.index + 1}"
    if isinstance(words, str):
        yield {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": words, "annotations": []}], "id": f"msg_{taken.index + 1}", "status": "completed"}  # fmt: skip
        return
    function = words["type"] == "function_call"
    if function:
        yield {"id": f"fc_{taken.index + 1}", "call_id": name, **words, "status": "completed"}
    else:
        state = {"status": "completed", "pending_safety_checks": []}
        yield {"type": "computer_call", "id": f"cu_{taken.index + 1}", "call_id": name, **state, "actions": words.get("actions", [words])}  # fmt: skip
    if following := demonstration.after(taken.index):
        path = pictures.put(demonstration.store, following)
        output: Any = [_image(path)] if function else {"type": "computer_screenshot", "image_url": path}
        kind = "function_call_output" if function else "computer_call_output"
        yield {"type": kind, "call_id": name, "output": output}
    if said := told_after(taken.record):
        yield {"type": "message", "role": "user", "content": [{"type": "input_text", "text": said}]}


def _tools(used: set[str]) -> list[dict[str, Any]]:
    functions = [definition["function"] for definition in definitions() if definition["function"]["name"] in used]
    return [{"type": "computer"}, *({"type": "function", "strict": False, **function} for function in functions)]


def _image(path: str) -> dict[str, Any]:
    return {"type": "input_image", "image_url": path, "detail": "auto"}


# --- reading ---


def read(path: Path) -> Iterator[Told]:
    """The demonstrations of such a file or folder."""
    for file in files(path, "*.jsonl"):
        for record in objects(file):
            yield spoken(record["uigym"], list(_replies(record["input"], file.parent)))


def _replies(items: list[Mapping[str, Any]], folder: Path) -> Iterator[Reply]:
    png, step = None, 0
    for item in items:
        if item["type"] in ("computer_call", "function_call"):
            yield Reply(step, item, png)
            step += 1
        elif item.get("role") == "assistant":
            yield Reply(step, item["content"][0]["text"], png)
        else:
            png = _shown(item, folder) or png


def _shown(item: Mapping[str, Any], folder: Path) -> bytes | None:
    """The picture in a message or an output."""
    content = item.get("content", item.get("output"))
    parts = content if isinstance(content, list) else [content]
    paths = [part["image_url"] for part in parts if "image_url" in part]
    return picture(folder, paths[-1]) if paths else None
