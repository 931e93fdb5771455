"""The Agent Data Protocol, version 1.2.0: a JSON line a demonstration, actions as API calls in uigym's own words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from uigym.exchange.calls import call_of, heard
from uigym.exchange.conversation import tell
from uigym.exchange.demonstration import Demonstration
from uigym.exchange.formats import Lines, Options, Pictures, Wording, Write
from uigym.exchange.told import Told, ToldStep, files, objects, picture, screen_of
from uigym.policy.chat import told

VERSION = "1.2.0"


@contextmanager
def writing(out: Path, options: Options, wording: Wording) -> Iterator[Write]:
    """Writes `out`/SPLIT.jsonl and `out`/images."""
    pictures = Pictures(out)
    with Lines(out) as lines:

        def write(demonstration: Demonstration) -> None:
            lines.write(f"{demonstration.split}.jsonl", trajectory(demonstration, pictures))

        yield write


def trajectory(demonstration: Demonstration, pictures: Pictures) -> dict[str, Any]:
    """A demonstration as ADP's root object."""
    episode = demonstration.episode
    first = episode.steps[0].image if episode.steps else episode.final_image
    content = [_text(episode.instruction, "user"), _image(demonstration, first, pictures)]
    for index in range(len(episode.steps)):
        content += _step(demonstration, index, pictures)
    details = demonstration.about()
    tools = sorted({call_of(step.action)[0] for step in episode.steps})
    return {
        "schema_version": VERSION,
        "id": demonstration.id,
        "content": content,
        "available_custom_tools": tools,
        "details": details,
    }


def _step(demonstration: Demonstration, index: int, pictures: Pictures) -> Iterator[dict[str, Any]]:
    record = demonstration.episode.steps[index]
    name, (function, kwargs) = f"call_{index + 1:06d}", call_of(record.action)
    last = index + 1 == len(demonstration.episode.steps)
    reward = demonstration.episode.reward if last else None
    action = {"class_": "api_action", "function": function, "kwargs": kwargs, "tool_call_id": name}
    yield action | ({"description": record.text} if record.text else {}) | ({"reward": reward} if last else {})
    if following := demonstration.after(index):
        yield {**_image(demonstration, following, pictures), "tool_call_id": name}
    else:
        yield {**_text("The episode is over.", "environment"), "tool_call_id": name}
    if said := told(record):
        yield _text(said, "environment")


def _text(content: str, source: str) -> dict[str, Any]:
    return {"class_": "text_observation", "content": content, "source": source}


def _image(demonstration: Demonstration, name: str, pictures: Pictures) -> dict[str, Any]:
    path = pictures.put(demonstration.store, name)
    return {"class_": "image_observation", "content": path, "source": "environment"}


# --- reading ---


def read(path: Path) -> Iterator[Told]:
    """The demonstrations of an ADP file, or of a folder of them."""
    for file in files(path, "*.jsonl", "*.json"):
        for record in objects(file):
            yield _told(record, file.parent)


def _told(record: Mapping[str, Any], folder: Path) -> Told:
    details = record.get("details") or {}
    instruction, png, screen = "", None, None
    steps: list[ToldStep] = []
    for item in record.get("content") or ():
        match item.get("class_"):
            case "text_observation" if item.get("source") == "user":
                instruction = "\n".join(filter(None, (instruction, str(item.get("content", "")))))
            case "image_observation":
                png = picture(folder, item.get("content"))
            case "web_observation":
                png = picture(folder, (item.get("image_observation") or {}).get("content"))
            case "api_action":
                screen = screen or screen_of(details, png)
                text = item.get("description") or ""
                actions = heard(item.get("function"), item.get("kwargs"), screen)
                steps += [ToldStep(action, png, str(text)) for action in actions]
    about = {"id": record.get("id"), **details, "instruction": instruction}
    return tell(about, screen or screen_of(details, png), steps)
