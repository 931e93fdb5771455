"""Options that say which model behind a server plays, and how it is asked."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from uigym.agent import Agent
from uigym.errors import ConfigError

if TYPE_CHECKING:
    from uigym.policy.openai import Served

ServerUrl: TypeAlias = Annotated[
    str | None,
    typer.Option("--server", metavar="URL", help="Of an OpenAI-compatible server, instead of --checkpoint."),
]
ServerModel: TypeAlias = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="Of the server's models; without it its only one.")
]
ServerCodec: TypeAlias = Annotated[
    str | None,
    typer.Option("--codec", metavar="NAME", help="The model's action language; without it told from its name."),
]
ServerContext: TypeAlias = Annotated[
    str | None,
    typer.Option("--context", help="Screenshots that the model is shown: full, window(k) or hysteresis(k_min, k_max)."),
]
ServerKey: TypeAlias = Annotated[
    str | None,
    typer.Option("--key-from", metavar="VARIABLE", help="Environment variable that holds the server's key."),
]


def served(
    url: str | None, *, model: str | None, codec: str | None, context: str | None, key: str | None
) -> Served | None:
    """The model that the options mean; None where no server is named.

    Raises:
        ConfigError: An option is of no use without a server, or the variable of the key is not set.
    """
    if url is None:
        given = {"--model": model, "--codec": codec, "--context": context, "--key-from": key}
        if said := [name for name, value in given.items() if value is not None]:
            raise ConfigError(f"{said[0]} is said of a model behind a server; name that too: --server URL")
        return None
    if key is not None and not os.environ.get(key):
        raise ConfigError(
            f"--key-from {key}: there is no environment variable of that name; set it to the server's key"
        )
    from uigym.policy.openai import Served

    asked = Served(url=url, model=model, codec=codec, key=os.environ[key] if key else "")
    return asked if context is None else replace(asked, context=context)


def find_agent(checkpoint: str | None, served: Served | None, *, greedy: bool) -> Agent:
    """Who plays.

    Raises:
        ConfigError: Nobody is named, or two are.
    """
    if (checkpoint is None) == (served is None):
        raise ConfigError("who shall play? Give one of --checkpoint DIR and --server URL")
    if served is not None:
        return Agent.from_server(served, greedy=greedy)
    return Agent.from_checkpoint(str(checkpoint), greedy=greedy)
