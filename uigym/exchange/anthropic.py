"""Anthropic's Messages API: a JSON line a demonstration, with tool_use blocks of `computer_toolset_20260801`.

What works only where a harness grants it is of `browser_toolset_20260801` where that has a word, else a tool of its
own. The end is a message without a tool. Pictures are by path: give `source` the file's bytes before sending it.
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
from uigym.policy.codecs.granted import ARGUMENTS

CODEC = "anthropic"
TOOLSETS = {"computer": "computer_toolset_20260801", "browser": "browser_toolset_20260801"}
_OF_BROWSER = ("navigate", "switch_tab")


def _record(demonstration: Demonstration, said: list[Any], pictures: Pictures) -> dict[str, Any]:
    episode = demonstration.episode
    first = episode.steps[0].image if episode.steps else episode.final_image
    asked = [{"type": "text", "text": episode.instruction}, _image(demonstration, first, pictures)]
    messages: list[dict[str, Any]] = [{"role": "user", "content": asked}]
    for taken, words in zip(demonstration.steps(), said, strict=True):
        messages += _turn(demonstration, taken, words, pictures)
    used = [block for message in messages for block in message["content"] if block["type"] == "tool_use"]
    return {"tools": _tools(used), "messages": messages, "uigym": {**demonstration.about(), "codec": CODEC}}


writing = lines(CODEC, _record)


def _turn(demonstration: Demonstration, taken: Taken, words: Any, pictures: Pictures) -> Iterator[dict[str, Any]]:
    if isinstance(words, str):
        yield {"role": "assistant", "content": [{"type": "text", "text": words}]}
        return
    blocks = [
        {"type": "tool_use", "id": f"toolu_{taken.index + 1}_{number}", **block, **_toolset(block)}
        for number, block in enumerate(words if isinstance(words, list) else [words], 1)
    ]
    yield {"role": "assistant", "content": blocks}
    results: list[dict[str, Any]] = [
        {"type": "tool_result", "tool_use_id": block["id"], "content": []} for block in blocks
    ]
    if said := told_after(taken.record):
        results[-1]["content"].append({"type": "text", "text": said})
    if following := demonstration.after(taken.index):
        results[-1]["content"].append(_image(demonstration, following, pictures))
    yield {"role": "user", "content": results}


def _toolset(block: Mapping[str, Any]) -> dict[str, str]:
    name = block["name"]
    if name in _OF_BROWSER and set(block["input"]) & {"url", "tab_id"}:
        return {"toolset_name": "browser"}
    return {} if name in ARGUMENTS else {"toolset_name": "computer"}


def _tools(used: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    toolsets = sorted({"computer", *(block["toolset_name"] for block in used if "toolset_name" in block)}, reverse=True)
    own = {block["name"] for block in used if "toolset_name" not in block}
    functions = [definition["function"] for definition in definitions() if definition["function"]["name"] in own]
    return [
        *({"type": TOOLSETS[name]} for name in toolsets),
        *({"name": f["name"], "description": f["description"], "input_schema": f["parameters"]} for f in functions),
    ]


def _image(demonstration: Demonstration, name: str, pictures: Pictures) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "url", "url": pictures.put(demonstration.store, name)}}


# --- reading ---


def read(path: Path) -> Iterator[Told]:
    """The demonstrations of such a file or folder."""
    for file in files(path, "*.jsonl"):
        for record in objects(file):
            yield spoken(record["uigym"], list(_replies(record["messages"], file.parent)))


def _replies(messages: list[Mapping[str, Any]], folder: Path) -> Iterator[Reply]:
    png, step = None, 0
    for message in messages:
        if message["role"] == "assistant":
            blocks = [block for block in message["content"] if block["type"] == "tool_use"]
            yield Reply(step, blocks or message["content"][0]["text"], png)
            step += 1
        for block in message["content"]:
            for part in [block, *(block.get("content") or ())]:
                if part["type"] == "image":
                    png = picture(folder, part["source"]["url"])
