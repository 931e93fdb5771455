"""The page of an episode, its parts, and two episodes side by side."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response

from uigym.viewer import show
from uigym.viewer.catalog import Run
from uigym.viewer.export import export_episode
from uigym.viewer.filters import Filters
from uigym.viewer.index import Entry
from uigym.viewer.parting import parted
from uigym.viewer.reading import read_states
from uigym.viewer.scene import CHUNK, rows
from uigym.viewer.shared import NOW, Viewer

PATH = "/runs/{name}/episodes/{episode}"


def add_to(app: FastAPI, viewer: Viewer) -> None:
    """Add the pages."""

    @app.get(PATH)
    def page(name: str, episode: str, request: Request) -> HTMLResponse:
        run = viewer.run(name)
        recorded = viewer.recorded(run, episode)
        number = _number(request.query_params.get("step", "0"))
        filters = Filters.of(request.query_params)
        values = show.episode_page(run, recorded, number)
        values |= neighbours(filters.chosen(viewer.index(run).entries()), episode)
        values["tries"] = show.tries(run, recorded, _known(viewer, run))
        return viewer.html("episode.html.jinja", kept=filters.change(page=""), **values)

    @app.get(PATH + "/steps/{number}")
    def step(name: str, episode: str, number: int) -> HTMLResponse:
        run = viewer.run(name)
        return viewer.html(
            "fragment.html.jinja", kind="step", **show.step_part(run, viewer.recorded(run, episode), number)
        )

    @app.get(PATH + "/rows/{begin}")
    def some_rows(name: str, episode: str, begin: int) -> HTMLResponse:
        recorded = viewer.recorded(viewer.run(name), episode)
        return viewer.html("fragment.html.jinja", kind="rows", rows=rows(recorded, max(0, begin), CHUNK))

    @app.get(PATH + "/state")
    def state(name: str, episode: str) -> HTMLResponse:
        run = viewer.run(name)
        recorded = viewer.recorded(run, episode)
        return viewer.html("state.html.jinja", **show.state_part(recorded, read_states(run.folder, episode)))

    @app.get(PATH + "/network")
    def network(name: str, episode: str) -> HTMLResponse:
        run = viewer.run(name)
        recorded = viewer.recorded(run, episode)
        return viewer.html(
            "network.html.jinja", run=run, **show.network_part(recorded, read_states(run.folder, episode))
        )

    @app.get(PATH + "/export")
    def export(name: str, episode: str) -> Response:
        run = viewer.run(name)
        viewer.recorded(run, episode)
        kept = {**NOW, "content-disposition": f'attachment; filename="{quote(episode)}.html"'}
        return HTMLResponse(export_episode(run, episode), headers=kept)

    @app.get("/compare")
    def compare(a: str = "", b: str = "", step: str = "0") -> HTMLResponse:
        sides = []
        for asked in (a, b):
            name, _, episode = asked.partition("/")
            run = viewer.run(name)
            recorded = viewer.recorded(run, episode)
            sides.append(show.episode_page(run, recorded, _number(step)))
        return viewer.html(
            "compare.html.jinja", title="Two episodes", sides=sides, parted=parted(*(side["episode"] for side in sides))
        )


def neighbours(entries: list[Entry], episode: str) -> dict[str, Any]:
    """The episodes before and behind one in a list, and its place there."""
    ids = [entry.id for entry in entries]
    at = ids.index(episode) if episode in ids else -1
    if at < 0:
        return {"before": "", "behind": ids[0] if ids else "", "place": ""}
    behind = ids[at + 1] if at + 1 < len(ids) else ""
    return {"before": ids[at - 1] if at else "", "behind": behind, "place": f"{at + 1:,} of {len(ids):,}"}


def _known(viewer: Viewer, run: Run) -> dict[str, tuple[str, list[Entry]]]:
    """The runs that have been read, this one first: no others are read for an episode's sake."""
    others = [each for each in viewer.catalog.runs() if each.kind == "episodes" and each.name != run.name]
    return {
        each.name: (each.title, viewer.index(each).entries())
        for each in [run, *others]
        if each is run or viewer.index(each).ready
    }


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 9 else 0
