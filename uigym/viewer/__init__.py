"""Runs, episodes, demonstrations and training in a browser: read-only, on this machine alone, without a build step.

catalog     which runs there are               render      templates and their links
index       the episodes of one run, slim      app, guard  the server and who may ask it
reading     one episode, however damaged       export      the same pages as one file
"""

from __future__ import annotations

from uigym.viewer.app import create_app as create_app
from uigym.viewer.catalog import Catalog as Catalog
from uigym.viewer.export import export_episode as export_episode
from uigym.viewer.export import export_run as export_run
from uigym.viewer.export import write as write
from uigym.viewer.serve import Server as Server

__all__ = ["Catalog", "Server", "create_app", "export_episode", "export_run", "write"]
