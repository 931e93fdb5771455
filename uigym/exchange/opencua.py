"""OpenCUA's AgentNet: a JSON line a demonstration, actions as pyautogui calls with coordinates from 0 to 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from uigym.exchange.conversation import Reply, told
from uigym.exchange.demonstration import Demonstration
from uigym.exchange.formats import Lines, Options, Pictures, Wording, Write
from uigym.exchange.told import Told, files, objects, picture

CODEC = "pyautogui"


@contextmanager
def writing(out: Path, options: Options, wording: Wording) -> Iterator[Write]:
    """Writes `out`/SPLIT.jsonl and `out`/images."""
    pictures = Pictures(out)
    with Lines(out) as lines:

        def write(demonstration: Demonstration) -> None:
            codes = [wording.say(CODEC, taken) for taken in demonstration.steps()]
            lines.write(f"{demonstration.split}.jsonl", _record(demonstration, codes, pictures))

        yield write


def _record(demonstration: Demonstration, codes: list[str], pictures: Pictures) -> dict[str, Any]:
    episode, about = demonstration.episode, demonstration.about()
    steps = []
    for index, (record, code) in enumerate(zip(episode.steps, codes, strict=True)):
        image = pictures.put(demonstration.store, record.image).removeprefix("images/")
        value = {"observation": "", "thought": record.text, "action": "", "code": code}
        steps.append({"index": index, "image": image, "value": value})
    return {
        "task_id": demonstration.id,
        "instruction": episode.instruction,
        "task_completed": about["success"],
        "traj": steps,
        "uigym": {**about, "codec": CODEC},
    }


def read(path: Path) -> Iterator[Told]:
    """The demonstrations of a file of AgentNet's layout, or of a folder of them; pictures in `images` beside it.

    A file of others says no viewport: it is taken to be as large as the first picture, and actions are then in px of that.
    """
    for file in files(path, "*.jsonl", "*.json"):
        for record in objects(file):
            yield _told(record, file.parent)


def _told(record: Mapping[str, Any], folder: Path) -> Told:
    replies = [
        Reply(number, str((step.get("value") or {}).get("code", "")), _picture(step.get("image"), folder))
        for number, step in enumerate(record.get("traj") or ())
    ]
    own = record.get("uigym")
    about = own if isinstance(own, Mapping) else {}
    said = {"id": record.get("task_id"), "instruction": record.get("instruction"), "codec": CODEC}
    return told({**said, **about, "codec": CODEC}, replies)


def _picture(name: Any, folder: Path) -> bytes | None:
    return picture(folder / "images", name) or picture(folder, name)
