"""What all pages of a server share."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from fastapi.responses import HTMLResponse

from uigym.viewer.catalog import Catalog, Run
from uigym.viewer.index import Index
from uigym.viewer.reading import Recorded, read
from uigym.viewer.render import Links, Renderer
from uigym.viewer.thumbs import Thumbnails

FOREVER = {"cache-control": "private, max-age=31536000, immutable"}
"""For what has its hash in its address."""
NOW = {"cache-control": "no-store"}
_LATEST = 3
"""Episodes that are kept in memory."""


class Missing(Exception):
    """An address that leads nowhere."""


class Viewer:
    """Runs, their episodes, templates and small pictures.

    Args:
        catalog: The runs.
    """

    def __init__(self, catalog: Catalog):
        self.catalog = catalog
        self.render = Renderer(Links())
        self.thumbs = Thumbnails()
        self._indexes: dict[Path, Index] = {}
        self._latest: dict[tuple[Path, str], tuple[int, Recorded]] = {}
        self._lock = threading.Lock()

    def html(self, template: str, status: int = 200, **values: Any) -> HTMLResponse:
        """A page; `title` must be among the values."""
        return HTMLResponse(self.render.page(template, **values), status, NOW)

    def run(self, name: str) -> Run:
        """The run of that name.

        Raises:
            Missing: There is none.
        """
        found = self.catalog.find(name)
        if found is None:
            raise Missing(f"No run is called {name!r:.200}. It may have been moved or deleted.")
        return found

    def index(self, run: Run) -> Index:
        """The episodes of a run."""
        with self._lock:
            return self._indexes.setdefault(run.folder, Index(run.folder))

    def recorded(self, run: Run, episode_id: str) -> Recorded:
        """An episode.

        Raises:
            Missing: There is none of that id.
        """
        key = (run.folder, episode_id)
        stamp = _stamp(run.folder / "episodes" / Path(episode_id).name)
        with self._lock:
            if key in self._latest and self._latest[key][0] == stamp:
                return self._latest[key][1]
        found = read(run.folder, episode_id)
        if found is None:
            raise Missing(f"{run.title} has no complete episode {episode_id!r:.200}.")
        with self._lock:
            self._latest[key] = (stamp, found)
            while len(self._latest) > _LATEST:
                del self._latest[next(iter(self._latest))]
        return found


def _stamp(folder: Path) -> int:
    """Changes when a file of an episode does."""
    names = ("episode.json", "steps.jsonl", "demo.json")
    return hash(tuple(path.stat().st_mtime_ns if (path := folder / name).exists() else 0 for name in names))
