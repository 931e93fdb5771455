"""A policy put to work: `Agent.from_checkpoint(DIR).run_task("kiosk/order")`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import aclosing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from uigym import registry
from uigym.env import Limits
from uigym.errors import ConfigError, did_you_mean
from uigym.evaluate import Evaluation, evaluate
from uigym.harness import Harness, Split, Task
from uigym.live import publish
from uigym.loop import run_sync
from uigym.policy import EpisodePolicy, Policy, manner
from uigym.policy.scripted import NoOpPolicy, OraclePolicy, RandomPolicy
from uigym.rollout import Pool, Request
from uigym.store import RunStore, checkpoints
from uigym.types import Episode

if TYPE_CHECKING:
    from uigym.policy.openai import Served

TINY = "tiny"
"""Names the model that comes with uigym."""
_SCRIPTED: dict[str, Callable[[], Policy | EpisodePolicy]] = {
    "noop": NoOpPolicy,
    "oracle": OraclePolicy,
    "random": RandomPolicy,
}


@dataclass(frozen=True, slots=True)
class Trial:
    """What an agent did in some episodes, and how good that is."""

    evaluation: Evaluation
    episodes: tuple[Episode, ...]
    """In the order in which they ended."""

    @property
    def success_rate(self) -> float:
        """Successes among the episodes that got a verdict."""
        return self.evaluation.success_rate


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """Which episodes an agent shall play, and how."""

    episodes: int = 20
    """In all, spread evenly over the tasks."""
    split: Split = Split.HELDOUT
    """Where the seeds come from, the first ones first."""
    max_steps: int | None = None
    """Actions in an episode; None is each task's own limit."""
    slots: int = 4
    """Episodes at once."""
    takeover: bool = False
    """Whether a person who looks on (`uigym view`) may take the policy's place, if there is a store."""

    def requests(self, tasks: Sequence[Task]) -> list[Request]:
        """One request for each episode: every task with the first seed, then every task with the second.

        Raises:
            ConfigError: There are no episodes, or no tasks.
        """
        if self.episodes < 1 or not tasks:
            raise ConfigError(f"nothing to play: {self.episodes} episodes of {len(tasks)} tasks; expected at least one")
        count = len(tasks)
        return [Request(tasks[i % count].name, self.split.seed(i // count)) for i in range(self.episodes)]


class Agent:
    """A policy that can be sent to tasks. The methods ending in _async are for those who have an event loop."""

    def __init__(self, policy: Policy | EpisodePolicy):
        self.policy = policy

    @classmethod
    def from_checkpoint(cls, checkpoint: str | Path = TINY, *, greedy: bool = False) -> Self:
        """The policy of a checkpoint, of the model that comes with uigym ("tiny"), or a scripted one by name.

        Args:
            checkpoint: Folder of a checkpoint of any family, or of a run (its newest counts); or tiny, noop, random, oracle.
            greedy: Always the likeliest action, instead of drawing as in training.

        Raises:
            ConfigError: The folder is no checkpoint that uigym can use.
            MissingExtra: PyTorch or transformers is not installed.
        """
        return cls(find_policy(str(checkpoint), greedy=greedy))

    @classmethod
    def from_server(cls, served: Served, *, greedy: bool = False) -> Self:
        """A model behind any OpenAI-compatible server: vLLM, SGLang, or a hosted one.

        Args:
            served: Where, and how it is asked.
            greedy: Always the likeliest reply.

        Raises:
            ConfigError: It cannot be told which model is meant, or what language it speaks.
            PolicyError: The server does not answer.
        """
        return cls(run_sync(served.policy(greedy=greedy)))

    def run_task(
        self,
        task: str,
        *,
        max_steps: int | None = None,
        episodes: int = 20,
        split: str = Split.HELDOUT,
        slots: int = 4,
    ) -> Trial:
        """Play a task on seeds of a split and say how often it was done.

        Args:
            task: harness/task; the harness is an id or a file.
            max_steps: Actions in an episode; None is the task's own limit.
            episodes: How many seeds.
            split: train, validation or heldout.
            slots: Episodes at once.

        Raises:
            HarnessError: There is no such task; the text has the nearest name.
            ConfigError: There is no such split, or nothing to play.
            ProductError, BrowserError, PolicyError: The machinery cannot be started, or fails too often.

        Example:
            >>> trial = Agent.from_checkpoint("oracle").run_task("kiosk/order", episodes=4)  # doctest: +SKIP
            >>> trial.success_rate, len(trial.episodes)  # doctest: +SKIP
            (1.0, 4)
        """
        plan = Plan(episodes=episodes, split=find_split(split), max_steps=max_steps, slots=slots)
        return run_sync(self.run_task_async(task, plan))

    async def run_task_async(self, task: str, plan: Plan = Plan()) -> Trial:
        """`run_task` for those who have an event loop."""
        found = registry.load_task(task)
        return await self.play(found.harness, plan.requests([found]), plan)

    async def play(
        self,
        harness: Harness,
        requests: Sequence[Request],
        plan: Plan = Plan(),
        *,
        store: RunStore | None = None,
        on_episode: Callable[[Episode], None] | None = None,
    ) -> Trial:
        """Play the requests and sum them up.

        Args:
            harness: The product and its tasks.
            requests: What to play.
            plan: For its `slots` and `max_steps`.
            store: Where the episodes are kept; None keeps them in memory alone.
            on_episode: Called with each episode that is over.
        """
        episodes: list[Episode] = []
        pool = Pool(harness, slots=min(plan.slots, len(requests)), limits=Limits(max_steps=plan.max_steps))
        folder = store.directory if store else None
        seen = publish(pool, folder, takeover=folder if plan.takeover else None) if folder else nullcontext()
        async with pool, seen, aclosing(pool.run(self.policy, requests, store)) as running:
            async for finished in running:
                episodes.append(finished.episode)
                if on_episode:
                    on_episode(finished.episode)
        return Trial(evaluate(episodes), tuple(episodes))

    async def close(self) -> None:
        """End what the policy holds, such as connections; in the loop that it played in, and for good."""
        if close := getattr(self.policy, "close", None):
            await close()


def find_split(name: str) -> Split:
    """The split of that name.

    Raises:
        ConfigError: There is none.
    """
    if name not in list(Split):
        raise ConfigError(f'no split "{name}". {did_you_mean(name, Split)}')
    return Split(name)


def find_policy(ref: str, *, greedy: bool = False) -> Policy | EpisodePolicy:
    """The policy that a reference means: noop, random, oracle, tiny, or a checkpoint folder.

    Raises:
        ConfigError: It is none of these, or the folder is no checkpoint that uigym can use.
        MissingExtra: PyTorch or transformers is not installed.
    """
    if ref in _SCRIPTED:
        return _SCRIPTED[ref]()
    if ref != TINY and not Path(ref).is_dir():
        known = did_you_mean(ref, [*_SCRIPTED, TINY])
        raise ConfigError(f'no policy "{ref}": it is neither a checkpoint folder nor a name. {known}')
    return _model(ref, greedy)


def newest_checkpoint(folder: Path) -> Path:
    """The newest checkpoint of a run folder; the folder itself if it is a checkpoint, or has none."""
    if (folder / "config.json").is_file():
        return folder
    return next(reversed(checkpoints(folder)), folder)


def _model(checkpoint: str, greedy: bool) -> Policy | EpisodePolicy:
    from uigym.models import families  # needs an extra

    chosen = checkpoint if checkpoint == TINY else newest_checkpoint(Path(checkpoint))
    is_own = manner.read(Path(chosen)) is None and families.open(chosen).name == TINY
    if is_own:
        from uigym.policy.hf import TransformersPolicy

        return TransformersPolicy(chosen, temperature=0.0 if greedy else 1.0)
    from uigym.policy.local import saved

    return saved(Path(chosen), greedy=greedy)
