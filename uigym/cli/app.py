"""The program itself: its commands, and what happens to an error on its way out."""

from __future__ import annotations

import logging
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from uigym import __version__
from uigym.cli import catalog, checks, demos, exports, imports, learn, machine, new, play, sheets, view
from uigym.cli.terminal import INTERRUPTED, Interrupts, Told, report, say

OVERVIEW = """A web product as a gym: screenshots in, mouse and keyboard out, rewards from the product's own data.

\b
Start here:
  uigym list                                    the products and tasks that are there
  uigym check kiosk                             prove that a harness is sound
  uigym run kiosk --policy oracle --seeds 0:3   let the scripted solution play
  uigym quickstart                              train a small model on it, on this machine

Your own product is a file: uigym new drafts it, uigym check ./crm.py proves it. The guide: docs/first-harness.md.
"""


class Commands(TyperGroup):
    """Turns errors into one message and an exit code; click's own (wrong options) pass through to it."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            say("stopped")
            raise SystemExit(INTERRUPTED) from None
        except (SystemExit, typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except Exception as error:
            if type(error).__module__.split(".")[0] in ("click", "typer"):
                raise
            raise SystemExit(report(error)) from error


app = typer.Typer(
    cls=Commands,
    help=OVERVIEW,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"uigym {__version__}\n")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it and end.")
    ] = False,
) -> None:
    pass


for module in (catalog, exports, new, checks, play, demos, imports, view, sheets, learn, machine):
    module.add_to(app)


def _tell_of_installs() -> None:
    log = logging.getLogger("uigym.product.installs")
    log.setLevel(logging.INFO)
    log.addHandler(Told())
    log.propagate = False


def main() -> None:
    """The console script."""
    _tell_of_installs()
    with Interrupts():
        app(prog_name="uigym")
