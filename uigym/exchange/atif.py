"""ATIF v1.7, the Agent Trajectory Interchange Format: one JSON file a demonstration, pictures beside it by path.

Actions are tool calls in uigym's own words, so that nothing of them is lost. Specification and models: the package
`harbor`, `harbor.models.trajectories`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uigym
from uigym.exchange.calls import call_of, definitions, heard
from uigym.exchange.conversation import tell
from uigym.exchange.demonstration import Demonstration
from uigym.exchange.formats import Options, Pictures, Wording, Write
from uigym.exchange.told import Told, ToldStep, files, objects, picture, screen_of
from uigym.policy.chat import told

VERSION = "ATIF-v1.7"


@contextmanager
def writing(out: Path, options: Options, wording: Wording) -> Iterator[Write]:
    """Writes `out`/ID.json and `out`/images."""
    pictures = Pictures(out)

    def write(demonstration: Demonstration) -> None:
        record = trajectory(demonstration, pictures)
        (out / f"{demonstration.id}.json").write_text(json.dumps(record, ensure_ascii=False), encoding="utf-8")

    yield write


def trajectory(demonstration: Demonstration, pictures: Pictures) -> dict[str, Any]:
    """A demonstration as ATIF's root object."""
    episode = demonstration.episode
    return {
        "schema_version": VERSION,
        "session_id": episode.group or demonstration.id,
        "trajectory_id": demonstration.id,
        "agent": {"name": "uigym", "version": uigym.__version__, "tool_definitions": definitions()},
        "steps": [
            {"step_id": 1, "source": "user", "message": _asked(demonstration, pictures)},
            *(_step(demonstration, index, pictures) for index in range(len(episode.steps))),
        ],
        "final_metrics": {"total_steps": len(episode.steps) + 1},
        "extra": demonstration.about(),
    }


def _asked(demonstration: Demonstration, pictures: Pictures) -> list[dict[str, Any]]:
    episode = demonstration.episode
    first = episode.steps[0].image if episode.steps else episode.final_image
    return [{"type": "text", "text": episode.instruction}, _image(demonstration, first, pictures)]


def _step(demonstration: Demonstration, index: int, pictures: Pictures) -> dict[str, Any]:
    record = demonstration.episode.steps[index]
    name = f"call_{index + 1}"
    function, arguments = call_of(record.action)
    call = {"tool_call_id": name, "function_name": function, "arguments": arguments}
    following = demonstration.after(index)
    said = told(record)
    content: list[dict[str, Any]] = [{"type": "text", "text": said}] if said else []
    content += [_image(demonstration, following, pictures)] if following else []
    return {
        "step_id": index + 2,
        "source": "agent",
        "message": record.text,
        "tool_calls": [call],
        "observation": {"results": [{"source_call_id": name, "content": content}]},
        "extra": {"settled": record.settled, "latency_ms": record.latency_ms},
    }


def _image(demonstration: Demonstration, name: str, pictures: Pictures) -> dict[str, Any]:
    path = pictures.put(demonstration.store, name)
    return {"type": "image", "source": {"media_type": "image/png", "path": path}}


# --- reading ---


def read(path: Path) -> Iterator[Told]:
    """The demonstrations of one ATIF file, or of a folder of them.

    Calls in the words of Anthropic's, OpenAI's and Qwen's tools are read too; what is none of an action is `Invalid`.
    """
    for file in files(path, "*.json"):
        for record in objects(file):
            yield _told(record, file.parent)


def _told(record: Mapping[str, Any], folder: Path) -> Told:
    about = record.get("extra") or {}
    instruction, png = "", None
    steps: list[ToldStep] = []
    screen = None
    for step in record.get("steps") or ():
        if step.get("source") == "user":
            text, shown = _content(step.get("message"), folder)
            instruction = "\n".join(filter(None, (instruction, text)))
            png = shown or png
        elif step.get("source") == "agent":
            screen = screen or screen_of(about, png)
            for call in step.get("tool_calls") or ():
                for action in heard(call.get("function_name"), call.get("arguments"), screen):
                    steps.append(ToldStep(action, png, _content(step.get("message"), folder)[0]))
        for result in (step.get("observation") or {}).get("results") or ():
            png = _content(result.get("content"), folder)[1] or png
    name = record.get("trajectory_id") or record.get("session_id")
    return tell({"id": name, **about, "instruction": instruction}, screen or screen_of(about, png), steps)


def _content(content: Any, folder: Path) -> tuple[str, bytes | None]:
    """The text of a message, and its last picture."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else "", None
    texts = [part["text"] for part in content if part.get("type") == "text" and isinstance(part.get("text"), str)]
    paths = [(part.get("source") or {}).get("path") for part in content if part.get("type") == "image"]
    return "\n".join(texts), picture(folder, paths[-1]) if paths else None
