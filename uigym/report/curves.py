"""Which numbers of a training run are drawn, beside which, and how to read them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from uigym.report.lines import Chart, Line, columns, draw, number, rate
from uigym.report.page import duration

Rows = Sequence[Mapping[str, Any]]
SPLITS = {"train": 0, "validation": 2, "heldout": 1}
CAUSES = {"policy": 3, "product": 0, "browser": 4, "verifier": 2, "harness": 5, "sampler": 1}


@dataclass(frozen=True, slots=True)
class Figure:
    """One chart, ready for the page."""

    title: str
    picture: Markup
    keys: Sequence[tuple[str, int, str]]
    """(name, colour, latest value) of each line."""
    note: str


@dataclass(frozen=True, slots=True)
class Group:
    """Charts that belong together."""

    title: str
    lead: str
    figures: Sequence[Figure]


def groups(warm: Rows, updates: Rows, tests: Rows) -> list[Group]:
    """All that have anything to show."""
    found = [
        Group("Does it learn?", "Training seeds are sampled as training does; the bars are 95 % intervals of tests.", [
            _success(updates, tests), _reward(updates), _warm(warm),
            _chart(updates, Chart("Actions in an episode", _lines(updates, {"episode/steps": "all", "episode/refused": "refused"}), "Shorter episodes of the same success are better play.", low=0)),
            _kept(updates),
        ]),
        Group("Is it sound?", "These move before the reward does when something is wrong.", [
            _chart(updates, Chart("Sampler against trainer", _lines(updates, {"gap/mean": "mean", "gap/max": "largest"}), "Nats a token before the first step; far below 0.05 on average.", log=True)),
            _chart(updates, Chart("Entropy", _lines(updates, {"entropy": "nats a token"}), "Falls as it becomes sure; at 0 nothing is explored.", low=0)),
            _chart(updates, Chart("Clipped tokens", _lines(updates, {"clip/low": "below", "clip/high": "above", "clip/dual": "dual"}), "Rises with passes, minibatches and staleness.", rate, low=0)),
            _chart(updates, Chart("Importance weights", _lines(updates, {"ratio/mean": "mean", "ratio/max": "largest"}), "1 where sampler and trainer agree.", log=True)),
            _chart(updates, Chart("Capped and dropped", _lines(updates, {"ratio/capped": "capped", "ratio/dropped": "dropped"}), "", rate, low=0)),
            _chart(updates, Chart("Staleness", _lines(updates, {"staleness/mean": "mean", "staleness/max": "largest"}), "Updates between sampling and learning.", low=0)),
            _chart(updates, Chart("Distance from the start (KL)", _lines(updates, {"kl": "nats a token"}), "", low=0)),
            _chart(updates, Chart("Gradient norm", _lines(updates, {"grad_norm": "before clipping"}), "", log=True)),
            _chart(updates, Chart("Loss", _lines(updates, {"loss": "loss"}), "Not a measure of success: it has no floor.")),
        ]),
        Group("Where does the time go?", "Shares of the wall time in which each part worked, and what an update waited for.", [
            _chart(updates, Chart("Busy", _lines(updates, {"util/env": "environments", "util/sampler": "sampler", "util/trainer": "trainer"}), "", rate, 0, 1)),
            _columns(updates, "Seconds of an update", {"time/rollout": 0, "time/learn": 1, "time/sync": 2, "time/pause": 3}, duration),
            _chart(updates, Chart("Environment steps a second", _lines(updates, {"steps/s": "steps/s"}), "", low=0)),
            _chart(updates, Chart("Trained tokens a second", _lines(updates, {"tokens/s": "tokens/s"}), "", low=0)),
        ]),
        Group("What was lost?", "Episodes without a verdict, by whose fault that was: they neither train nor vote.", [_lost(updates)]),
    ]  # fmt: skip
    full = [Group(g.title, g.lead, [f for f in g.figures if f is not None]) for g in found]
    return [group for group in full if group.figures]


def _lines(rows: Rows, names: Mapping[str, str]) -> list[Line]:
    return [
        Line(name, [(int(row["update"]), float(row[key])) for row in rows if key in row], hue)
        for hue, (key, name) in enumerate(names.items())
    ]


def _chart(rows: Rows, chart: Chart) -> Any:
    """The figure; None if there is nothing to draw."""
    lines = [line for line in chart.lines if line.points]
    if not lines:
        return None
    keys = [(line.name, line.hue, chart.say(line.points[-1][1])) for line in lines]
    return Figure(chart.title, draw(chart), keys, chart.note)


def _success(updates: Rows, tests: Rows) -> Any:
    points = [(int(row["update"]), float(row["success/all"])) for row in updates if "success/all" in row]
    lines = [Line("training, sampled", points, 0)]
    for split, hue in SPLITS.items():
        for way in dict.fromkeys(str(test.get("way", "")) for test in tests):
            own = [
                t
                for t in tests
                if t.get("split", "heldout") == split and str(t.get("way", "")) == way and "success_rate" in t
            ]
            at = [int(t.get("update", t.get("updates", len(updates)))) for t in own]
            rates = [(n, float(t["success_rate"])) for n, t in zip(at, own, strict=True)]
            bars = [(n, float(t["low"]), float(t["high"])) for n, t in zip(at, own, strict=True)]
            name = f"{'held-out' if split == 'heldout' else split}{f', {way}' if way else ''}"
            lines.append(Line(name, rates, hue if way != "greedy" else 3, bars=bars))
        key = f"success/split/{split}"
        if split != "train" and not any(t.get("split", "heldout") == split for t in tests):
            lines.append(Line(split, [(int(r["update"]), float(r[key])) for r in updates if key in r], hue))
    return _chart(updates, Chart("Success", lines, "", rate, 0, 1))


def _reward(updates: Rows) -> Any:
    points = [(int(row["update"]), float(row["reward/mean"])) for row in updates if "reward/mean" in row]
    band = [
        (int(row["update"]), float(row["reward/p10"]), float(row["reward/p90"]))
        for row in updates
        if "reward/p10" in row and "reward/p90" in row
    ]
    note = "The band goes from the 10 % quantile to the 90 % one." if band else ""
    return _chart(updates, Chart("Reward", [Line("mean", points, 0, band=band)], note, low=0, high=1))


def _warm(warm: Rows) -> Any:
    points = [(int(row["step"]), float(row["loss"])) for row in warm if "step" in row and "loss" in row]
    note = "Nats a token of the demonstrations; the axis counts steps."
    return _chart(warm, Chart("Warm start", [Line("loss", points, 2)], note, low=0))


def _kept(updates: Rows) -> Any:
    kinds = {"groups/kept": 1, "groups/zero_variance": 5, "groups/refilled": 2}
    return _columns(updates, "Groups of an update", kinds, number, "Only groups whose members differ teach anything.")


def _lost(updates: Rows) -> Any:
    causes = sorted({key for row in updates for key in row if key.startswith("failures/")})
    hues = {key: CAUSES.get(key.removeprefix("failures/"), 5) for key in causes}
    if not any(row.get(key) for row in updates for key in causes):
        return None
    found = _columns(updates, "Lost episodes of an update", hues, number)
    whole = [(key.removeprefix("failures/"), hues[key], number(sum(r.get(key, 0) for r in updates))) for key in causes]
    return dataclasses.replace(found, keys=whole, note="Beside each cause: in the whole run.")


def _columns(updates: Rows, title: str, hues: Mapping[str, int], say: Any, note: str = "") -> Any:
    present = {key: hue for key, hue in hues.items() if any(key in row for row in updates)}
    if not present:
        return None

    def short(key: str) -> str:
        return key.partition("/")[2].replace("_", " ")

    rows = [(int(row["update"]), {short(key): float(row.get(key, 0.0)) for key in present}) for row in updates]
    named = {short(key): hue for key, hue in present.items()}
    keys = [(name, hue, say(sum(row[name] for _, row in rows[-10:]) / len(rows[-10:]))) for name, hue in named.items()]
    return Figure(title, columns(title, rows, named), keys, note)
