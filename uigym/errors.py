"""What can go wrong, and whose fault it is.

    UIGymError
    ├── HarnessError    the definition of the product or of a task is wrong
    ├── ProductError    the product did not start, answer, reset or show its state
    ├── BrowserError    the browser did not start, crashed or hung
    ├── PolicyError     the machinery behind a policy failed (not: the policy chose badly)
    ├── VerifierError   a verifier raised, or asked for something that the episode does not have
    ├── StoreError      a run folder cannot be written, or holds what it should not
    ├── ConfigError     a run file or an option has a value that cannot be used
    └── MissingExtra    an optional package is not installed

The first five are the causes that an episode can be lost to (`uigym.types.Cause`). Code that extends
uigym raises ordinary exceptions; `attribute` turns them into the error of the boundary they crossed.
"""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

MAX_REASON = 600
"""Characters of what a policy is told."""


class UIGymError(Exception):
    """Base of every error that uigym raises on purpose; its text is meant to be shown as it is."""


class HarnessError(UIGymError, ValueError):
    """The definition of a product or a task is wrong: its author can mend it."""


class ProductError(UIGymError, RuntimeError):
    """The product under use did not start, answer, reset or show its state, or its page hung or closed itself."""


class BrowserError(UIGymError, RuntimeError):
    """The browser did not start, crashed, or can show no page any more."""


class PolicyError(UIGymError, RuntimeError):
    """The machinery behind a policy failed. A policy that merely chose badly is scored instead."""


class VerifierError(UIGymError, RuntimeError):
    """A verifier raised, or asked for something that the episode does not hold."""


class StoreError(UIGymError, OSError):
    """A run folder cannot be written or cannot be trusted."""


class ConfigError(UIGymError, ValueError):
    """A run file or an option has a value that cannot be used."""


class MissingExtra(UIGymError, ImportError):
    """An optional package is not installed; the text has the command that installs it."""

    def __init__(self, what: str, extra: str):
        super().__init__(f'{what} is not installed. Install it with: pip install "uigym[{extra}]"')


class ActionRefused(UIGymError, ValueError):
    """A policy asked for something that cannot be done; the episode goes on and the policy is told why.

    The reason goes into prompts and records, so one that quotes a long text is cut.
    """

    def __init__(self, reason: str):
        super().__init__(reason if len(reason) <= MAX_REASON else f"{reason[:MAX_REASON]}...")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence that names the nearest known name and all of them, for a name that is not one of them.

    Example:
        >>> did_you_mean("kiosc", ["desk", "kiosk"])
        'Did you mean "kiosk"? Available: desk, kiosk.'
    """
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    guess = f'Did you mean "{near[0]}"? ' if near else ""
    return f"{guess}Available: {', '.join(names) or 'none'}."


@contextmanager
def attribute(error: type[UIGymError], doing: str) -> Iterator[None]:
    """Turn whatever escapes into `error`, saying what was being done; uigym's own errors pass as they are.

    Code of others may also call `sys.exit`, or raise a cancellation that nobody asked for: neither may end a run.
    """
    try:
        yield
    except UIGymError:
        raise
    except asyncio.CancelledError as exc:
        if is_being_cancelled():
            raise
        raise error(f"{doing}: was cancelled, but not by uigym") from exc
    except (Exception, SystemExit) as exc:
        raise error(f"{doing}: {type(exc).__name__}: {exc}") from exc


def is_being_cancelled() -> bool:
    """Whether the running task has been asked to end, so that a cancellation is to be obeyed."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no event loop runs in this thread
        return False
    return task is not None and task.cancelling() > 0
