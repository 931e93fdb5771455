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
from uigym.policy.codecs.language import language, recalled
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
        self._endpoint = Endpoint(base, headers={"Authorization": f"Bearer {key}"} if key else None)

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
