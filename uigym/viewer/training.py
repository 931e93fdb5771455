"""The page of a training run: its curves, and the episodes that it has kept, filtered by the page's address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from uigym.report.curves import groups
from uigym.report.film import caption
from uigym.report.health import signs
from uigym.report.training import Story, first_and_last, read_story, tasks, totals
from uigym.types import StepRecord, action_from_json
from uigym.viewer.catalog import Run
from uigym.viewer.marks import KINDS, mark

PER_PAGE = 40


@dataclass(frozen=True, slots=True)
class Kept:
    """A picture of an episode that training has kept."""

    image: str
    width: int
    height: int
    kind: str
    words: str
    note: str
    mark: Mapping[str, Any] | None


def page(run: Run, asked: Mapping[str, str]) -> dict[str, Any]:
    """What the page shows.

    Args:
        run: A training run.
        asked: `task`, `split`, `outcome` and `page` of the episodes to list.
    """
    story = read_story(run.folder)
    listed = chosen(story.episodes, asked)
    pages = max(1, -(-len(listed) // PER_PAGE))
    number = min(int(text) if (text := asked.get("page", "")).isdecimal() and len(text) < 9 and int(text) else 1, pages)
    shown = listed[(number - 1) * PER_PAGE : number * PER_PAGE]
    return {
        "run": run,
        "title": run.title,
        **numbers(story),
        "asked": {name: asked.get(name, "")[:200] for name in ("task", "split", "outcome")},
        "options": {
            name: sorted({str(each.get(name) or "") for each in story.episodes} - {""}) for name in ("task", "split")
        },
        "episodes": [(record, frames(record)) for record in shown],
        "chosen": len(listed),
        "kept": len(story.episodes),
        "page": number,
        "pages": pages,
    }


def numbers(story: Story) -> dict[str, Any]:
    """The curves and what is said of them."""
    return {
        "config": story.run.get("config") or {},
        "record": story.run,
        "updates": story.updates,
        "last": story.updates[-1] if story.updates else {},
        "tests": first_and_last(story.tests),
        "totals": totals(story),
        "signs": sorted(signs(story.updates), key=lambda sign: sign.good),
        "groups": groups(story.warm, story.updates, story.tests),
        "tasks": tasks(story.updates),
    }


def chosen(records: Sequence[Mapping[str, Any]], asked: Mapping[str, str]) -> list[Mapping[str, Any]]:
    """The kept episodes that are asked for, the newest first."""

    def fits(record: Mapping[str, Any]) -> bool:
        return all(not (want := asked.get(name)) or want == there for name, there in (
            ("task", record.get("task")), ("split", record.get("split")), ("outcome", outcome(record)),
        ))  # fmt: skip

    return [record for record in reversed(records) if fits(record)]


def outcome(record: Mapping[str, Any]) -> str:
    """success, partial, failed or lost."""
    reward = record.get("reward")
    if reward is None:
        return "lost"
    return "success" if record.get("success") else "partial" if reward else "failed"


def frames(record: Mapping[str, Any]) -> list[Kept]:
    """The pictures of a kept episode; some of its steps have none."""
    found = []
    for each in record.get("frames") or ():
        action = action_from_json(each["action"]) if "action" in each else None
        step = StepRecord("", action, error=each.get("note") or None) if action else None
        found.append(
            Kept(
                image=str(each["picture"]),
                width=int(each["width"]),
                height=int(each["height"]),
                kind=KINDS[type(action)] if action else "end",
                words=caption(step)[:300] if step else f"end: {str(record.get('stop', '')).replace('_', ' ')}",
                note=str(each.get("note") or ""),
                mark=mark([step]) if step else None,
            )
        )
    return found
