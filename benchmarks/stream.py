"""Rollouts as a stream against a loop that steps its environments in turn: same policy, same episodes, 32 slots.

    python benchmarks/stream.py --measure desk shop plan mail --out benchmarks/results/stream.json
    python benchmarks/stream.py --measured benchmarks/results/stream.json --out again.json

Real: the pool, the stream, the loop over it, and how long resets and steps take: they are those of the oracles of bundled
apps in Chromium, measured first. Simulated: the environments, which replay those times, since 32 browsers would not fit on a
small machine; the policy, the trainer and the exchange of weights, which only take time. All times run `--speed` times
faster than they say, and results are given in the slow time.

The loop in turn does what trainers do that hold a list of environments: reset one after the other, ask the policy for all of
them as one batch, step one after the other, until the last episode of the batch is over; then learn, then exchange the weights.
A slot is in use while its own decision is made or its own step performed; waiting for others is no use.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import random
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from uigym import registry
from uigym.bench.machine import circumstances, load
from uigym.bench.simulated import Scene, SimulatedEnv, SimulatedPool
from uigym.browser import Browser
from uigym.busy import Busy, Spent
from uigym.env import Env
from uigym.harness import Harness, Split
from uigym.loop import run_sync
from uigym.policy.oracle import OraclePolicy
from uigym.policy.sampler import Weights
from uigym.rollout import Pool, Request
from uigym.slot import DEFAULT_LIMITS
from uigym.train.loop import Loop
from uigym.train.stream import Flow, Stream
from uigym.train.windows import Picture, Turn, Window
from uigym.types import Decision, Done, History, Observation, Wait

PNG = b"\x89PNG simulated"
SLOTS = 32
FLOW = Flow()
LEARN_S, SYNC_S = 0.08, 0.5
"""Of learning, for each action: some 1000 tokens at 12000 tokens a second; of an exchange of weights."""
THINK_S, SPREAD = 1.5, 0.4
"""Median of a decision, and the standard deviation of its logarithm: a model of 7 or 8 billion parameters on one large GPU."""
ASSUMED = {
    "decision_s": {"median": THINK_S, "log_sd": SPREAD},
    "learn_s_per_action": LEARN_S,
    "sync_s": SYNC_S,
    "remark": "assumed, not measured: of a 7B to 8B model, 32 requests at once, some 100 tokens a reply, one GPU each for trainer and sampler",
}
TARGETS = {"actions_per_minute": 2.0, "util/env": 0.65}
Times = list[list[float]]
"""An episode each: seconds of its reset, then of each step."""


# --- how long things take ------------------------------------------------------------------------------------


async def measure(harness: Harness, slots: int, seeds: int) -> Times:
    """Resets and steps of every task's oracle."""
    wanted = [(task, Split.TRAIN.seed(seed)) for seed in range(seeds) for task in harness.tasks]
    found: Times = []

    async def play(pool: Pool) -> None:
        while wanted:
            task, seed = wanted.pop()
            async with pool.borrow() as env:
                found.append(await timed(env, task, seed))

    async with Pool(harness, slots=slots) as pool:
        await asyncio.gather(*(play(pool) for _ in range(slots)))
    return found


async def timed(env: Env, task: str, seed: int) -> list[float]:
    """One episode of the oracle."""
    begun = time.monotonic()
    seen = await env.reset(task, seed)
    times = [time.monotonic() - begun]
    policy = OraclePolicy().for_episode(env)
    try:
        while env.episode is None:
            action = await policy.act(seen, env.history)
            begun = time.monotonic()
            seen = (await env.step(action)).observation
            times.append(time.monotonic() - begun)
    finally:
        await policy.close()
    return [round(value, 4) for value in times]


def summary(times: Times) -> dict[str, Any]:
    """Quantiles of resets, steps and lengths."""
    values = {
        "reset_ms": [1000 * episode[0] for episode in times],
        "step_ms": [1000 * step for episode in times for step in episode[1:]],
        "steps": [float(len(episode) - 1) for episode in times],
    }
    cuts = {name: statistics.quantiles(found, n=10) for name, found in values.items()}
    return {name: {"p10": round(c[0], 1), "p50": round(c[4], 1), "p90": round(c[8], 1)} for name, c in cuts.items()}


# --- what only takes time ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class World:
    """Times of everything, at a speed."""

    times: Times
    speed: float

    def scene(self, episode: str, seed: int, attempt: int) -> Scene:
        """The times of one of the measured episodes, and a coin's reward."""
        rng = random.Random(f"scene:{episode}")
        reset, *steps = rng.choice(self.times)
        return Scene(
            reset_s=reset / self.speed,
            steps_s=[step / self.speed for step in steps],
            score=float(rng.random() < 0.5),
        )

    def thought_s(self, episode: str, step: int) -> float:
        """Of one decision."""
        return random.Random(f"think:{episode}:{step}").lognormvariate(math.log(THINK_S), SPREAD) / self.speed


class Machine:
    """Sampler and policy in one: waits for as long as a decision would take."""

    name = "machine"

    def __init__(self, world: World):
        self.world, self.version = world, 0
        self.goes = asyncio.Event()
        self.goes.set()

    def for_episode(self, env: Env) -> Thoughts:
        return Thoughts(self, env.episode_id)

    async def pause(self) -> None:
        self.goes.clear()

    async def resume(self) -> None:
        self.goes.set()

    async def update(self, weights: Weights, version: int) -> None:
        await asyncio.sleep(SYNC_S / self.world.speed)
        self.version = version

    async def sample(self, *_: Any) -> Any:
        raise AssertionError("the policy does without")

    async def close(self) -> None:
        pass


class Trainer:
    """Waits instead of learning."""

    def __init__(self, world: World):
        self.world = world

    def train(
        self,
        windows: Sequence[Window],
        advantages: Sequence[Sequence[float]],
        pngs: Mapping[str, bytes],
        *,
        denominator: float,
    ) -> dict[str, float]:
        self.learn(sum(len(window.replies) for window in windows))
        return {}

    def learn(self, actions: int) -> None:
        """Take the time that learning from so many takes."""
        time.sleep(LEARN_S * actions / self.world.speed)

    def named(self) -> Iterable[tuple[str, Any]]:
        return ()

    def save(self, folder: Path) -> None:
        raise AssertionError("nobody asks for files")

    def checkpoint(self, folder: Path, progress: dict[str, Any] | None = None) -> None:
        raise AssertionError("nobody asks for checkpoints")

    def resume(self, folder: Path) -> dict[str, Any]:
        raise AssertionError("nobody asks for checkpoints")


class Thoughts:
    """The policy of one episode."""

    name = "machine"

    def __init__(self, machine: Machine, episode: str):
        self.machine, self.episode = machine, episode

    async def act(self, observation: Observation, history: History) -> Decision:
        await asyncio.sleep(self.machine.world.thought_s(self.episode, len(history)))
        await self.machine.goes.wait()
        picture = Picture(observation.image_hash, observation.width, observation.height, 1)
        turn = Turn(not history, (1,), (picture,), (2,), (-0.5,), self.machine.version)
        return Decision(Wait(0), "", turn)


class Tasks:
    """The same task on one seed after another."""

    def __init__(self, task: str):
        self.task, self.drawn = task, 0

    def __iter__(self) -> Tasks:
        return self

    def __next__(self) -> tuple[str, int]:
        self.drawn += 1
        return self.task, self.drawn - 1

    def hear(self, task: str, success: float) -> None:
        pass

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        pass


# --- two ways to play ----------------------------------------------------------------------------------------


@dataclass
class Result:
    """What some updates took, in fast seconds."""

    updates: int
    episodes: int
    actions: int
    spent: Spent

    def to_json(self, speed: float) -> dict[str, float]:
        wall = self.spent.wall * speed
        return {
            "updates": self.updates,
            "episodes": self.episodes,
            "actions": self.actions,
            "wall_s": round(wall, 1),
            "actions_per_minute": round(60 * self.actions / wall, 1),
            "episodes_per_hour": round(3600 * self.episodes / wall),
            "updates_per_hour": round(3600 * self.updates / wall, 1),
            "util/env": round(self.spent.share("acting", "deciding", of=SLOTS), 3),
            "util/env_acting": round(self.spent.share("acting", of=SLOTS), 3),
            "util/sampler": round(self.spent.some.get("deciding", 0) / self.spent.wall, 3),
            "util/trainer": round(self.spent.some.get("learning", 0) / self.spent.wall, 3),
        }


async def streamed(harness: Harness, world: World, flow: Flow, updates: int) -> Result:
    """The loop over a stream; its first update, in which nothing can be learnt meanwhile, counts too."""
    machine, task = Machine(world), next(iter(harness.tasks))
    async with SimulatedPool(harness, world.scene, PNG, slots=SLOTS) as pool:
        stream = Stream(pool, machine, Tasks(task), flow)
        total = Result(0, 0, 0, pool.busy.spent())
        async with aclosing(Loop(stream, machine, Trainer(world)).updates()) as running:
            async for update in running:
                members = [member.episode for group in update.groups for member in group.members]
                total.episodes += len(members)
                total.actions += sum(len(episode.steps) for episode in members)
                total.updates = update.number
                if update.number == updates:
                    break
        return replace(total, spent=pool.busy.spent().since(total.spent))


async def in_turn(harness: Harness, world: World, flow: Flow, updates: int) -> Result:
    """A list of environments, one batch of decisions and one step of each after the other."""
    machine, trainer, task, busy = Machine(world), Trainer(world), next(iter(harness.tasks)), Busy()
    envs = [SimulatedEnv(harness, world.scene, PNG, DEFAULT_LIMITS) for _ in range(SLOTS)]
    total = Result(0, 0, 0, busy.spent())
    for number in range(updates):
        before = total.actions
        seeds = range(number * flow.groups, (number + 1) * flow.groups)
        wanted = [Request(task, seed, f"g{seed}", member) for seed in seeds for member in range(flow.group_size)]
        for first in range(0, len(wanted), SLOTS):
            total.actions += await _batch(busy, machine, envs, wanted[first : first + SLOTS])
        total.updates, total.episodes = number + 1, total.episodes + len(wanted)
        with busy.phase("learning"):
            await asyncio.to_thread(trainer.learn, total.actions - before)
        await machine.update(trainer, number + 1)
    for env in envs:
        await env.close()
    return replace(total, spent=busy.spent().since(total.spent))


async def _batch(busy: Busy, machine: Machine, envs: Sequence[SimulatedEnv], wanted: Sequence[Request]) -> int:
    """As many episodes as there are environments, to the end of the last; returns the actions."""
    live, actions = [], 0
    for env, request in zip(envs, wanted, strict=False):
        name = request.id(env.harness.name)
        with busy.phase("acting"):
            await env.reset(request.task, request.seed, episode_id=name, group=request.group, attempt=0)
        live.append(env)
    while live:
        await asyncio.gather(*(_decided(busy, machine, env) for env in live))
        for env in live:
            with busy.phase("acting"):
                await env.step(Done())
        actions += len(live)
        live = [env for env in live if env.episode is None]
    return actions


async def _decided(busy: Busy, machine: Machine, env: Env) -> None:
    with busy.phase("deciding"):
        await asyncio.sleep(machine.world.thought_s(env.episode_id, len(env.history)))


# --- all of it -----------------------------------------------------------------------------------------------


async def compare(harness: Harness, world: World, updates: int) -> dict[str, Any]:
    """All ways on the same episodes, and how the stream compares."""
    found = {
        "in turn": await in_turn(harness, world, FLOW, updates),
        "streamed": await streamed(harness, world, FLOW, updates),
        "streamed, max_staleness=0": await streamed(harness, world, replace(FLOW, max_staleness=0), updates),
        "streamed, max_staleness=2": await streamed(harness, world, replace(FLOW, max_staleness=2), updates),
    }
    told = {name: result.to_json(world.speed) for name, result in found.items()}
    rate = {name: one["actions_per_minute"] for name, one in told.items()}
    ratio = round(rate["streamed"] / rate["in turn"], 2)
    met = ratio >= TARGETS["actions_per_minute"] and told["streamed"]["util/env"] >= TARGETS["util/env"]
    return {"step times": summary(world.times), **told, "ratio": {"actions_per_minute": ratio}, "targets met": met}


async def main(told: argparse.Namespace) -> dict[str, Any]:
    """Measure, or take what was measured, then compare."""
    before = load()
    if told.measured:
        former = json.loads(told.measured.read_text())
        measured_at = former["measured_at"]
        measured = {
            name: [[float(value) for value in line.split()] for line in found]
            for name, found in former["measured"].items()
        }
    else:
        measured = {name: await measure(registry.load(name), told.slots, told.seeds) for name in told.measure}
        measured_at = {"slots": told.slots, "load_before": round(before, 1), "load_after": round(load(), 1)}
    times = [episode for found in measured.values() for episode in found]
    quick = [[value / 4 for value in episode] for episode in times]
    harness = registry.load("kiosk")
    cases = {
        "steps as measured": await compare(harness, World(times, told.speed), told.updates),
        "steps four times as fast": await compare(harness, World(quick, told.speed), told.updates),
    }
    browser = await Browser.launch()
    chromium = browser.version
    await browser.close()
    return {
        "slots": SLOTS,
        "groups": FLOW.groups,
        "group_size": FLOW.group_size,
        "max_staleness": FLOW.max_staleness,
        "targets": TARGETS,
        "simulated": __doc__.split("\n\n")[2].replace("\n", " ") if __doc__ else "",
        "assumed": ASSUMED,
        "speed": told.speed,
        "cases": cases,
        **circumstances(before, chromium),
        "measured_at": measured_at,
        "measured_ms": {name: summary(found) for name, found in measured.items()},
        "measured": {name: [" ".join(map(str, one)) for one in found] for name, found in measured.items()},
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", nargs="+", default=["kiosk"], metavar="HARNESS", help="whose resets and steps")
    parser.add_argument("--measured", type=Path, help="an earlier result whose measured times are to be used")
    parser.add_argument("--slots", type=int, default=2, help="environments at once while measuring")
    parser.add_argument("--seeds", type=int, default=1, help="of each task, while measuring")
    parser.add_argument("--updates", type=int, default=6)
    parser.add_argument("--speed", type=float, default=10.0)
    parser.add_argument("--out", type=Path, default=Path("stream.json"))
    options = parser.parse_args()
    result = run_sync(main(options))
    options.out.write_text(json.dumps(result, indent=1) + "\n")
    for case, found in result["cases"].items():
        print(case, json.dumps({k: v for k, v in found.items() if k != "step times"}, indent=1))
