"""Some episodes of a training run, small enough to keep: what was seen, done and paid, with thumbnails.

RUN/episodes.jsonl        one line an episode
RUN/pictures/HASH.webp    thumbnails by the hash of the screenshot
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from uigym.errors import StoreError, attribute
from uigym.report.film import png_size
from uigym.types import Episode, StepRecord, action_to_json

MAX_FRAMES = 6
"""Pictures of one episode that are kept: the first, the last, and some between them."""
THUMB_PX = 400
"""Width of a thumbnail at most."""


class Gallery:
    """Writes episodes as they come and reads them for the page of the run."""

    def __init__(self, folder: Path):
        """
        Args:
            folder: Of the run; it must be there.
        """
        self.folder = folder
        self._path = folder / "episodes.jsonl"

    def add(self, episode: Episode, images: Mapping[str, bytes], *, update: int, split: str) -> dict[str, Any]:
        """Keep an episode; gives the record that was written.

        Args:
            episode: One that is over.
            images: PNG by hash.
            update: After how many updates it ended.
            split: Whose seeds it was played on.

        Raises:
            StoreError: The folder cannot be written.
        """
        record = {"update": update, "split": split, **_summary(episode)}
        record["frames"] = [frame for step in _chosen(episode) if (frame := self._frame(step, episode, images))]
        with attribute(StoreError, f"cannot write {self._path}"), self._path.open("ab") as file:
            file.write(json.dumps(record).encode() + b"\n")
        return record

    def records(self) -> Iterator[dict[str, Any]]:
        """All that were kept, in the order in which they came; a line that was cut off is left out."""
        yield from read_lines(self._path)

    def picture(self, name: str) -> bytes:
        """WebP of the thumbnail with this hash; empty if it is not there."""
        path = self._picture(name)
        return path.read_bytes() if path.is_file() else b""

    def _picture(self, name: str) -> Path:
        return self.folder / "pictures" / f"{name}.webp"

    def _frame(self, step: StepRecord | None, episode: Episode, images: Mapping[str, bytes]) -> dict[str, Any] | None:
        name = step.image if step else episode.final_image
        png = images.get(name)
        if not png:
            return None
        with attribute(StoreError, f"cannot write {self._picture(name)}"):
            self._keep(name, png)
        width, height = (round(side / episode.scale) for side in png_size(png))
        frame: dict[str, Any] = {"picture": name, "width": width, "height": height}
        return frame | ({"action": action_to_json(step.action), "note": step.error or ""} if step else {})

    def _keep(self, name: str, png: bytes) -> None:
        path = self._picture(name)
        if path.exists():
            return
        path.parent.mkdir(exist_ok=True)
        draft = path.with_suffix(".tmp")
        draft.write_bytes(thumbnail(png))
        draft.replace(path)


def thumbnail(png: bytes) -> bytes:
    """WebP of a PNG, at most THUMB_PX wide."""
    out = io.BytesIO()
    with Image.open(io.BytesIO(png)) as image:
        small = image.convert("RGB")
        small.thumbnail((THUMB_PX, 10 * THUMB_PX), Image.Resampling.LANCZOS)
        small.save(out, "WEBP", quality=82)
    return out.getvalue()


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """JSON objects of a file with one a line; what is not whole is left out, for it may be under way."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        for line in file:
            try:
                found = json.loads(line)
            except ValueError:
                continue
            if isinstance(found, dict):
                yield found


def _summary(episode: Episode) -> dict[str, Any]:
    verdict, failure = episode.verdict, episode.failure
    return {
        "task": f"{episode.harness}/{episode.task.rpartition('/')[2]}",
        "seed": episode.seed,
        "instruction": episode.instruction,
        "reward": verdict.score if verdict else None,
        "success": verdict.success if verdict else None,
        "stop": str(episode.stop),
        "cause": str(failure.cause) if failure else "",
        "reason": failure.message if failure else verdict.reason if verdict else "",
        "answer": episode.answer,
        "steps": len(episode.steps),
        "refused": sum(step.error is not None for step in episode.steps),
        "wall_s": round(episode.wall_s, 2),
    }


def _chosen(episode: Episode) -> Sequence[StepRecord | None]:
    """Some steps, evenly; None stands for the end."""
    every: list[StepRecord | None] = [*episode.steps, None]
    if len(every) <= MAX_FRAMES:
        return every
    last = len(every) - 1
    return [every[round(i * last / (MAX_FRAMES - 1))] for i in range(MAX_FRAMES)]
