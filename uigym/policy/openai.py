"""A model behind any OpenAI-compatible server, for evaluation: SGLang, vLLM and hosted ones.

Text in, text out: the server makes the tokens, so that nothing of it can be trained with.
"""

from __future__ import annotations

import asyncio
import base64
import logging
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from uigym.errors import ConfigError, PolicyError, did_you_mean
from uigym.policy import contexts
from uigym.policy.chat import told
from uigym.policy.codecs import CODECS, Screen
from uigym.policy.codecs.language import LANGUAGES, language, recalled
from uigym.policy.contexts import Context
from uigym.policy.endpoint import Endpoint, Unreachable
from uigym.policy.sampler import PLAIN, Sampling
from uigym.types import Action, Decision, History, Invalid, Observation

if TYPE_CHECKING:
    from uigym.env import Env

_log = logging.getLogger(__name__)


class OpenAIPolicy:
    """Asks a server for each action; each episode is a conversation of its own.

    Args:
        url: Of the server, with or without /v1.
        model: Name that the server knows it by.
        codec: That its replies are read with, one of `uigym.policy.codecs.CODECS`.
        context: How much of an episode the model has before it.
        sampling: How replies are sampled.
        key: Sent as a bearer token; "" is none.
        retries: How often a request is sent again while the server fails.

    Raises:
        ConfigError: There is no such codec, or the address is none.

    Example:
        >>> policy = OpenAIPolicy("http://127.0.0.1:30000", "Qwen/Qwen3-VL-4B-Instruct", "qwen3")
        >>> policy.name
        'Qwen/Qwen3-VL-4B-Instruct'
    """

    def __init__(
        self,
        url: str,
        model: str,
        codec: str,
        context: Context = contexts.DEFAULT,
        sampling: Sampling = PLAIN,
        *,
        key: str = "",
        retries: int = 4,
    ):
        if codec not in CODECS:
            raise ConfigError(f'no codec "{codec}". {did_you_mean(codec, CODECS)}')
        self.name = model
        self.codec = CODECS[codec]
        self.language = language(codec)
        self.context = context
        self.sampling = sampling
        self.retries = retries
        self.pause_s = 1.0
        """Before a request is sent again; twice as long each time."""
        base = url.rstrip("/").removesuffix("/v1")
        self._endpoint = Endpoint(base, headers=_bearer(key))

    def for_episode(self, env: Env) -> OpenAIConversation:
        """The policy of one episode."""
        return OpenAIConversation(self)

    async def say(self, messages: list[dict[str, Any]]) -> tuple[str, str]:
        """(what the model says to a conversation, how it ended).

        Raises:
            PolicyError: The server refused the request, failed on every try, or gave no reply.
        """
        sampling = self.sampling
        body = {"model": self.name, "messages": messages, "max_tokens": sampling.max_tokens} | {
            "temperature": sampling.temperature
        }
        body |= {"top_p": sampling.top_p} if sampling.top_p < 1 else {}
        body |= {"top_k": sampling.top_k} if sampling.top_k else {}
        body |= {"seed": sampling.seed} if sampling.seed is not None else {}
        answer = await self._ask(body)
        try:
            choice = answer["choices"][0]
            return str(choice["message"]["content"] or ""), str(choice.get("finish_reason"))
        except (KeyError, TypeError, LookupError) as exc:
            raise PolicyError(f"{self._endpoint.url} answered without a message: {answer!r:.300}") from exc

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()

    async def _ask(self, body: Any) -> Any:
        pause_s = self.pause_s
        for attempt in range(self.retries + 1):
            try:
                return await self._endpoint.post("/v1/chat/completions", body)
            except Unreachable as exc:
                if attempt == self.retries:
                    raise PolicyError(
                        f"{self.name} gave no reply on {attempt + 1} tries; the last time: {exc}"
                    ) from exc
                _log.warning("%s, attempt %d: %s", self.name, attempt + 1, exc)
            await asyncio.sleep(pause_s)
            pause_s *= 2
        raise AssertionError("unreachable")


CODECS_BY_NAME = {
    "ui-tars": "uitars", "qwen2.5-vl": "qwen2.5", "qwen3": "qwen3", "smolvlm": "smolvlm", "idefics3": "smolvlm",
}  # fmt: skip
"""The language of models whose name has such a part."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Served:
    """A model behind an OpenAI-compatible server, and how it is asked."""

    url: str
    """With or without /v1."""
    model: str | None = None
    """Name that the server knows it by; None is the only one that it has."""
    codec: str | None = None
    """Action language; None is told from the model's name."""
    context: str = "hysteresis(1, 6)"
    """As `uigym.policy.contexts.parse` reads it."""
    max_tokens: int = 256
    """Longest reply."""
    key: str = ""
    """Sent as a bearer token; "" is none."""

    async def policy(self, *, greedy: bool = False) -> OpenAIPolicy:
        """Who asks it.

        Raises:
            ConfigError: It cannot be told which model is meant, or what language it speaks.
            PolicyError: The server does not answer.
        """
        context = contexts.parse(self.context)
        name = self.model or await self._only()
        sampling = Sampling(temperature=0.0 if greedy else 1.0, max_tokens=self.max_tokens)
        return OpenAIPolicy(self.url, name, self.codec or codec_of(name), context, sampling, key=self.key)

    async def _only(self) -> str:
        """The name of the one model that the server has."""
        endpoint = Endpoint(self.url.rstrip("/").removesuffix("/v1"), headers=_bearer(self.key), timeout_s=30.0)
        try:
            answer = await endpoint.get("/v1/models")
            names = [str(each["id"]) for each in answer["data"]]
        except (KeyError, TypeError) as exc:
            raise PolicyError(
                f"{self.url} does not say which models it has: {answer!r:.300}; name one: --model"
            ) from exc
        finally:
            await endpoint.close()
        if len(names) != 1:
            raise ConfigError(f"{self.url} has {len(names)} models: {', '.join(names)}. Name one: --model NAME")
        return names[0]


def codec_of(model: str) -> str:
    """The action language of a model, by its name.

    Raises:
        ConfigError: The name does not say.

    Example:
        >>> codec_of("Qwen/Qwen3-VL-4B-Instruct"), codec_of("ByteDance-Seed/UI-TARS-1.5-7B")
        ('qwen3', 'uitars')
    """
    found = next((codec for part, codec in CODECS_BY_NAME.items() if part in model.lower()), None)
    if found is None:
        raise ConfigError(
            f'the name "{model}" does not say what language the model speaks: name it with --codec, '
            f"one of {', '.join(LANGUAGES)}"
        )
    return found


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


@dataclass(frozen=True, slots=True)
class _Past:
    text: str
    png: bytes
    words: str


class OpenAIConversation:
    """One episode's policy. Made by `OpenAIPolicy.for_episode`."""

    def __init__(self, policy: OpenAIPolicy):
        self.policy = policy
        self.name = policy.name
        self._past: list[_Past] = []
        self._shown = 0
        self._more: deque[Action] = deque()

    async def act(self, observation: Observation, history: History) -> Decision:
        """The next action; where a reply said several, each takes a step.

        Raises:
            PolicyError: The server gave no reply.
        """
        if self._more and observation.error is None:
            return Decision(self._more.popleft())
        self._more.clear()
        text = told(observation)
        kept = self.policy.context.past(self._shown, len(self._past))
        self._shown = (self._shown if kept is None else kept) + 1
        words, how = await self.policy.say(self._messages(observation, text))
        self._past.append(_Past(text, observation.png, words))
        if how == "length":
            limit = self.policy.sampling.max_tokens
            return Decision(Invalid(words, f"the reply did not end within {limit} tokens: {words[:80]!r}"), words)
        first, *more = self.policy.codec.decode(words, Screen.of(observation))
        self._more.extend(more)
        return Decision(first, words)

    def _messages(self, observation: Observation, text: str) -> list[dict[str, Any]]:
        at = len(self._past) + 1 - self._shown
        dropped = [past.words for past in self._past[:at]] if self.policy.context.digest else []
        told_first = recalled(contexts.digest(dropped))
        messages = [{"role": "system", "content": f"{self.policy.language}\n\nThe task: {observation.instruction}"}]
        for past in self._past[at:]:
            messages += [_asked(past.png, told_first + past.text), {"role": "assistant", "content": past.words}]
            told_first = ""
        return [*messages, _asked(observation.png, told_first + text)]


def _asked(png: bytes, text: str) -> dict[str, Any]:
    url = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    content: list[dict[str, Any]] = [{"type": "image_url", "image_url": {"url": url}}]
    return {"role": "user", "content": [*content, *([{"type": "text", "text": text}] if text else [])]}
