"""Runs the books by themselves: python -m apps.books [--port 8000] [--seed 0] [--look language=de]."""

from __future__ import annotations

from ..kit.serve import main
from . import seed
from .app import create_app

if __name__ == "__main__":
    main("books", "Bookkeeping to practise on.", create_app, seed.write)
