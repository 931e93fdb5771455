"""A sampler that sleeps while it is paused: what its server is told, and in which order."""

from __future__ import annotations

from typing import Any

import pytest

from uigym.train.drowsy import Drowsy


class Server:
    """Notes what is posted to it; it may have begun anew."""

    def __init__(self) -> None:
        self.starts = 1
        self.told: list[str] = []

    async def ready(self) -> Server:
        return self

    async def post(self, path: str, body: Any = None, **query: Any) -> None:
        self.told.append(" ".join([path, *(str(query[name]) for name in ("level", "tags") if name in query)]))


class Inner:
    """A sampler that notes what it is told on its server's list."""

    def __init__(self) -> None:
        self.server, self.version = Server(), 0

    async def start(self) -> None:
        self.server.told.append("start")

    async def pause(self) -> None:
        self.server.told.append("pause")

    async def resume(self) -> None:
        self.server.told.append("resume")

    async def update(self, weights: Any, version: int) -> None:
        self.server.told.append(f"update {version}")
        self.version = version

    async def sample(self, *given: Any) -> Any:
        return given

    async def close(self) -> None:
        self.server.told.append("close")


SLEEP, WEIGHTS, CACHE = "/sleep 1", "/wake_up weights", "/wake_up kv_cache"


@pytest.fixture
def inner() -> Inner:
    return Inner()


@pytest.fixture
def drowsy(inner: Inner) -> Drowsy:
    return Drowsy(inner)  # type: ignore[arg-type]


async def test_it_sleeps_until_its_weights_are_exchanged(drowsy: Drowsy, inner: Inner) -> None:
    await drowsy.pause()
    await drowsy.pause()  # the loop pauses again before an exchange
    await drowsy.update(None, 3)  # type: ignore[arg-type]
    await drowsy.resume()
    assert inner.server.told == ["pause", SLEEP, "pause", WEIGHTS, "update 3", CACHE, "resume"]
    assert drowsy.version == 3


async def test_without_an_exchange_it_wakes_with_the_weights_that_it_had(drowsy: Drowsy, inner: Inner) -> None:
    await drowsy.pause()
    await drowsy.resume()
    assert inner.server.told == ["pause", SLEEP, WEIGHTS, CACHE, "resume"]
    drowsy.version = 7
    assert inner.version == 7


async def test_a_server_that_began_anew_is_awake(drowsy: Drowsy, inner: Inner) -> None:
    await drowsy.pause()
    inner.server.starts = 2
    await drowsy.update(None, 1)  # type: ignore[arg-type]
    await drowsy.resume()
    assert inner.server.told == ["pause", SLEEP, "update 1", "resume"]
    await drowsy.pause()
    inner.server.starts = 3
    await drowsy.resume()
    assert inner.server.told[4:] == ["pause", SLEEP, "resume"]


async def test_the_rest_is_the_samplers(drowsy: Drowsy, inner: Inner) -> None:
    assert await drowsy.sample([1], [], {}, None) == ([1], [], {}, None)  # type: ignore[arg-type,comparison-overlap]
    await drowsy.close()
    assert inner.server.told == ["close"]
