"""The command line: `uigym COMMAND`. One file per group of commands; `terminal` holds what they share."""

from uigym.cli.app import main as main

__all__ = ["main"]
