"""What else is known of an episode: how it was played, how long it took, and how it is played again."""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from uigym.splits import SPLIT_SIZE, Split
from uigym.viewer.reading import Recorded
from uigym.viewer.scene import phases

REST = "policy, reset and the rest"
PLAYED_BY_NAME = ("noop", "random", "oracle", "tiny")
"""Policies that `uigym run` knows by the name that records have."""


@dataclass(frozen=True, slots=True)
class Phase:
    """Where a part of an episode's time went."""

    name: str
    seconds: float
    share: float
    """Of the whole."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Where an episode's time went."""

    wall_s: float
    phases: Sequence[Phase]
    slowest: Sequence[tuple[int, float]]
    """(step, ms) of the slowest steps, the slowest first."""


@dataclass(frozen=True, slots=True)
class Command:
    """Something to paste into a terminal."""

    does: str
    line: str


def timing(recorded: Recorded) -> Timing:
    """Sum up the phases of all steps; what they leave of the wall time is a phase of its own."""
    sums: dict[str, float] = defaultdict(float)
    each: list[tuple[int, float]] = []
    for number, record in enumerate(recorded.steps):
        spent = list(phases(record))
        each.append((number, sum(ms for _, ms in spent)))
        for name, ms in spent:
            sums[name] += ms / 1000
    told = recorded.manifest.get("wall_s")
    wall_s = max(float(told) if isinstance(told, int | float) else 0.0, sum(sums.values()))
    rest = wall_s - sum(sums.values())
    if rest > 0.001:
        sums["the rest" if len(sums) > 1 else REST] = rest
    found = [Phase(name, seconds, seconds / wall_s if wall_s else 0.0) for name, seconds in sums.items()]
    slowest = sorted((pair for pair in each if pair[1]), key=lambda pair: -pair[1])[:5]
    return Timing(wall_s, found, slowest)


def facts(recorded: Recorded, title: str) -> list[tuple[str, str]]:
    """What the manifest says, for a table; what it does not say is left out."""
    manifest = recorded.manifest
    width, height = next(
        (size for at in (0, len(recorded.steps)) if (size := recorded.size(recorded.image(at))) != (0, 0)), (0, 0)
    )
    seed = manifest.get("seed")
    stop = str(manifest.get("stop") or "").replace("_", " ")
    found = [
        ("run", title),
        ("episode", recorded.id),
        ("harness", manifest.get("harness")),
        ("task", manifest.get("task")),
        ("policy", manifest.get("policy")),
        ("seed", f"{seed} ({split_of(seed)})" if split_of(seed) else seed),
        ("group", manifest.get("group")),
        ("tries before", manifest.get("attempt") or ""),
        ("stopped by", stop),
        ("answered", manifest.get("answer")),
        ("last address", manifest.get("url")),
        ("viewport", f"{width} × {height} CSS px, {recorded.scale:g} px each" if width else ""),
        ("last picture", recorded.last_image),
        ("watched", ", ".join(map(str, manifest.get("watched") or ()))),
    ]
    found += [(f"parameter {name}", _plain(value)) for name, value in _mapping(manifest.get("params"))]
    found += [(f"look: {name}", value) for name, value in _mapping(manifest.get("appearance"))]
    found.append(("files", str(recorded.folder / "episodes" / recorded.id)))
    return [(name, str(value)) for name, value in found if value not in ("", None)]


def split_of(seed: Any) -> str:
    """Name of the split that a seed belongs to; empty if it is no seed."""
    try:
        return str(Split.of(seed))
    except ValueError:
        return ""


def commands(recorded: Recorded) -> list[Command]:
    """How this very episode is played, shown and proven again."""
    manifest = recorded.manifest
    place = recorded.folder / "episodes" / recorded.id
    found = []
    if line := run_again(manifest):
        found.append(Command("play the same task and seed again", line))
    if recorded.demo is not None:
        found.append(Command("play its actions again and prove it", shlex.join(["uigym", "replay", _near(place)])))
    found.append(
        Command(
            "write this page as one file",
            shlex.join(["uigym", "view", _near(place), "--export", f"{recorded.id}.html"]),
        )
    )
    return found


def run_again(manifest: Mapping[str, Any]) -> str:
    """The command that plays the task and seed of an episode; empty if its manifest does not say them."""
    harness, task, seed, policy = (manifest.get(name) for name in ("harness", "task", "seed", "policy"))
    if not harness or not task or not split_of(seed):
        return ""
    assert isinstance(seed, int)
    ref = f"{harness}/{str(task).removeprefix(f'{harness}/')}"
    who = str(policy) if policy in PLAYED_BY_NAME else f"CHECKPOINT-OF-{policy or 'THE-POLICY'}"
    words = ["uigym", "run", ref, "--policy", who, "--seeds", str(seed % SPLIT_SIZE)]
    return shlex.join([*words, *(["--split", split_of(seed)] if seed >= SPLIT_SIZE else [])])


def tally(records: Sequence[Mapping[str, Any]], name: str) -> list[tuple[str, int]]:
    """How often each value of a field occurs, the most frequent first."""
    return Counter(str(record.get(name, "")) for record in records).most_common()


def _near(path: Path) -> str:
    """As a person would write it who is in the folder that the viewer was started in."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _mapping(value: Any) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else []


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)
