"""Recording from Python: what is done in an environment becomes a demonstration, stored and proven."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from uigym.env import Env
from uigym.record.attempt import Prove
from uigym.record.demo import Demo, Proof, write_demo
from uigym.record.prove import prove as proves
from uigym.store import RunStore
from uigym.types import Done, Episode


class Recorded:
    """A demonstration in the making; complete once its block is left."""

    def __init__(self) -> None:
        self.episode: Episode | None = None
        """As it was played."""
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


@asynccontextmanager
async def record(
    env: Env, out: RunStore | Path | str | None = None, *, by: str = "person", prove: Prove = proves
) -> AsyncIterator[Recorded]:
    """Record the episode that `env` has been reset to, from its first step to its end.

    If the block does not end the episode itself, by `Answer` or `Done`, it is done when the block is left. A block
    that raises leaves nothing behind.

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
    recorded, name = Recorded(), env.episode_id
    yield recorded
    if env.episode_id != name:
        raise RuntimeError(f"the episode {name} was left for {env.episode_id}; a demonstration is one episode")
    if env.episode is None:
        await env.step(Done())
    assert env.episode is not None
    recorded.episode = env.episode
    width, height = env.harness.viewport
    demo = Demo(by, "python", width, height, env.episode.scale)
    if store is not None:
        store.write(env.episode, env.images)
    proof = await prove(env.harness, env.episode, demo)
    recorded.demo = Demo(by, "python", width, height, env.episode.scale, proofs=(proof,))
    if store is not None:
        write_demo(store, name, recorded.demo)
