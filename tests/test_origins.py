"""Origins: what is the same place, and what only looks like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uigym.origins import Origin, is_origin, origin_of


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://127.0.0.1:8000/a?b#c", Origin("http", "127.0.0.1", 8000)),
        ("https://Cdn.Example", Origin("https", "cdn.example", 443)),
        ("https://cdn.example./lib.js", Origin("https", "cdn.example", 443)),
        ("ws://cdn.example/live", Origin("http", "cdn.example", 80)),
        ("http://[::1]:9/", Origin("http", "::1", 9)),
        ("http://user:word@host:9/", Origin("http", "host", 9)),
        ("file:///etc/passwd", None),
        ("data:text/html,a", None),
        ("about:blank", None),
        ("http://", None),
        ("http://host:0/", None),
        ("http://host:99999/", None),
        ("http://[::1/", None),
        ("", None),
    ],
)
def test_the_origin_of_an_address(url: str, origin: Origin | None) -> None:
    assert origin_of(url) == origin


@pytest.mark.parametrize("near", ["http://a.b", "https://a.b:80", "https://b", "https://a.b.c", "https://xa.b"])
def test_what_differs_in_scheme_host_or_port_is_another_origin(near: str) -> None:
    assert origin_of(near) != origin_of("https://a.b")


@pytest.mark.parametrize("text", ["http://a", "https://a.b:9", "http://[::1]:80/", "http://127.0.0.1:1"])
def test_what_a_harness_may_allow(text: str) -> None:
    assert is_origin(text) and is_origin(str(origin_of(text)))


@given(st.text() | st.text("htps:/@*?#[]12.ab ").map("http://".__add__) | st.none() | st.integers())
def test_any_value_is_an_origin_or_is_not(value: object) -> None:
    if is_origin(value):
        assert isinstance(value, str) and origin_of(value) == origin_of(str(origin_of(value)))
