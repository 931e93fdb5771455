"""Runs the planner by itself: python -m apps.plan [--port 8000] [--seed 0] [--look language=de] [--workdir FOLDER]."""

from ..kit.serve import main
from .app import create_app
from .seed import write

if __name__ == "__main__":
    main("plan", "A calendar and kanban boards to practise on.", create_app, write)
