"""Playing stored demonstrations again, one or a thousand: which still count, and at which step the others broke."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import itertools
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from uigym import registry
from uigym.errors import ConfigError, HarnessError, StoreError
from uigym.harness import Harness
from uigym.record.again import Again, Wanted, play_again
from uigym.record.broken import broke_at, shares
from uigym.record.crew import Deal, Tell, share
from uigym.record.demo import Demo, Proof, read_demo, write_demo
from uigym.record.prove import proof, room, want
from uigym.record.spelt import cleared
from uigym.record.vary import variation_of, varied
from uigym.record.withhold import withhold
from uigym.rollout import Pool
from uigym.store import RunStore
from uigym.types import Episode


class Item(NamedTuple):
    """A stored demonstration, as far as its manifest tells it."""

    id: str
    task: str
    seed: int
    steps: int
    """Actions in it."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Demonstrations of one variation of their harness."""

    variation: int
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Replay:
    """What came of one demonstration."""

    item: Item
    proof: Proof | None
    """None if nothing was proven."""
    lost: str = ""
    """Why nothing was proven."""
    at: int | None = None
    """The step, from 0, at which it broke; the number of steps for its end; None if it did not, or nothing shows it."""
    shares: tuple[float, ...] = ()
    """Of a broken one: which share of each picture's pixels differs."""

    @property
    def counts(self) -> bool:
        """Whether the demonstration counts."""
        return self.proof is not None and self.proof.counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How demonstrations are played again."""

    product_version: str = ""
    """Of the product that they are played on, as the proofs shall say."""
    slots: int = 4
    """Episodes at once in each process."""
    workers: int = 1
    """Processes."""
    told: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    """Texts that were withheld and that a person has said just now: by demonstration and step."""
    out: Path | None = None
    """Run folder in which those that broke are kept as they went this time; None keeps none."""


def demonstrations(store: RunStore) -> list[str]:
    """Ids of the episodes that are demonstrations: those that succeeded, and those with a record of one."""
    recorded = {path.parent.name for path in store.directory.glob("episodes/*/demo.json")}
    return sorted(store.demonstrations() | (recorded & set(store.ids())))


def demo_of(store: RunStore, episode: Episode, harness: Harness) -> Demo:
    """The record beside an episode; one that says what is known where it has none."""
    found = read_demo(store, episode.id)
    return found or Demo(episode.policy or "unknown", "policy", *harness.viewport, scale=episode.scale)


def replay(ref: str, store: RunStore, ids: Collection[str], terms: Terms, hear: Tell) -> None:
    """Play demonstrations of one harness again, and add to each record what was proven.

    Args:
        ref: Names the harness, as `uigym.registry.load` takes it.
        store: Where they are.
        ids: Of their episodes, all of that harness.
        terms: How.
        hear: Gets a `Replay` for each as it is over.

    Raises:
        ConfigError: There are none, or some are of another harness.
        HarnessError: There is no such harness.
        ProductError, BrowserError: It cannot be started.
        StoreError: A folder cannot be written.
    """
    store.claim()
    harness = registry.load(ref)
    batches = _batches(harness, store, ids)
    kept = RunStore(terms.out) if terms.out else None
    if kept is not None:
        kept.claim()
    work = functools.partial(replay_part, ref, store.directory, batches, terms)
    share(work, len(batches), processes(harness, terms.workers, len(ids)), hear)


def processes(harness: Harness, most: int, items: int) -> int:
    """How many processes share some items: one where they would share a product's data."""
    return 1 if harness.alone else max(1, min(most, items))


async def replay_part(
    ref: str, directory: Path, batches: Sequence[Batch], terms: Terms, deal: Deal, tell: Tell
) -> None:
    """What one process does of a replay: what it is dealt."""
    store = RunStore(directory).under_claim()
    for number, batch in enumerate(batches):
        dealt = deal.items(number, batch.items)
        if (first := next(dealt, None)) is not None:  # else others have taken all
            part = _Part(varied(registry.load(ref), batch.variation), store, terms, tell)
            await part.play(itertools.chain([first], dealt), max(item.steps for item in batch.items))


class _Part:
    """Some demonstrations of one variation, in one process."""

    def __init__(self, harness: Harness, store: RunStore, terms: Terms, tell: Tell):
        self.harness, self.store, self.terms, self.tell = harness, store, terms, tell
        self.kept = RunStore(terms.out).under_claim() if terms.out else None

    async def play(self, items: Iterable[Item], longest: int) -> None:
        """Play them; none has more steps than the longest."""
        slots = 1 if self.harness.alone else self.terms.slots
        async with (
            Pool(self.harness, slots=slots, limits=room(self.harness, longest), max_failure_rate=1.0) as pool,
            aclosing(play_again(pool, self._wanted(items))) as playing,
        ):
            async for again in playing:
                self.tell(await asyncio.to_thread(self._settle, again))

    def _wanted(self, items: Iterable[Item]) -> Iterator[Wanted]:
        """What can be played of them; what cannot is told at once."""
        for item in items:
            try:
                self.harness.find_task(item.task)
                episode = self.store.episode(item.id)
                demo = demo_of(self.store, episode, self.harness)
                wanted = want(episode, demo, self.terms.told.get(item.id))
            except (ConfigError, HarnessError, StoreError) as exc:
                self.tell(Replay(item, None, str(exc)))
            else:
                yield wanted

    def _settle(self, again: Again) -> Replay:
        """Write down what came of one."""
        recorded = again.wanted.episode
        item = Item(recorded.id, recorded.task, recorded.seed, len(recorded.steps))
        if (lost := again.lost) is not None:
            return Replay(item, None, cleared(f"lost to the {lost.cause}: {lost.message}", again.wanted.secrets))
        proven = proof(self.harness, again, self.terms.product_version)
        demo = demo_of(self.store, recorded, self.harness)
        write_demo(self.store, recorded.id, dataclasses.replace(demo, proofs=(*demo.proofs, proven)))
        if proven.counts:
            return Replay(item, proven)
        differing = shares(recorded, again.episode, self.store.image, lambda name: again.images.get(name, b""))
        if self.kept is not None:
            typed = [number for number in again.wanted.typed if number < len(again.episode.steps)]
            found = withhold(dataclasses.replace(again.episode, id=recorded.id), typed, again.wanted.texts)
            self.kept.write(found.episode, again.images)
        return Replay(item, proven, at=broke_at(recorded, again.episode, differing), shares=differing)


def _batches(harness: Harness, store: RunStore, ids: Collection[str]) -> list[Batch]:
    """The demonstrations by variation.

    Raises:
        ConfigError: There are none, or some are of another harness.
    """
    wanted, found = set(ids), defaultdict[int, list[Item]](list)
    for told in store.manifests():
        if told["id"] not in wanted:
            continue
        if told["harness"] != harness.name:
            raise ConfigError(f"the demonstration {told['id']} is of {told['harness']}, not of {harness.name}")
        item = Item(told["id"], told["task"], told["seed"], told["num_steps"])
        found[_variation(store, item.id)].append(item)
        wanted.discard(item.id)
    if wanted or not found:
        missing = f"no demonstration {sorted(wanted)[0]}" if wanted else "no demonstration"
        raise ConfigError(f"{missing} in {store.directory}")
    return [Batch(variation, tuple(items)) for variation, items in sorted(found.items())]


def _variation(store: RunStore, name: str) -> int:
    """Of a demonstration; 0 where its record is damaged, which is told when it is its turn."""
    try:
        return variation_of(read_demo(store, name))
    except StoreError:
        return 0
