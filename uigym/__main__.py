"""`python -m uigym` is `uigym`."""

from uigym.cli import main

main()
