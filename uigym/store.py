"""Episodes on disk: JSON lines and pictures by hash; crash-safe and resumable.

    RUN/
      run.json                        schema version
      episodes/ID/steps.jsonl         one line per step, flushed as it happens
      episodes/ID/states.json         the product's data before and after; requests and the last page, if watched
      episodes/ID/episode.json        the manifest: everything else; written last
      images/ab/abcd....png           by sha256 of the file
      files/ab/abcd...                what was downloaded, by sha256

An episode exists if it has a manifest. Whatever a crash or a full disk leaves behind is no episode: steps without a
manifest, a line that is cut off, a temporary file.
"""

from __future__ import annotations

import base64
import dataclasses
import errno
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from uigym.errors import StoreError
from uigym.hold import Hold, hold
from uigym.types import (
    NOTHING_OPEN,
    Cause,
    Download,
    Episode,
    Event,
    Failure,
    Part,
    StepRecord,
    Stop,
    Verdict,
    action_from_json,
    action_to_json,
    open_from_json,
    state_from_json,
    state_to_json,
)
from uigym.watched import complaint_from_json, exchange_from_json, page_from_json, page_to_json, refusal_from_json

_ELSEWHERE = "Choose a folder that can be written: --out DIR."
SCHEMA = 1
"""Version of the layout and the records; a reader refuses a newer one."""
_UNSAID: dict[str, Any] = {"scale": 1.0, "network": (), "refusals": (), "console": (), "page": None, "watched": ()}
"""What runs of earlier versions do not have."""


class RunStore:
    """A run folder: written by a rollout, read by evaluation, training and the viewer."""

    def __init__(self, directory: str | Path):
        """Open or create the folder.

        Raises:
            StoreError: It cannot be created, or was written by a newer version.
        """
        self.directory = Path(directory)
        self._known: set[Path] = set()
        self._hold: Hold | None = None
        self._covered = False
        header = self.directory / "run.json"
        with _writing(header):
            (self.directory / "episodes").mkdir(parents=True, exist_ok=True)
            (self.directory / "images").mkdir(exist_ok=True)
        if header.exists():
            _check_schema(_read_json(header), header)
        else:
            _write(header, json.dumps({"schema": SCHEMA}).encode() + b"\n")

    # --- writing ---

    def claim(self) -> None:
        """Keep other processes from writing the folder for as long as this store lives; reading is free.

        Raises:
            StoreError: Another process is writing it.
        """
        if not self._covered:
            self._hold = self._hold or hold(self.directory)

    def under_claim(self) -> Self:
        """This store, written under the claim of the process that started this one; their episodes must differ."""
        self._covered = True
        return self

    def begin(self, episode_id: str) -> EpisodeWriter:
        """Start writing an episode; what an earlier attempt left under the same id is dropped.

        Raises:
            StoreError: The folder cannot be written, or another process is writing it.
        """
        self.claim()
        return EpisodeWriter(self, episode_id)

    def write(self, episode: Episode, images: Mapping[str, bytes]) -> None:
        """Write an episode that is already over, with its pictures by hash.

        Raises:
            StoreError: The folder cannot be written.
        """
        with self.begin(episode.id) as writer:
            for step in episode.steps:
                writer.step(step, images.get(step.image, b""))
            writer.finish(episode, images.get(episode.final_image, b""))

    def put_image(self, png: bytes) -> str:
        """Write a picture unless it is there, and give its hash: sha256, hex.

        Raises:
            StoreError: The folder cannot be written.
        """
        return self._put(png, self.image_path)

    def put_file(self, content: bytes) -> str:
        """Write what was downloaded unless it is there, and give its hash: sha256, hex.

        Raises:
            StoreError: The folder cannot be written.
        """
        return self._put(content, self.file_path)

    def _put(self, content: bytes, place: Callable[[str], Path]) -> str:
        name = hashlib.sha256(content).hexdigest()
        path = place(name)
        if path not in self._known:
            if not path.exists():
                with _writing(path):
                    path.parent.mkdir(parents=True, exist_ok=True)
                _write(path, content, sync=False)
            self._known.add(path)
        return name

    # --- reading ---

    def ids(self) -> list[str]:
        """Of the episodes that are complete, sorted."""
        return sorted(path.parent.name for path in self.directory.glob("episodes/*/episode.json"))

    def manifests(self) -> Iterator[dict[str, Any]]:
        """The manifest of every episode, by id: all but its steps, states and requests, so it is quick to read."""
        for name in self.ids():
            yield self._manifest(name)

    def done(self) -> set[str]:
        """Ids of the episodes that need not be run again: those with a verdict, good or bad."""
        return {record["id"] for record in self.manifests() if record.get("verdict") is not None}

    def demonstrations(self) -> set[str]:
        """Ids of the episodes that succeeded."""
        return {record["id"] for record in self.manifests() if (record.get("verdict") or {}).get("success")}

    def episodes(self) -> Iterator[Episode]:
        """Every complete episode, by id, equal to what was written.

        Raises:
            StoreError: A file is damaged.
        """
        for name in self.ids():
            yield self.episode(name)

    def episode(self, episode_id: str) -> Episode:
        """One episode.

        Raises:
            StoreError: There is no such episode, or a file is damaged.
        """
        record = self._manifest(episode_id)
        path = self._folder(episode_id) / "steps.jsonl"
        steps = list(read_steps(path))[: record["num_steps"]]
        if len(steps) < record["num_steps"]:
            raise StoreError(
                f"{path} has {len(steps)} whole lines, its manifest says {record['num_steps']}. "
                "Delete the episode's folder and resume the run."
            )
        states = _read_json(self._folder(episode_id) / "states.json")
        for download in record.get("downloads", ()):
            download["content"] = _text(self.file(download["sha256"]) if download["sha256"] else b"")
        with _reading(self._folder(episode_id)):
            return episode_from_json({**record, **states, "steps": steps})

    def image(self, name: str) -> bytes:
        """The PNG with this hash.

        Raises:
            StoreError: It is not there, or is damaged.
        """
        return _read_hashed(self.image_path(name), name, "picture")

    def file(self, name: str) -> bytes:
        """The downloaded file with this hash.

        Raises:
            StoreError: It is not there, or is damaged.
        """
        return _read_hashed(self.file_path(name), name, "file")

    def image_path(self, name: str) -> Path:
        """Where the picture with this hash is, or would be."""
        return self.directory / "images" / name[:2] / f"{name}.png"

    def file_path(self, name: str) -> Path:
        """Where the downloaded file with this hash is, or would be."""
        return self.directory / "files" / name[:2] / name

    def _manifest(self, episode_id: str) -> dict[str, Any]:
        path = self._folder(episode_id) / "episode.json"
        record = _read_json(path)
        _check_schema(record, path)
        return record

    def _folder(self, episode_id: str) -> Path:
        if Path(episode_id).name != episode_id or episode_id in ("", ".", ".."):
            raise StoreError(f"the episode id {episode_id!r} cannot be the name of a folder")
        return self.directory / "episodes" / episode_id


COMPLETE = ("progress.json", "stream/stream.json")
"""Files that are written last into a checkpoint: of the shared-picture path, of the general one."""


def checkpoints(run: Path) -> list[Path]:
    """The complete checkpoints of a training run's folder, oldest first; they are named checkpoint-N."""
    found = [p for p in run.glob("checkpoint-*") if any((p / mark).is_file() for mark in COMPLETE)]
    numbers = {int(n): p for p in found if (n := p.name.removeprefix("checkpoint-")).isdecimal()}
    return [numbers[n] for n in sorted(numbers)]


class EpisodeWriter:
    """Writes one episode as it happens; use it as a context manager, or call `close`."""

    def __init__(self, store: RunStore, episode_id: str):
        self._store = store
        self._folder = store._folder(episode_id)
        self._steps = self._folder / "steps.jsonl"
        with _writing(self._steps):
            self._folder.mkdir(exist_ok=True)
            (self._folder / "episode.json").unlink(missing_ok=True)
            self._file: IO[bytes] = self._steps.open("wb", buffering=0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def step(self, record: StepRecord, png: bytes) -> None:
        """Add a step and the picture that it began with; empty bytes where the picture is stored already.

        Raises:
            StoreError: The disk is full, or the folder cannot be written.
        """
        if png:
            self._store.put_image(png)
        line = json.dumps(step_to_json(record)).encode() + b"\n"
        with _writing(self._steps):
            rest = memoryview(line)
            while rest:  # a disk that is nearly full takes a part and says nothing
                rest = rest[self._file.write(rest) :]

    def finish(self, episode: Episode, png: bytes) -> None:
        """Write the last picture and then the manifest, which makes the episode exist.

        Raises:
            StoreError: The disk is full, or the folder cannot be written.
        """
        if png:
            self._store.put_image(png)
        with _writing(self._steps):
            os.fsync(self._file.fileno())
        record = episode_to_json(episode)
        for written, download in zip(record["downloads"], episode.downloads, strict=True):
            del written["content"]
            if download.sha256:
                self._store.put_file(download.content)
        record["num_steps"] = len(record.pop("steps"))
        states = {long: record.pop(long) for long in ("before", "after", "network", "page")}
        _write(self._folder / "states.json", json.dumps(states).encode() + b"\n")
        _write(self._folder / "episode.json", json.dumps(record).encode() + b"\n")

    def close(self) -> None:
        """Close the file; without `finish` no episode comes into being."""
        self._file.close()


def digest(folder: Path, read: Callable[[Path], bytes] = Path.read_bytes) -> str:
    """sha256, hex, of an episode's actions, states and manifest, as they are in its folder.

    Raises:
        OSError: A file cannot be read.
    """
    found = hashlib.sha256()
    for name in ("episode.json", "steps.jsonl", "states.json"):
        found.update(hashlib.sha256(read(folder / name)).digest())
    return found.hexdigest()


# --- records as JSON ---


def episode_to_json(episode: Episode) -> dict[str, Any]:
    """The whole episode as JSON values."""
    return {
        **{f.name: getattr(episode, f.name) for f in dataclasses.fields(episode)},
        "schema": SCHEMA,
        "params": dict(episode.params),
        "appearance": dict(episode.appearance),
        "steps": [step_to_json(step) for step in episode.steps],
        "verdict": dataclasses.asdict(episode.verdict) if episode.verdict else None,
        "failure": dataclasses.asdict(episode.failure) if episode.failure else None,
        "before": state_to_json(episode.before),
        "after": state_to_json(episode.after),
        "downloads": [{**dataclasses.asdict(one), "content": _text(one.content)} for one in episode.downloads],
        "network": [dataclasses.asdict(exchange) for exchange in episode.network],
        "refusals": [dataclasses.asdict(refusal) for refusal in episode.refusals],
        "console": [dataclasses.asdict(complaint) for complaint in episode.console],
        "page": page_to_json(episode.page),
        "watched": list(episode.watched),
    }


def episode_from_json(record: Mapping[str, Any]) -> Episode:
    """The inverse of `episode_to_json`.

    Raises:
        KeyError, TypeError, ValueError: The record is not one of an episode.
    """
    record = {**_UNSAID, **record}
    values = {f.name: record[f.name] for f in dataclasses.fields(Episode) if f.name != "downloads"}
    values["steps"] = tuple(step_from_json(step) for step in record["steps"])
    values["stop"] = Stop(record["stop"])
    if failure := record["failure"]:
        values["failure"] = Failure(Cause(failure["cause"]), failure["message"])
    if verdict := record["verdict"]:
        parts = tuple(Part(**part) for part in verdict["parts"])
        values["verdict"] = Verdict(**{**verdict, "parts": parts, "side_effects": tuple(verdict["side_effects"])})
    for moment in ("before", "after"):
        values[moment] = state_from_json(record[moment])
    values["network"] = tuple(exchange_from_json(exchange) for exchange in record["network"])
    values["refusals"] = tuple(refusal_from_json(refusal) for refusal in record["refusals"])
    values["console"] = tuple(complaint_from_json(complaint) for complaint in record["console"])
    values["page"], values["watched"] = page_from_json(record["page"]), tuple(record["watched"])
    values["downloads"] = tuple(  # records of 0.1.0 have none
        Download(**{**download, "content": base64.b64decode(download["content"])})
        for download in record.get("downloads", ())
    )
    return Episode(**values)


def step_to_json(step: StepRecord) -> dict[str, Any]:
    """One line of steps.jsonl."""
    return {
        **{f.name: getattr(step, f.name) for f in dataclasses.fields(step)},
        "action": action_to_json(step.action),
        "events": [dataclasses.asdict(event) for event in step.events],
        "open": dataclasses.asdict(step.open),
        "phases": dict(step.phases),
    }


def step_from_json(record: Mapping[str, Any]) -> StepRecord:
    """The inverse of `step_to_json`."""
    events = tuple(Event(**event) for event in record["events"])
    there = open_from_json(record["open"]) if "open" in record else NOTHING_OPEN  # records of 0.1.0 do not say
    return StepRecord(**{**record, "action": action_from_json(record["action"]), "events": events, "open": there})


def read_steps(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a steps.jsonl as JSON; a last line that was cut off is left out.

    Raises:
        StoreError: The file is not there, or another line is damaged.
    """
    with _reading(path):
        lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines[:-1], 1):
        try:
            yield json.loads(line)
        except ValueError as exc:
            raise StoreError(f"{path}, line {number}: not JSON ({exc}). Delete the episode's folder.") from exc


# --- files ---


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _read_hashed(path: Path, name: str, kind: str) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as exc:
        raise StoreError(f"no {kind} {path}: {exc.strerror}. The run folder is not complete.") from exc
    if hashlib.sha256(content).hexdigest() != name:
        raise StoreError(f"the {kind} {path} is damaged: its content does not have the hash in its name")
    return content


def _write(path: Path, content: bytes, *, sync: bool = True) -> None:
    """Write under a temporary name, then rename: the file is whole or not there."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with _writing(path, lambda: temporary.unlink(missing_ok=True)):
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        temporary.replace(path)


@contextmanager
def _writing(path: Path, undo: Callable[[], None] = lambda: None) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        with suppress(OSError):  # the first error is the one to tell
            undo()
        full = exc.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        advice = "Episodes written before this are safe; make room, then resume the run." if full else _ELSEWHERE
        raise StoreError(f"cannot write {path}: {exc.strerror or exc}. {advice}") from exc


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        raise StoreError(f"cannot read {path}: {exc.strerror or exc}") from exc
    except (KeyError, TypeError, ValueError) as exc:
        raise StoreError(f"{path} is not what this version writes ({type(exc).__name__}: {exc})") from exc


def _read_json(path: Path) -> dict[str, Any]:
    with _reading(path):
        record = json.loads(path.read_bytes())
        if not isinstance(record, dict):
            raise TypeError(f"expected a JSON object, found {type(record).__name__}")
        return record


def _check_schema(record: Mapping[str, Any], path: Path) -> None:
    schema = record.get("schema")
    if "config" in record:
        raise StoreError(f"{path.parent} holds a training run. Choose another folder.")
    if schema != SCHEMA:
        raise StoreError(
            f"{path} has schema {schema!r}, this version reads {SCHEMA}. Update uigym, or choose another folder."
        )
