"""Demonstrations as windows: what the policy would have seen and said, had it been the one that showed it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from uigym.policy.chat import ChatPolicy, Conversation
from uigym.policy.codecs import CODECS, Screen
from uigym.policy.sampler import Reply, Sampling, Weights
from uigym.report.film import png_size
from uigym.rollout import Finished
from uigym.train.windows import Picture, Turn, Window, windows
from uigym.types import Decision, Episode, Observation


class Prompter:
    """A sampler that says what it is told to say next."""

    def __init__(self) -> None:
        self.version = 0
        self.ids: tuple[int, ...] = ()

    async def start(self) -> None:
        """It is ready."""

    async def sample(
        self, ids: Sequence[int], pictures: Sequence[Picture], pngs: Mapping[str, bytes], sampling: Sampling
    ) -> Reply:
        """The ids that were set, each as if it had been certain."""
        return Reply(self.ids, (0.0,) * len(self.ids), self.version, self.version)

    async def pause(self) -> None:
        """Nothing is under way."""

    async def resume(self) -> None:
        """Nothing waits."""

    async def update(self, weights: Weights, version: int) -> None:
        """There are no weights."""

    async def close(self) -> None:
        """Nothing was started."""


async def taught(policy: ChatPolicy, shown: Finished) -> list[Window]:
    """The windows of a demonstration, in the policy's own context and action language.

    A demonstration ends where it does something that the language has no word for, or that was refused.

    Args:
        policy: Who is to learn it.
        shown: An episode with its pictures.
    """
    prompter = Prompter()
    pupil = ChatPolicy(policy.family, prompter, policy.context, policy.sampling, limit=policy.limit)
    conversation = Conversation(pupil)
    turns: list[Turn] = []
    for at, step in enumerate(shown.episode.steps):
        seen = observation(shown.episode, shown.images, at)
        picture = policy.family.picture(
            seen.image_hash, *(round(side * seen.scale) for side in (seen.width, seen.height))
        )
        screen = Screen.of(seen, (picture.width, picture.height))
        text = CODECS[policy.family.codec].encode(step.action, screen)
        if step.error is not None or not isinstance(text, str) or not text:
            break
        prompter.ids = tuple(policy.family.reply(text))
        if len(prompter.ids) > policy.sampling.max_tokens:
            break
        decision = await conversation.act(seen, shown.episode.steps[:at])
        assert isinstance(decision, Decision) and isinstance(decision.sample, Turn)
        turns.append(decision.sample)
    return windows(turns)


def observation(episode: Episode, images: Mapping[str, bytes], at: int) -> Observation:
    """What was seen before a step of a stored episode.

    Raises:
        KeyError: Its picture is not there.
    """
    png = images[episode.steps[at].image]
    width, height = (round(side / episode.scale) for side in png_size(png))
    if at == 0:
        return Observation(png, width, height, episode.instruction, scale=episode.scale)
    before = episode.steps[at - 1]
    return Observation(
        png,
        width,
        height,
        episode.instruction,
        error=before.error,
        events=before.events,
        settled=before.settled,
        open=before.open,
        scale=episode.scale,
    )
