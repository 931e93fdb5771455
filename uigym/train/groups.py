"""Groups: episodes of one task and seed that are compared with each other, in the making and on disk."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from uigym.errors import StoreError, attribute
from uigym.rollout import Finished, Request
from uigym.state import State
from uigym.store import episode_from_json, episode_to_json
from uigym.train.advantage import disagree
from uigym.train.windows import Picture, Turn

STATE = "stream.json"
"""The file that is written last."""


@dataclass(slots=True)
class Group:
    """One task and seed, played by several members."""

    number: int
    """Of its draw, from 0; no two groups of a run have the same."""
    task: str
    seed: int
    born: int
    """Version of the weights when it was drawn: none of its replies may come from older ones."""
    waiting: list[int] = field(default_factory=list)
    """Members that have not begun."""
    running: set[int] = field(default_factory=set)
    done: dict[int, Finished] = field(default_factory=dict)
    """Members with a verdict."""
    lost: int = 0
    """Members that the machinery lost."""
    size: int = 0
    """Numbers that members have been given; one that takes a lost one's place has its own."""

    @classmethod
    def of(cls, number: int, task: str, seed: int, *, born: int, size: int) -> Group:
        """A group none of whose members has begun."""
        return cls(number, task, seed, born, list(range(size)), size=size)

    @property
    def name(self) -> str:
        """What its episodes say as their group."""
        return f"g{self.number}"

    @property
    def over(self) -> bool:
        """No member is left to wait for."""
        return not self.waiting and not self.running

    @property
    def members(self) -> list[Finished]:
        """Those with a verdict, in order."""
        return [self.done[member] for member in sorted(self.done)]

    @property
    def rewards(self) -> list[float]:
        """Of those members."""
        return [verdict.score for done in self.members if (verdict := done.episode.verdict) is not None]

    @property
    def success(self) -> float:
        """Share of those members that did the whole task; there must be one."""
        return sum(bool(done.episode.verdict and done.episode.verdict.success) for done in self.members) / len(
            self.done
        )

    @property
    def informative(self) -> bool:
        """It can teach: two members or more, and not all the same reward."""
        return disagree(self.rewards)

    def begin(self) -> Request:
        """The request of the next member that waits."""
        member = self.waiting.pop(0)
        self.running.add(member)
        return self.request(member)

    def request(self, member: int) -> Request:
        """What a member plays."""
        return Request(self.task, self.seed, self.name, member)

    def replace(self) -> None:
        """Have one more member, in place of one that was lost."""
        self.waiting.append(self.size)
        self.size += 1

    def forgive(self, size: int) -> None:
        """Lost members shall count for nothing: have as many as if there had been none."""
        self.lost = 0
        for _ in range(size - len(self.waiting) - len(self.running) - len(self.done)):
            self.replace()

    def copy(self) -> Group:
        """As it is now."""
        return dataclasses.replace(self, waiting=list(self.waiting), running=set(self.running), done=dict(self.done))

    def stop(self) -> None:
        """Nothing is running any more: the members that were begin again."""
        self.waiting = sorted({*self.waiting, *self.running})
        self.running.clear()


def turns(finished: Finished) -> Iterator[Turn]:
    """The tokens of an episode's steps, without those that a script took."""
    return (sample for sample in finished.samples if isinstance(sample, Turn))


# --- on disk -------------------------------------------------------------------------------------------------


def write(folder: Path, groups: Iterable[Group], rest: Mapping[str, Any]) -> None:
    """Write groups, and other JSON values beside them, into a new folder.

    What only verifiers needed of the episodes is left out: states, requests, the last page.

    Raises:
        StoreError: It cannot be written.
    """
    groups = list(groups)
    with attribute(StoreError, f"cannot write {folder}"):
        (folder / "pictures").mkdir(parents=True)
        with (folder / "episodes.jsonl").open("w") as lines:
            for group in groups:
                for member, finished in group.done.items():
                    lines.write(json.dumps({"group": group.number, "member": member, **_to_json(finished)}) + "\n")
                    for name, png in finished.images.items():
                        (folder / "pictures" / f"{name}.png").write_bytes(png)
        plain = [_plain(group) for group in groups]
        (folder / STATE).write_text(json.dumps({**rest, "groups": plain}))


def read(folder: Path) -> tuple[dict[int, Group], dict[str, Any]]:
    """Groups by number, and the other values; the inverse of `write`.

    Raises:
        StoreError: The folder is not complete, or not one of these.
    """
    with attribute(StoreError, f"cannot read {folder}"):
        rest = json.loads((folder / STATE).read_text())
        groups = {plain["number"]: Group(**plain) for plain in rest.pop("groups")}
        with (folder / "episodes.jsonl").open() as lines:
            for record in map(json.loads, lines):
                groups[record["group"]].done[record["member"]] = _from_json(record, folder / "pictures")
    return groups, rest


def _plain(group: Group) -> dict[str, Any]:
    waiting = sorted({*group.waiting, *group.running})
    kept = {name: getattr(group, name) for name in ("number", "task", "seed", "born", "lost", "size")}
    return {**kept, "waiting": waiting}


def _to_json(finished: Finished) -> dict[str, Any]:
    episode = dataclasses.replace(finished.episode, before=State(), after=State(), network=(), page=None)
    samples = [None if sample is None else dataclasses.asdict(sample) for sample in finished.samples]
    return {"episode": episode_to_json(episode), "samples": samples, "images": list(finished.images)}


def _from_json(record: Mapping[str, Any], pictures: Path) -> Finished:
    images = {name: (pictures / f"{name}.png").read_bytes() for name in record["images"]}
    samples = tuple(None if sample is None else _turn(sample) for sample in record["samples"])
    return Finished(episode_from_json(record["episode"]), samples, images)


def _turn(record: Mapping[str, Any]) -> Turn:
    pictures = tuple(Picture(**picture) for picture in record["pictures"])
    lists = {name: tuple(record[name]) for name in ("prompt", "reply", "logprobs")}
    return Turn(**{**record, **lists, "pictures": pictures})
