"""Whether two episodes end in the same way: then neither is a wrong way to do what the other does."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

from uigym.compare import same
from uigym.state import Changed, State, differences
from uigym.types import Episode


def same_end(one: Episode, other: Episode, logs: Collection[str] = ()) -> bool:
    """Same data, same answer, same files given away; and, where nothing of that was asked for, the same page.

    The two must have begun with the same data.

    Args:
        one, other: The episodes.
        logs: Tables, and columns as "table.column", that only tell what happened and do not count.
    """
    if apart(one.after, other.after, logs) or not _same_answer(one.answer, other.answer):
        return False
    if _given(one) != _given(other):
        return False
    return bool(one.answer or _given(one) or worked(one, logs)) or _path(one) == _path(other)


def worked(episode: Episode, logs: Collection[str] = ()) -> bool:
    """Whether the product's data changed."""
    return bool(apart(episode.before, episode.after, logs))


def apart(one: State, other: State, logs: Collection[str] = ()) -> list[Changed]:
    """The rows that are not the same in both, but for what only tells what happened."""
    return [change for change in differences(one, other) if not _is_log(change, logs)]


def reverted(episode: Episode, tables: Collection[str]) -> State:
    """What the product would hold at the end of an episode had nothing been done to these tables."""
    before, after = episode.before, episode.after
    sides = [(name, before if name in tables else after) for name in {**before.tables, **after.tables}]
    held = {name: side.tables[name] for name, side in sides if name in side.tables}
    base = {name: side.base[name] for name, side in sides if name in side.base}
    return State(held, {**before.keys, **after.keys}, base)


def _is_log(change: Changed, logs: Collection[str]) -> bool:
    if change.table in logs:
        return True
    old, new = change.before, change.after
    if old is None or new is None:
        return False
    return all(f"{change.table}.{c}" in logs for c in {**old, **new} if old.get(c) != new.get(c))


def paid(episode: Episode) -> bool:
    """Whether a trainer would take it for a success."""
    verdict = episode.verdict
    return verdict is not None and (verdict.success or verdict.score >= 1.0)


def _same_answer(one: str | None, other: str | None) -> bool:
    if one is None or other is None:
        return one == other
    return same(one, other, fold_case=True)


def _given(episode: Episode) -> list[tuple[str, str]]:
    return sorted((download.name, download.sha256) for download in episode.downloads)


def _path(episode: Episode) -> str:
    return urlsplit(episode.url).path.rstrip("/")
