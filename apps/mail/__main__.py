"""Runs the mail client by itself: python -m apps.mail [--port 8000] [--seed 0] [--look theme=slate] [--workdir FOLDER]."""

from __future__ import annotations

from ..kit.serve import main
from . import seed
from .app import create_app

if __name__ == "__main__":
    main("mail", "A mail client to practise on.", create_app, seed.write)
