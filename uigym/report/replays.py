"""The page of a replay: which demonstrations still count, and where the others went another way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from uigym.errors import StoreError, attribute
from uigym.record.alike import pictures
from uigym.record.replay import Replay
from uigym.report.film import Frame, caption, data_uri, marks, png_size, told
from uigym.report.page import render_page
from uigym.store import RunStore
from uigym.types import Episode

MOST = 60
"""Demonstrations whose pictures the page holds; of the others it has the reasons."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The two pictures of one step."""

    step: int
    """From 0; the number of steps for the end."""
    old: Frame | None
    """As it was recorded; None where that picture was not kept."""
    new: Frame | None
    """As it was this time; None if it was over before."""
    share: float | None
    """Of the pixels that differ; None if there is nothing to compare."""


@dataclass(frozen=True, slots=True)
class Break:
    """A demonstration that does not count, ready for the page."""

    replay: Replay
    instruction: str
    steps: int
    at: int | None
    """Step, from 0."""
    pairs: tuple[Pair, ...]
    bars: tuple[float, ...]
    """Share of the pixels that differ, by picture."""


def write_replays(path: Path, replays: Sequence[Replay], store: RunStore, kept: RunStore, version: str = "") -> None:
    """Write the page, which needs nothing beside itself.

    Args:
        path: Of the file.
        replays: All of them.
        store: Where the demonstrations are.
        kept: Where those that broke are as they went this time.
        version: Of the product that they were played on.

    Raises:
        StoreError: The file cannot be written, or an episode cannot be read.
    """
    html = render_replays(replays, store, kept, version)
    with attribute(StoreError, f"cannot write {path}"):
        draft = path.with_suffix(".tmp")
        draft.write_text(html, encoding="utf-8")
        draft.replace(path)


def render_replays(replays: Sequence[Replay], store: RunStore, kept: RunStore, version: str = "") -> str:
    """The page as text."""
    broken = [one for one in replays if one.proof is not None and not one.counts]
    return render_page(
        "replays.html.jinja",
        "replays.css",
        replays=replays,
        counting=sum(one.counts for one in replays),
        broken=[look(one, store, kept) for one in broken[:MOST]],
        rest=broken[MOST:],
        lost=[one for one in replays if one.proof is None],
        version=version,
    )


def look(replay: Replay, store: RunStore, kept: RunStore) -> Break:
    """What the page shows of a demonstration that does not count."""
    old, new = store.episode(replay.item.id), kept.episode(replay.item.id)
    shown = () if replay.at is None else (replay.at - 1, replay.at)
    pairs = tuple(_pair(number, old, new, replay, (store, kept)) for number in shown if number >= 0)
    return Break(replay, old.instruction, len(old.steps), replay.at, pairs, replay.shares)


def _pair(number: int, old: Episode, new: Episode, replay: Replay, stores: tuple[RunStore, RunStore]) -> Pair:
    share = replay.shares[number] if number < len(replay.shares) else None
    store, kept = stores
    return Pair(number, _frame(number, old, store.image), _frame(number, new, kept.image), share)


def _frame(number: int, episode: Episode, image: Callable[[str], bytes]) -> Frame | None:
    names = pictures(episode)
    if number >= len(names) or not names[number]:
        return None
    try:
        png = image(names[number])
    except StoreError:  # a picture that was not kept
        return None
    width, height = (round(size / episode.scale) for size in png_size(png))
    if number == len(episode.steps):
        return Frame(number, data_uri(png), width, height, Markup(""), f"end: {episode.stop.replace('_', ' ')}")
    step = episode.steps[number]
    note = step.error or ", ".join(told(event) for event in step.events)
    return Frame(number, data_uri(png), width, height, marks(step.action, width, height), caption(step), note)
