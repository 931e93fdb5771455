"""Asking a vLLM server for one reply: the context's ids with the pictures' features, which the server makes first.

A screenshot's features are some 10 MB of JSON, to and fro. One interpreter that reads and writes them for all episodes
has little time for anything else, so that a run lets `uigym.policy.courier` do it in processes of their own.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from uigym.policy.endpoint import Endpoint, Unreachable
from uigym.policy.features import Features
from uigym.train.windows import Picture


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked."""

    ids: tuple[int, ...]
    """The context."""
    pictures: tuple[Picture, ...]
    """In it, in the order of their placeholders."""
    sampling: Mapping[str, Any]
    """The request's `sampling_params`."""
    salt: str
    """Prefixes are cached under it."""
    mark: str = ""
    """Added to the names of pictures: what was computed under another mark is not used again."""

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return dataclasses.asdict(self)

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Question:
        """What `to_json` made, perhaps after a way through JSON."""
        pictures = tuple(Picture(**picture) for picture in value["pictures"])
        return Question(**{**value, "ids": tuple(value["ids"]), "pictures": pictures})


class Asking(Protocol):
    """Who asks."""

    async def answer(self, endpoint: Endpoint, question: Question, pngs: Mapping[str, bytes]) -> Any:
        """The server's answer, as JSON values.

        Args:
            endpoint: The server.
            question: What is asked.
            pngs: The question's pictures by hash, as the model is shown them.

        Raises:
            Unreachable: It did not answer; asked again, it may.
            PolicyError: It refused.
        """

    def forget(self) -> None:
        """The server has forgotten what it was sent."""

    async def close(self) -> None:
        """End what was started for it."""


class Here:
    """Asks from this process.

    Args:
        remembers: Whether the server keeps what it was sent.
    """

    def __init__(self, *, remembers: bool = True):
        self.features = Features(remembers=remembers)

    async def answer(self, endpoint: Endpoint, question: Question, pngs: Mapping[str, bytes]) -> Any:
        """See `Asking.answer`; asked twice where the server turns out to have forgotten pictures."""
        for _ in range(2):
            part = await self.features.part(endpoint, question.ids, question.pictures, pngs, question.mark)
            body = {
                "token_ids": list(question.ids),
                "features": part,
                "sampling_params": dict(question.sampling),
                "cache_salt": question.salt,
            }
            try:
                answer = await endpoint.post("/inference/v1/generate", json.dumps(body).encode())
                _complete(answer)
            except Unreachable:
                if not self.features.missed(part):
                    raise
                continue
            self.features.sent(part)
            return answer
        raise Unreachable("the server does not keep the pictures that it was sent")

    def forget(self) -> None:
        """See `Asking.forget`: what was processed stays of use."""
        self.features.forget()

    async def close(self) -> None:
        """Nothing was started."""


def _complete(answer: Any) -> None:
    """Whether the server gave up, which is how one says that it lacks a picture."""
    choices = answer.get("choices") if isinstance(answer, dict) else None
    if isinstance(choices, list) and len(choices) == 1 and isinstance(choices[0], dict):
        how = choices[0].get("finish_reason")
        if how not in ("stop", "length"):
            raise Unreachable(f"the server ended a reply by {how!r}")
