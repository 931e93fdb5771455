"""Recording from Python: what is done in an environment becomes a demonstration, stored and proven."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from uigym.browser.touch import Hand
from uigym.env import Env
from uigym.record.attempt import Prove
from uigym.record.demo import Demo, Proof, write_demo
from uigym.record.prove import prove as proves
from uigym.record.withhold import withhold
from uigym.store import RunStore
from uigym.types import Action, Done, Episode, Type


class Recorded:
    """A demonstration in the making; complete once its block is left."""

    def __init__(self) -> None:
        self.episode: Episode | None = None
        """As it is stored: as it was played, without what was typed into password fields."""
        self.demo: Demo | None = None
        """Its record, with the proof."""

    @property
    def proof(self) -> Proof:
        """Whether it counts, and why not.

        Raises:
            RuntimeError: The block has not been left yet.
        """
        if self.demo is None or self.demo.proof is None:
            raise RuntimeError("no proof yet: a demonstration is proven when its block is left")
        return self.demo.proof


class Secrets:
    """What goes into password fields of the running episode."""

    def __init__(self, env: Env):
        self.steps: set[int] = set()
        """Numbers of the steps that type it."""
        self.held: set[str] = set()
        """What the fields held."""
        self._env = env

    async def note(self, action: Action) -> None:
        """Called before and after an action."""
        value = await Hand(self._env.session).secret()
        if value:
            self.held.add(value)
        if value is not None and isinstance(action, Type):
            self.steps.add(len(self._env.history))


@asynccontextmanager
async def record(
    env: Env, out: RunStore | Path | str | None = None, *, by: str = "person", prove: Prove = proves
) -> AsyncIterator[Recorded]:
    """Record the episode that `env` has been reset to, from its first step to its end.

    If the block does not end the episode itself, by `Answer` or `Done`, it is done when the block is left. A block
    that raises leaves nothing behind. What is typed into a password field inside the block is not kept.

    Args:
        env: With a running episode.
        out: The store that it goes to, or its folder; None keeps it in memory.
        by: Who shows it, for the record.
        prove: Plays it again, in a product and a browser of its own.

    Raises:
        RuntimeError: `env` has no running episode.
        ProductError, BrowserError, VerifierError: The machinery failed; nothing counts.
        StoreError: The folder cannot be written.

    Example:
        async with Env(load("desk")) as env:
            await env.reset("open_customer", seed=3)
            async with record(env, "data/demos") as demo:
                await env.step(Click(105, 154))
            print(demo.proof.counts, demo.proof.reason)
    """
    if not env.episode_id or env.episode is not None:
        raise RuntimeError("no running episode: call reset first, then record what is done in it")
    store = RunStore(out) if isinstance(out, Path | str) else out
    recorded, name, secrets = Recorded(), env.episode_id, Secrets(env)
    env.onlooker = secrets.note
    try:
        yield recorded
    finally:
        env.onlooker = None
    if env.episode_id != name:
        raise RuntimeError(f"the episode {name} was left for {env.episode_id}; a demonstration is one episode")
    if env.episode is None:
        await env.step(Done())
    assert env.episode is not None
    held = withhold(env.episode, secrets.steps, secrets.held)
    recorded.episode = held.episode
    demo = Demo(by, "python", *env.harness.viewport, env.episode.scale, notes=held.notes)
    if store is not None:
        store.write(held.episode, env.images)
    proof = await prove(env.harness, held.episode, demo, told=held.told)
    recorded.demo = replace(demo, proofs=(proof,))
    if store is not None:
        write_demo(store, name, recorded.demo)
