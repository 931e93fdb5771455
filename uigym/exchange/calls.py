"""uigym's actions as calls of tools, for formats that hold any tool: nothing of an action is lost in them."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

from uigym.policy.codecs import CODECS, Screen
from uigym.types import Action, Invalid, action_from_json, action_to_json

_OTHERS = {"computer_use": "qwen3", "computer_call": "openai", "computer": "anthropic"}
"""Tools of others -> the codec that reads their arguments."""
_SHOWN = 500


def call_of(action: Action) -> tuple[str, dict[str, Any]]:
    """(the tool's name, its arguments).

    Example:
        >>> call_of(Type("tea"))
        ('type', {'text': 'tea'})
    """
    arguments = action_to_json(action)
    return arguments.pop("action"), arguments


@functools.cache
def definitions() -> list[dict[str, Any]]:
    """What the tools are called and take, as OpenAI's function calling says it."""
    return [
        {
            "type": "function",
            "function": {
                "name": cls.__name__.lower(),
                "description": str(cls.__doc__),
                "parameters": TypeAdapter(cls).json_schema(),
            },
        }
        for cls in get_args(Action)
        if cls is not Invalid
    ]


def heard(name: Any, arguments: Any, screen: Screen) -> tuple[Action, ...]:
    """The actions of a call: in uigym's words, or else in those of Anthropic's, OpenAI's or Qwen's tools.

    Args:
        name: Of the tool, as a file says it.
        arguments: Of the call, an object or its JSON text.
        screen: The viewport, for words that have their own coordinates.
    """
    found = own(name, arguments)
    if found is not None:
        return (found,)
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return (Invalid(arguments[:_SHOWN], f"the arguments of {str(name)[:60]!r} are not JSON"),)
    codec = _OTHERS.get(name, "anthropic") if isinstance(name, str) else "anthropic"
    said = arguments if codec != "anthropic" else {"name": name, "input": arguments}
    return CODECS[codec].decode(said, screen)


def own(name: object, arguments: object) -> Action | None:
    """The action of a call in uigym's own words; None if it is none. Names and types are checked: anybody wrote them.

    Example:
        >>> own("type", {"text": "tea"})
        Type(text='tea')
    """
    if not isinstance(arguments, Mapping) or not isinstance(name, str):
        return None
    try:
        action = action_from_json({**arguments, "action": name})
        kind: Any = type(action)
        return _adapter(kind).validate_json(json.dumps(call_of(action)[1], allow_nan=False))
    except (TypeError, ValueError, RecursionError, ValidationError):
        return None


@functools.cache
def _adapter(cls: Any) -> TypeAdapter[Any]:
    return TypeAdapter(cls)
