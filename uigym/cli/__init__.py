"""The command line: `uigym COMMAND`. One file per group of commands; `terminal` holds what they share."""


def main() -> None:
    """The console script. Ctrl+C while it is still being loaded ends it quietly, too."""
    try:
        from uigym.cli.app import main as run
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    run()
