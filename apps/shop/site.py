"""Pages with what can be done on them: a page is shown, something is done, and a refusal shows the page again."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response

from ..kit.pages import Pages
from ..kit.store import connect, settings
from ..kit.web import form as posted
from ..kit.web import redirect, shown
from .words import Denied


class Entered(dict[str, str]):
    """What was posted, by name; "" for what was not."""

    def __missing__(self, name: str) -> str:
        return ""


class Elsewhere(Exception):
    """This page makes no sense now; another one does."""


@dataclass(frozen=True)
class Asked:
    """What a request asks for."""

    db: sqlite3.Connection
    id: int
    """The record in the address; 0 if it names none."""
    query: Mapping[str, str]
    fields: list[tuple[str, str]] = field(default_factory=list)
    """What was posted."""

    @property
    def form(self) -> Entered:
        """What was posted, by name; the last of each."""
        return Entered(self.fields)

    @property
    def settings(self) -> dict[str, str]:
        """The table of settings."""
        return settings(self.db)

    @property
    def today(self) -> str:
        """The shop's day, "2026-10-13"."""
        return self.settings["now"][:10]


Show = Callable[[Asked], dict[str, Any]]
"""What a page's template is told."""
Act = Callable[[Asked], tuple[str, str]]
"""A change; returns (where to go on, what to say there)."""
Shell = Callable[[sqlite3.Connection], dict[str, Any]]
"""What all pages of one face of the shop are told."""


@dataclass(frozen=True)
class Face:
    """The store, or the back office."""

    app: FastAPI
    pages: Pages
    database: Path
    shell: Shell

    def page(self, path: str, template: str, show: Show, acts: Mapping[str, Act] | None = None) -> None:
        """A page at a path.

        Args:
            path: Its address, with {id:int} where it is about a record.
            template: What draws it.
            show: What the template is told.
            acts: What can be done on it, by the value of the posted field `act` ("" if there is none).
        """

        @self.app.get(path)
        async def get(request: Request) -> Response:
            return self._shown(request, template, show)

        if acts is not None:

            @self.app.post(path)
            async def post(request: Request) -> Response:
                fields = await posted(request)
                act = acts.get(dict(fields).get("act", ""))
                if act is None:
                    return redirect(request.url.path)
                try:
                    with connect(self.database) as db:
                        return redirect(*act(_asked(request, db, fields)))
                except Elsewhere as other:
                    return redirect(str(other))
                except Denied as denied:
                    return self._shown(request, template, show, fields, denied)

    def _shown(
        self,
        request: Request,
        template: str,
        show: Show,
        fields: list[tuple[str, str]] | None = None,
        denied: Denied | None = None,
    ) -> Response:
        with connect(self.database) as db:
            asked = _asked(request, db, fields or [])
            try:
                told = {**self.shell(db), "form": asked.form, **show(asked)}
            except Elsewhere as other:
                return redirect(str(other))
            looks = asked.settings
            error = "" if denied is None else _said(self.pages, looks, denied)
            return shown(
                request,
                lambda said: self.pages.draw(template, looks, **{**told, "said": said, "error": error}),
                422 if denied else 200,
            )


def _asked(request: Request, db: sqlite3.Connection, fields: list[tuple[str, str]]) -> Asked:
    return Asked(db, int(request.path_params.get("id", 0)), request.query_params, fields)


def _said(pages: Pages, looks: Mapping[str, str], denied: Denied) -> str:
    t = pages.language(looks)
    values = {name: t(str(value)) if name in ("what", "country") else value for name, value in denied.values.items()}
    return t(denied.text, **values)
