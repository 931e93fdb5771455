"""Pictures as a vLLM server's model takes them: processed once by the server, then named by hash.

The server's render route turns a picture into an opaque text of tensors, some 10 MB for a screenshot; with it in a
request go the picture's name and where its placeholders stand. A server that has seen a name remembers the tensors, so
that they are sent once and not at every step.
"""

from __future__ import annotations

import asyncio
import base64
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from uigym.errors import PolicyError
from uigym.policy.endpoint import Endpoint
from uigym.train.windows import Picture

KEPT_BYTES = 2 << 30
"""Of processed pictures that are kept to be sent again."""


@dataclass(frozen=True, slots=True)
class Processed:
    """A picture as the server processed it."""

    data: str
    """The tensors, as the server wrote them."""
    placeholder: int
    """Id that stands for the picture in a context."""


class Features:
    """Processed pictures of one server.

    Args:
        remembers: Whether the server keeps what it was sent: one that answers from a single process does.
        keep_bytes: Of processed pictures that are kept.
    """

    def __init__(self, *, remembers: bool = True, keep_bytes: int = KEPT_BYTES):
        self.remembers = remembers
        self.keep_bytes = keep_bytes
        self._kept: OrderedDict[str, asyncio.Task[Processed]] = OrderedDict()
        self._sizes: dict[str, int] = {}
        self._sent: set[str] = set()

    async def part(
        self,
        endpoint: Endpoint,
        ids: Sequence[int],
        pictures: Sequence[Picture],
        pngs: Mapping[str, bytes],
        mark: str = "",
    ) -> dict[str, Any] | None:
        """The request's `features`: names, places and, where the server does not have them yet, tensors.

        Args:
            endpoint: The server.
            ids: The context.
            pictures: Those in it, in the order of their placeholders.
            pngs: As the model is shown them, by hash; those that are `kept` are not needed.
            mark: Added to each name: what was computed of the same picture under another mark is not used again.

        Raises:
            PolicyError: The server processes a picture otherwise than the family does, or placeholders do not fit.
        """
        if not pictures:
            return None
        found = {p.hash: await self._processed(endpoint, p, pngs) for p in pictures}
        names = [picture.hash + mark for picture in pictures]
        data: list[str | None] = []
        for picture, name in zip(pictures, names, strict=True):
            is_there = name in self._sent or name in names[: len(data)]
            data.append(None if self.remembers and is_there else found[picture.hash].data)
        places = spans(ids, pictures, found[pictures[0].hash].placeholder)
        return {
            "mm_hashes": {"image": names},
            "mm_placeholders": {"image": [{"offset": at, "length": length} for at, length in places]},
            "kwargs_data": {"image": data},
        }

    def kept(self, key: str) -> bool:
        """Whether the picture with this hash has been processed, or is being."""
        return self._task(key) is not None

    def sent(self, part: Mapping[str, Any] | None) -> None:
        """Say that the server has taken a request with these features."""
        if self.remembers and part is not None:
            self._sent.update(part["mm_hashes"]["image"])

    def missed(self, part: Mapping[str, Any] | None) -> bool:
        """Say that a request failed; whether it named pictures without tensors, which are then sent the next time."""
        if part is None:
            return False
        names, data = part["mm_hashes"]["image"], part["kwargs_data"]["image"]
        absent = {name for name, each in zip(names, data, strict=True) if each is None}
        self._sent -= absent
        return bool(absent)

    def forget(self) -> None:
        """The server has forgotten what it was sent; what was processed stays of use."""
        self._sent.clear()

    async def _processed(self, endpoint: Endpoint, picture: Picture, pngs: Mapping[str, bytes]) -> Processed:
        """The picture, processed once however many ask for it at the same time."""
        key = picture.hash
        task = self._task(key)
        if task is None:
            task = self._kept[key] = asyncio.ensure_future(process(endpoint, picture, pngs[key]))
        self._kept.move_to_end(key)
        done = await asyncio.shield(task)
        self._sizes[key] = len(done.data)
        while len(self._kept) > 1 and sum(self._sizes.values()) > self.keep_bytes:
            oldest, _ = self._kept.popitem(last=False)
            self._sizes.pop(oldest, None)
        return done

    def _task(self, key: str) -> asyncio.Task[Processed] | None:
        """What processes the picture, or has; None where that failed or was of another loop."""
        task = self._kept.get(key)
        if task is None or (task.done() and task.exception()) or task.get_loop() is not asyncio.get_running_loop():
            return None
        return task


async def process(endpoint: Endpoint, picture: Picture, png: bytes) -> Processed:
    """Let the server process a picture, and check that it sees it as the family does.

    Raises:
        Unreachable: The server did not answer.
        PolicyError: It made another number of placeholders of it.
    """
    url = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    content = [{"type": "image_url", "image_url": {"url": url}}]
    answer = await endpoint.post(
        "/v1/chat/completions/render", {"messages": [{"role": "user", "content": content}], "max_tokens": 1}
    )
    try:
        features = answer["features"]
        (place,), (data,) = features["mm_placeholders"]["image"], features["kwargs_data"]["image"]
        ids = answer["token_ids"][place["offset"] : place["offset"] + place["length"]]
        placeholder = max(set(ids), key=ids.count)
    except (KeyError, TypeError, ValueError) as exc:
        raise PolicyError(
            f"the server's render route gave no features of a picture: {type(exc).__name__}: {exc}"
        ) from exc
    if ids.count(placeholder) != picture.tokens:
        raise PolicyError(
            f"a picture of {picture.width} x {picture.height} px has {picture.tokens} placeholders here and "
            f"{ids.count(placeholder)} in the server: both must use the same preprocessor_config.json"
        )
    return Processed(data, placeholder)


def spans(ids: Sequence[int], pictures: Sequence[Picture], placeholder: int) -> list[tuple[int, int]]:
    """(offset, length) of each picture's placeholders in a context.

    Raises:
        PolicyError: They do not stand in one run a picture, or not as many as the pictures need.
    """
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(ids):
        if ids[at] != placeholder:
            at += 1
            continue
        end = at
        while end < len(ids) and ids[end] == placeholder:
            end += 1
        found.append((at, end - at))
        at = end
    lengths, wanted = [length for _, length in found], [picture.tokens for picture in pictures]
    if lengths != wanted:
        raise PolicyError(
            f"the context's runs of placeholders are {lengths[:20]} long, its pictures need {wanted[:20]}: "
            "vLLM's route for ids takes pictures whose placeholders stand together, not ones that are cut into tiles"
        )
    return found
