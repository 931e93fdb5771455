"""Commands about this machine: bench, install-browser."""

from __future__ import annotations

import typer

from uigym.cli.benches import benches
from uigym.cli.terminal import say


def install_browser() -> None:
    """Make sure that there is a Chromium, with fonts.

    Says which one it is. Takes, in this order: UIGYM_CHROMIUM, a Chromium that is already there, Playwright's own download, the system's
    package manager.
    """
    from uigym.browser import install_browser as install

    say(f"browser: {install(say)}")


def add_to(app: typer.Typer) -> None:
    """Make these commands known."""
    app.add_typer(benches, name="bench")
    app.command("install-browser")(install_browser)
