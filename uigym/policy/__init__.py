"""What decides: a policy maps what it sees to the next action.

A policy is anything with an async `act`. One policy object serves all slots of a rollout, so that several calls of
`act` may be under way at once; an implementation may answer them as one batch. It must keep nothing between calls:
what it needs of the past is in the history that it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from uigym.types import Action, Decision, History, Observation

if TYPE_CHECKING:
    from uigym.env import Env


class Policy(Protocol):
    """Chooses the next action from the screenshot, the instruction and its own past actions."""

    async def act(self, observation: Observation, history: History) -> Action | Decision:
        """The next action; a `Decision` where the policy has words or tokens to go with it.

        Raises:
            PolicyError: The machinery behind the policy failed: the episode is lost, not scored.
        """


@runtime_checkable
class EpisodePolicy(Protocol):
    """A policy that is made anew for every episode, such as the oracle, which needs the page and the parameters.

    What `for_episode` returns serves that episode alone. If it has an async `close`, that is called when the episode
    is over, however it ended.
    """

    def for_episode(self, env: Env) -> Policy:
        """The policy for the episode that `env` has just been reset to."""


def policy_name(policy: object) -> str:
    """What to call a policy in records: its `name`, else the name of its class."""
    try:
        name = getattr(policy, "name", "")
    except Exception:  # a property of somebody's own: a name is not worth an episode
        name = ""
    return name if isinstance(name, str) and name else type(policy).__name__
