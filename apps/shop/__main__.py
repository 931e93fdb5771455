"""Runs the shop by itself: python -m apps.shop [--port 8000] [--seed 0] [--look language=de] [--workdir FOLDER]."""

from __future__ import annotations

from ..kit.serve import main
from . import seed
from .app import create_app

if __name__ == "__main__":
    main("shop", "A shop to practise on: a storefront and its back office.", create_app, seed.write)
