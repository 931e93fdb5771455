"""What comes from a policy or a harness, as what can be performed and stored."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from uigym.errors import HarnessError
from uigym.harness import Instance
from uigym.types import Action, Answer, Invalid, action_from_json, action_to_json


def sound(action: Any) -> Action:
    """The action if it can be performed and stored; else an `Invalid` that says what came instead."""
    try:
        sound = action_from_json(json.loads(json.dumps(action_to_json(action), allow_nan=False)))
        if isinstance(sound, Answer) and not isinstance(sound.text, str):
            raise TypeError(f"an answer is text, not {sound.text!r}")
        return sound
    except Exception as exc:  # whatever a policy's own objects raise
        seen = _shown(action)
        if not dataclasses.is_dataclass(action):
            return Invalid(seen[:500], f"expected one of uigym.types' actions, got {seen[:200]}")
        if "Out of range float" in str(exc):
            return Invalid(seen[:500], f"numbers must be finite: {seen[:200]}")
        return Invalid(
            seen[:500], f"expected one of uigym.types' actions, got {seen[:200]}: {type(exc).__name__}: {exc}"
        )


def _shown(value: object) -> str:
    try:
        return repr(value)
    except Exception as exc:
        return f"a {type(value).__name__} whose repr raises {type(exc).__name__}"


def plain(instance: Instance) -> dict[str, Any]:
    """The parameters as JSON values, so that a stored episode equals the one that was played."""
    try:
        return json.loads(json.dumps(dict(instance.params), allow_nan=False))
    except (TypeError, ValueError) as exc:
        raise HarnessError(
            f"task {instance.id}, seed {instance.seed}: its parameters {dict(instance.params)!r} are not JSON values "
            f"({exc}); samplers must yield text, numbers, true, false, null, or lists and dictionaries of them"
        ) from exc
