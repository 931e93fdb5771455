"""One episode as it is on disk, however damaged: what can be read is shown, and what cannot is said.

The store refuses what it cannot trust, for training must not learn from it. A person who looks for what went wrong
wants to see the rest.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from uigym.record.demo import CHANGED
from uigym.report.film import caption, png_size
from uigym.state import State, state_from_json
from uigym.store import digest, step_from_json
from uigym.types import NOTHING_OPEN, Invalid, StepRecord

Record = Mapping[str, Any]
HASH = frozenset("0123456789abcdef")
UNREADABLE = (OSError, ValueError, RecursionError)
"""What reading JSON that a stranger may have written can end in."""

_KINDS: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("refusals", "console", "watched", "downloads"), list),
    **dict.fromkeys(("verdict", "failure", "params", "appearance"), dict),
    **dict.fromkeys(("scale", "wall_s"), (int, float)),
}


@dataclass(frozen=True, slots=True)
class Recorded:
    """An episode's records, as JSON values."""

    id: str
    folder: Path
    """Of the run."""
    manifest: Record
    steps: list[dict[str, Any]]
    demo: Record | None
    problems: tuple[str, ...] = ()
    """What could not be read, and why."""

    @property
    def scale(self) -> float:
        """Pixels of the pictures per CSS px."""
        return float(self.manifest.get("scale") or 1.0)

    @property
    def last_image(self) -> str:
        """Hash of the picture after the last action; empty if it was not kept."""
        return str(self.manifest.get("final_image") or "")

    def image(self, number: int) -> str:
        """Hash of the picture before the action of that number, from 0; beyond the last, the picture after it."""
        return str(self.steps[number].get("image", "")) if 0 <= number < len(self.steps) else self.last_image

    def size(self, image: str) -> tuple[int, int]:
        """Of a picture, CSS px; (0, 0) if it is not there."""
        try:
            with image_path(self.folder, image).open("rb") as file:
                width, height = png_size(file.read(24))
        except (OSError, ValueError, ArithmeticError, LookupError):
            return 0, 0
        return round(width / self.scale), round(height / self.scale)


@dataclass(frozen=True, slots=True)
class States:
    """What the product held, and what was watched beside it."""

    before: State = field(default_factory=State)
    after: State = field(default_factory=State)
    network: tuple[Record, ...] = ()
    page: Record | None = None
    problem: str = ""


def read(folder: Path, episode_id: str) -> Recorded | None:
    """An episode of a run folder; None if there is none of that id."""
    if Path(episode_id).name != episode_id or episode_id in ("", ".", ".."):
        return None
    place = folder / "episodes" / episode_id
    if not (place / "episode.json").is_file():
        return None
    problems: list[str] = []
    manifest = dict(_sound(_object(place / "episode.json", problems), problems))
    steps = list(_lines(place / "steps.jsonl", problems))
    told = manifest.get("num_steps")
    if isinstance(told, int) and len(steps) != told:
        problems.append(f"steps.jsonl has {len(steps)} whole lines, the manifest says {told}")
    demo = read_record(place, problems) if (place / "demo.json").is_file() else None
    return Recorded(episode_id, folder, manifest, steps, demo, tuple(problems))


def read_record(place: Path, problems: list[str]) -> Record:
    """The record of a demonstration in an episode's folder; the last proof says so if it is not of these files."""
    told = _object(place / "demo.json", problems)
    notes, proofs = told.get("notes"), told.get("proofs")
    found = [_proof(each) for each in proofs if isinstance(each, dict)] if isinstance(proofs, list) else []
    try:
        if found and told.get("of") not in (None, digest(place, content)):
            found.append(asdict(CHANGED))
    except (OSError, ValueError) as error:
        problems.append(f"it cannot be told what was proven: {error}")
        found.append(asdict(CHANGED))
    return {**told, "notes": notes if isinstance(notes, dict) else {}, "proofs": found}


def counts(record: Record) -> bool | None:
    """Whether the newest proof of such a record says that it counts; None if it has none."""
    last = record["proofs"][-1:]
    return all(last[0].get(name) is True for name in ("same_state", "passes", "idle_fails")) if last else None


def _proof(told: Record) -> dict[str, Any]:
    at = told.get("diverged_at")
    return {**told, "diverged_at": at if isinstance(at, int) else None}


def read_states(folder: Path, episode_id: str) -> States:
    """The states of an episode that `read` has found."""
    problems: list[str] = []
    told = _object(folder / "episodes" / episode_id / "states.json", problems)
    try:
        before, after = (state_from_json(told.get(moment) or {"tables": {}}) for moment in ("before", "after"))
    except (KeyError, TypeError, AttributeError) as error:
        problems.append(f"states.json is not what this version writes ({type(error).__name__}: {error})")
        before = after = State()
    network = tuple(each for each in _list(told.get("network")) if isinstance(each, dict))
    page = told.get("page")
    return States(before, after, network, page if isinstance(page, dict) else None, "; ".join(problems))


def image_path(folder: Path, name: str) -> Path:
    """Where the picture of that hash is, or would be.

    Raises:
        ValueError: It is no hash, or no file of the folder, so that no address and no link leads out of it.
    """
    return inside(folder, folder / "images" / checked(name)[:2] / f"{name}.png")


def kept_path(folder: Path, name: str) -> Path:
    """Where the picture of that hash is that a training run kept, or would be.

    Raises:
        ValueError: As with `image_path`.
    """
    return inside(folder, folder / "pictures" / f"{checked(name)}.webp")


def file_path(folder: Path, name: str) -> Path:
    """Where the downloaded file of that hash is, or would be.

    Raises:
        ValueError: As with `image_path`.
    """
    return inside(folder, folder / "files" / checked(name)[:2] / name)


def inside(folder: Path, path: Path) -> Path:
    """The path, if it is nothing else than a file of the run, or not there.

    Raises:
        ValueError: It leads out of the folder, or is a pipe or a device, which would never end.
    """
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise ValueError(f"{path.name} leads out of the run's folder")
    if path.exists() and not path.is_file():
        raise ValueError(f"{path.name} is no file")
    return path


def content(path: Path) -> bytes:
    """Of a file in an episode's folder.

    Raises:
        OSError, ValueError: It cannot be read, or is none of the run's.
    """
    return inside(path.parents[2], path).read_bytes()


def checked(name: str) -> str:
    """The name, if it is a sha256 in hex.

    Raises:
        ValueError: It is not.
    """
    if len(name) != 64 or not HASH.issuperset(name):
        raise ValueError(f"{name!r:.80} is no hash")
    return name


def step_of(record: Record) -> StepRecord:
    """A line of steps.jsonl; what this version cannot make sense of becomes an `Invalid` that says so."""
    try:
        known = {name: record[name] for name in StepRecord.__dataclass_fields__ if name in record}
        step = step_from_json({"events": (), **known})
        caption(step)  # numbers are numbers, and paths have points
        if not isinstance(step.text, str) or not isinstance(step.error, str | None):
            raise TypeError("text and error are texts")
        return step
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        action = Invalid(json.dumps(record.get("action"), default=str)[:2000], f"cannot be read: {error}")
        return StepRecord(str(record.get("image") or ""), action, str(record.get("text") or ""), open=NOTHING_OPEN)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _sound(manifest: Record, problems: list[str]) -> Iterator[tuple[str, Any]]:
    """The fields of a manifest that are of the kind that they must be; of the others it is said."""
    for name, value in manifest.items():
        kind = _KINDS.get(name)
        if kind is None or value is None or (isinstance(value, kind) and not isinstance(value, bool)):
            yield name, value
        else:
            problems.append(f"episode.json: {name} is {value!r:.60}, which is not what this version writes")


def _lines(path: Path, problems: list[str]) -> Iterator[dict[str, Any]]:
    try:
        lines = content(path).split(b"\n")
    except (OSError, ValueError) as error:
        problems.append(f"{path.name} cannot be read: {getattr(error, 'strerror', None) or error}")
        return
    if lines.pop():
        problems.append(f"the last line of {path.name} was cut off")
    for number, line in enumerate(lines, 1):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict):
            yield found
        else:
            problems.append(f"{path.name}, line {number} is damaged")


def _object(path: Path, problems: list[str]) -> dict[str, Any]:
    try:
        found = json.loads(content(path))
    except UNREADABLE as error:
        problems.append(f"{path.name} cannot be read: {error}")
        return {}
    if not isinstance(found, dict):
        problems.append(f"{path.name} holds no JSON object")
        return {}
    return found
