"""Commands about this machine: bench, install, install-browser."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from uigym import registry
from uigym.cli.benches import benches
from uigym.cli.terminal import out, say


def install_browser() -> None:
    """Make sure that there is a Chromium, with fonts.

    Says which one it is. Takes, in this order: UIGYM_CHROMIUM, a Chromium that is already there, Playwright's own download, the system's
    package manager.
    """
    from uigym.browser import install_browser as install

    say(f"browser: {install(say)}")


def install(
    harnesses: Annotated[list[str], typer.Argument(metavar="HARNESS...", help="Ids or files.")],
) -> None:
    """Fetch the products that harnesses name, ahead of use.

    \b
      uigym install wagtail
      UIGYM_CACHE=/srv/uigym uigym install wagtail ./wiki.py

    They go to UIGYM_CACHE, else to uigym in XDG_CACHE_HOME, else to ~/.cache/uigym. What is there already stays.
    """
    parts = [(ref, part) for ref in harnesses for part in registry.load(ref).install]
    for ref in harnesses:
        if ref not in dict(parts):
            say(f"{ref} needs nothing that has to be fetched")
    for _, part in parts:
        out().print(str(asyncio.run(part.installed())), soft_wrap=True)


def add_to(app: typer.Typer) -> None:
    """Make these commands known."""
    app.add_typer(benches, name="bench")
    app.command("install")(install)
    app.command("install-browser")(install_browser)
