"""A text that is not to be kept, in all the ways that pages, addresses, forms and records spell it."""

from __future__ import annotations

import html
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, quote_plus

WITHHELD = "[withheld]"
"""What is stored in the place of such a text."""
SHORTEST = 3
"""A shorter text would be found everywhere."""


def spellings(texts: Iterable[str]) -> list[str]:
    """All forms of some texts, the longest first, so that none is cut by another.

    Example:
        >>> spellings(["a b!"])
        ['a%20b%21', 'a%20b!', 'a+b%21', 'a b!']
    """
    return sorted(dict.fromkeys(form for text in texts for form in _forms(text)), key=len, reverse=True)


def cleared(value: Any, spelt: Sequence[str], kept: Collection[str] = ()) -> Any:
    """JSON values without what is spelt so; words in fields that `kept` names stay."""
    if isinstance(value, str):
        for text in spelt:
            value = value.replace(text, WITHHELD)
        return value
    if isinstance(value, Mapping):
        return {
            name: inner if name in kept and not isinstance(inner, Mapping) else cleared(inner, spelt, kept)
            for name, inner in value.items()
        }
    return [cleared(inner, spelt, kept) for inner in value] if isinstance(value, list | tuple) else value


def texts_in(value: Any, path: str = "params") -> Iterator[tuple[str, str]]:
    """The texts among a task's parameters, each with its path."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from texts_in(inner, f"{path}.{name}")
    elif isinstance(value, str) and value:
        yield path, value


def secret(texts: Iterable[str], params: Mapping[str, Any]) -> list[str]:
    """Those of some texts that are secrets: not too short to be found, and not told by the task itself."""
    known = {text for _, text in texts_in(params)}
    return [text for text in dict.fromkeys(texts) if len(text) >= SHORTEST and text not in known]


def _forms(text: str) -> Iterator[str]:
    if not text:
        return
    yield text
    yield quote(text, safe="")
    yield quote(text, safe="!'()*")  # encodeURIComponent
    yield quote(text, safe="!'()*;,/?:@&=+$#")  # encodeURI
    yield quote_plus(text)
    yield quote_plus(text, safe="*").replace("~", "%7E")  # forms
    yield json.dumps(text)[1:-1]
    yield json.dumps(text, ensure_ascii=False)[1:-1]
    yield html.escape(text)
    yield html.escape(text, quote=False)
    yield repr(text)[1:-1]
