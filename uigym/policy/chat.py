"""A vision-language model as a policy: a conversation of screenshots and replies, ids in and ids out.

What was sampled goes back into the context as the very ids that were sampled, with the log-probabilities that they
had; text is read from ids and never turned back into them. Every step that asked the model says one `Turn`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from uigym.errors import ConfigError, PolicyError, attribute, did_you_mean
from uigym.policy import contexts
from uigym.policy.codecs import CODECS, Screen
from uigym.policy.contexts import Context
from uigym.policy.sampler import PLAIN, Reply, Sampler, Sampling
from uigym.train.windows import Picture, Turn
from uigym.types import Action, Decision, History, Invalid, Observation, StepRecord

if TYPE_CHECKING:
    from uigym.env import Env
    from uigym.models.families.family import Family

_SAID = 1000
"""Characters of one thing that is told beside the picture."""


class ChatPolicy:
    """Asks a model at every step; each episode is a conversation of its own.

    Args:
        family: Of the model: how ids are made and read.
        sampler: Who samples; it serves all episodes at once.
        context: How much of an episode the model has before it.
        sampling: How replies are sampled.
        training: Whether the replies are to be trained with; then only what the trainer computes as well is allowed.
        limit: Longest context with its reply, in tokens, as the sampler or the trainer bears it; None is no limit.

    Raises:
        ConfigError: The family names no codec, or this sampling cannot be trained with.
    """

    def __init__(
        self,
        family: Family,
        sampler: Sampler,
        context: Context = contexts.DEFAULT,
        sampling: Sampling = PLAIN,
        *,
        training: bool = False,
        limit: int | None = None,
    ):
        if family.codec not in CODECS:
            raise ConfigError(f'no codec "{family.codec}". {did_you_mean(family.codec, CODECS)}')
        if training:
            sampling.check_trainable()
        if limit is not None and limit <= sampling.max_tokens:
            raise ConfigError(f"a context of {limit} tokens has no room beside a reply of {sampling.max_tokens}")
        self.name = family.name
        self.family = family
        self.sampler = sampler
        self.context = context
        self.sampling = sampling
        self.training = training
        self.limit = limit

    def for_episode(self, env: Env) -> Conversation:
        """The policy of one episode."""
        return Conversation(self)

    async def close(self) -> None:
        """End what the sampler started."""
        await self.sampler.close()


@dataclass(frozen=True, slots=True)
class _Past:
    """A turn that is over."""

    text: str
    """What was told beside the picture."""
    picture: Picture
    reply: tuple[int, ...]
    words: str
    """The reply's."""


@dataclass(frozen=True, slots=True)
class _Prompt:
    fresh: bool
    ids: list[int]
    pictures: list[Picture]


class Conversation:
    """One episode's policy: keeps what the model saw and said. Made by `ChatPolicy.for_episode`."""

    def __init__(self, policy: ChatPolicy):
        self.policy = policy
        self.name = policy.name
        self._past: list[_Past] = []
        self._ids: list[int] = []
        """Of the present context, replies included."""
        self._pictures: list[Picture] = []
        self._pngs: dict[str, bytes] = {}
        self._more: deque[Action] = deque()
        """What the last reply said beyond its first action."""

    async def act(self, observation: Observation, history: History) -> Decision:
        """The next action; where a reply said several, each takes a step, and only the first of them has a `Turn`.

        Raises:
            PolicyError: The sampler failed, gave what it was forbidden to, or the context is too long for it.
        """
        if self._more and observation.error is None:
            return Decision(self._more.popleft())
        self._more.clear()
        family = self.policy.family
        width, height = round(observation.width * observation.scale), round(observation.height * observation.scale)
        picture = family.picture(observation.image_hash, width, height)
        self._pngs[picture.hash] = observation.png
        text = told(observation)
        prompt = self._prompt(observation.instruction, text, picture)
        before = [] if prompt.fresh else self._ids
        pictures = [*([] if prompt.fresh else self._pictures), *prompt.pictures]
        ids = before + prompt.ids
        pngs = {shown.hash: self._pngs[shown.hash] for shown in pictures}
        reply = await self.policy.sampler.sample(ids, pictures, pngs, self.policy.sampling)
        turn = self._turn(prompt, reply)
        self._ids, self._pictures = [*ids, *reply.ids], pictures
        words = family.text(reply.ids)
        self._past.append(_Past(text, picture, reply.ids, words))
        return self._decide(observation, picture, words, turn)

    def _prompt(self, instruction: str, text: str, picture: Picture) -> _Prompt:
        """What is added to the context, or the shortest new one that it may be where the context is too long."""
        family, kept = self.policy.family, self.policy.context.past(len(self._pictures), len(self._past))
        if kept is None:
            closing = family.closing(self._past[-1].reply)
            prompt = _Prompt(False, [*closing, *family.asking(text, [picture])], [picture])
            if self._fits(len(self._ids) + len(prompt.ids)):
                return prompt
            kept = min(self.policy.context.least - 1, len(self._past))
        for past, tells in [*((past, self.policy.context.digest) for past in range(kept, -1, -1)), (0, False)]:
            prompt = self._fresh(instruction, text, picture, self._past[len(self._past) - past :], tells)
            if self._fits(len(prompt.ids)):
                return prompt
        raise PolicyError(
            f"one screenshot of {picture.width} x {picture.height} px with its instruction takes {len(prompt.ids)} tokens; "
            f"with a reply of {self.policy.sampling.max_tokens} that is more than the limit of {self.policy.limit}"
        )

    def _fits(self, tokens: int) -> bool:
        limit = self.policy.limit
        return limit is None or tokens + self.policy.sampling.max_tokens <= limit

    def _fresh(self, instruction: str, text: str, picture: Picture, shown: list[_Past], tells: bool) -> _Prompt:
        """A new context with the last turns in it as they were sampled, and maybe what the others said."""
        family = self.policy.family
        dropped = [past.words for past in self._past[: len(self._past) - len(shown)]] if tells else []
        asked = [*((past.text, past.picture) for past in shown), (text, picture)]
        ids = family.fresh(instruction, contexts.digest(dropped), asked[0][0], [asked[0][1]])
        for past, (said, seen) in zip(shown, asked[1:], strict=True):
            ids = [*ids, *past.reply, *family.closing(past.reply), *family.asking(said, [seen])]
        return _Prompt(True, ids, [seen for _, seen in asked])

    def _turn(self, prompt: _Prompt, reply: Reply) -> Turn:
        if forbidden := set(reply.ids) & set(self.policy.family.banned):
            raise PolicyError(
                f"the sampler gave the ids {sorted(forbidden)}, which stand for pictures and turns and were forbidden: "
                "it must leave them out when it samples"
            )
        with attribute(PolicyError, "the sampler gave a reply that cannot be used"):
            return Turn(
                prompt.fresh, tuple(prompt.ids), tuple(prompt.pictures), reply.ids, reply.logprobs, reply.version
            )

    def _decide(self, seen: Observation, picture: Picture, words: str, turn: Turn) -> Decision:
        if turn.reply[-1] != self.policy.family.end:
            limit = self.policy.sampling.max_tokens
            return Decision(Invalid(words, f"the reply did not end within {limit} tokens: {words[:80]!r}"), words, turn)
        screen = Screen.of(seen, (picture.width, picture.height))
        first, *more = CODECS[self.policy.family.codec].decode(words, screen)
        self._more.extend(more)
        return Decision(first, words, turn)


def told(observation: Observation | StepRecord) -> str:
    """What a policy is told in words beside the picture, or after a step beside the next; empty if there is nothing."""
    lines = [f"Your last action was refused: {observation.error}"] if observation.error else []
    lines += [" ".join(filter(None, (event.kind, event.type, event.text))) for event in observation.events]
    lines += observation.open.words
    return "\n".join(_cut(line) for line in lines)


def _cut(line: str) -> str:
    return line if len(line) <= _SAID else f"{line[:_SAID]}..."


def turns(samples: Sequence[object]) -> list[Turn]:
    """The turns among an episode's samples; a step that carried out more of an earlier reply has none."""
    return [sample for sample in samples if isinstance(sample, Turn)]
