"""Commands that train: train, quickstart."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from uigym.cli.terminal import print_path, say
from uigym.errors import MissingExtra


def train(
    config: Annotated[Path, typer.Option(help="The run file, YAML.")],
    overrides: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KEY=VALUE]...", help="Change values of the run file: trainer.max_updates=20."),
    ] = None,
) -> None:
    """Train a policy as a run file says.

    A run that was cut off goes on from its last checkpoint.

    \b
      uigym train --config examples/kiosk.yaml
      uigym train --config examples/kiosk.yaml trainer.max_updates=20 logger='[jsonl]'

    What the keys mean: docs/training.md.
    """
    try:
        from uigym.train.config import load
        from uigym.train.start import train as start
    except ImportError as error:
        raise _missing(error) from error
    print_path(start(load(config, overrides or []), say))


def quickstart(
    folder: Annotated[Path, typer.Option("--out", help="Folder for the results.")] = Path("runs/quickstart"),
    seed: Annotated[int, typer.Option(min=0, help="Of everything that is drawn.")] = 0,
) -> None:
    """Train the small model on the kiosk, here and now.

    In real Chromium, on this machine: check, demonstrations, warm start, evaluation on screens it has never seen, GRPO, evaluation again. Takes 10 to 15
    minutes on 2 cores without a GPU. Writes summary.json and report.html.

    \b
      uigym quickstart
      uigym quickstart --out runs/seed1 --seed 1
    """
    try:
        from uigym.train import quickstart as script
    except ImportError as error:
        raise _missing(error) from error
    print_path(script.main(folder, seed, say=say))


def _missing(error: ImportError) -> ImportError:
    """What to say when training cannot be imported: only an absent package of the extra is the user's to install."""
    absent = (error.name or "").partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and absent != "uigym":
        return MissingExtra(f"{absent}, which training needs,", "train")
    return error


def add_to(app: typer.Typer) -> None:
    """Make these commands known."""
    app.command("train")(train)
    app.command("quickstart")(quickstart)
