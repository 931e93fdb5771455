"""An episode or a run as one HTML file that opens from disk: no server, nothing beside it, nothing asked for.

The same templates as the server's. Each picture is in the file once, and a page under a policy that lets it run nothing
but the viewer's own script.
"""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape
from PIL import Image

from uigym.errors import ConfigError, StoreError, attribute
from uigym.report.film import data_uri
from uigym.viewer import show
from uigym.viewer.catalog import Run
from uigym.viewer.filters import ORDERS, Filters
from uigym.viewer.index import Entry, Index
from uigym.viewer.reading import Recorded, image_path, kept_path, read, read_states
from uigym.viewer.render import STATIC, Links, Renderer
from uigym.viewer.training import page as training_page

EPISODES = 40
"""Of a run that are in its file, unless more are asked for."""
_QUALITY = 88
_HERE = ("files",)
"""Facts that are of this machine alone: a file is passed on."""


class FileLinks(Links):
    """Links within one file."""

    home = "#"
    compares = False

    def run(self, run: str, /, **asked: str) -> str:
        """The list of episodes."""
        return "#"

    def episode(self, run: str, episode: str, /, **asked: str) -> str:
        """The view of an episode."""
        return f"#e:{episode}"

    def step(self, run: str, episode: str) -> str:
        """What the number of a step is put behind, for the id of its template."""
        return f"#s:{episode}:"

    def picture(self, run: str, image: str) -> Markup:
        """Names a picture of the file."""
        return Markup(f'data-picture="{escape(image)}"')

    later = small = kept = picture


def export_episode(run: Run, episode_id: str, *, exact: bool = False) -> str:
    """An episode's page as one file.

    Args:
        run: Its run.
        episode_id: Of the episode.
        exact: Pictures as they were stored; else as WebP, which is several times smaller.

    Raises:
        ConfigError: There is no such episode.
    """
    recorded = read(run.folder, episode_id)
    if recorded is None:
        raise ConfigError(f"{run.folder} has no complete episode {episode_id!r}")
    view = episode_view(run, recorded)
    return _file(
        view["title"],
        Renderer(FileLinks()),
        pictures=_pictures(run.folder, [recorded], exact),
        views=[("", view)],
        listed=None,
    )


def export_run(run: Run, *, most: int = EPISODES, exact: bool = False) -> str:
    """A run's page as one file: its grid, and its episodes, those that went worst first.

    Args:
        run: What to show.
        most: Episodes that are in the file.
        exact: Pictures as they were stored.
    """
    renderer = Renderer(FileLinks())
    if run.kind == "training":
        values = training_page(run, {})
        names = dict.fromkeys(frame.image for _, strip in values["episodes"] for frame in strip)
        kept = _json((name, uri) for name in names if (uri := _kept(run.folder, name)))
        return _file(run.title, renderer, pictures=kept, views=[], listed=("training_main.html.jinja", values))
    entries = Index(run.folder).entries()
    chosen = sorted(entries, key=ORDERS["worst"])[:most]
    found = [recorded for entry in chosen if (recorded := read(run.folder, entry.id))]
    views = [(recorded.id, episode_view(run, recorded, entries)) for recorded in found]
    values = show.run_page(run, entries, Filters()) | {
        "entries": chosen,
        "chosen": len(chosen),
        "pages": 1,
        "page": 1,
        "kept": {},
    }
    pictures = _pictures(run.folder, found, exact, {entry.image for entry in chosen})
    return _file(run.title, renderer, pictures=pictures, views=views, listed=("run_main.html.jinja", values))


def write(path: Path, html: str) -> Path:
    """Write a file in one piece, and give its path.

    Raises:
        StoreError: It cannot be written.
    """
    with attribute(StoreError, f"cannot write {path}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.tmp")
        draft.write_text(html, encoding="utf-8")
        draft.replace(path)
    return path


def episode_view(run: Run, recorded: Recorded, entries: Sequence[Entry] = ()) -> dict[str, Any]:
    """What an episode's view shows, all parts of it at once."""
    states = read_states(run.folder, recorded.id)
    parts = show.state_part(recorded, states) | show.network_part(recorded, states)
    scenes = [show.step_part(run, recorded, number, states)["scene"] for number in range(len(recorded.steps) + 1)]
    page = show.episode_page(run, recorded, 0)
    return page | parts | {
        "facts": [(name, value) for name, value in page["facts"] if name not in _HERE],
        "commands": [command for command in page["commands"] if command.line.startswith("uigym run ")],
        "chunks": show.chunks(recorded, 0, every=True),
        "scenes": scenes,
        "tries": show.tries(run, recorded, {run.name: (run.title, entries)}) if entries else [],
        "kept": {},
    }  # fmt: skip


def _file(title: str, renderer: Renderer, **values: Any) -> str:
    style, script = ((STATIC / name).read_text(encoding="utf-8") for name in ("viewer.css", "viewer.js"))
    policy = f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'; base-uri 'none'; form-action 'none'"
    return renderer.page(
        "file.html.jinja", title=title, style=Markup(style), script=Markup(script), policy=policy, **values
    )


def _digest(text: str) -> str:
    """As a content policy names it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _pictures(folder: Path, episodes: Iterable[Recorded], exact: bool, more: Iterable[str] = ()) -> Markup:
    names = dict.fromkeys([name for each in episodes for at in range(len(each.steps) + 1) if (name := each.image(at))])
    return _json((name, uri) for name in [*names, *more] if (uri := _uri(folder, name, exact)))


def _uri(folder: Path, name: str, exact: bool) -> str:
    """A picture as text; empty if it is not there, or is none."""
    try:
        png = image_path(folder, name).read_bytes()
        if exact:
            return data_uri(png)
        out = io.BytesIO()
        with Image.open(io.BytesIO(png), formats=("PNG",)) as image:
            image.convert("RGB").save(out, "WEBP", quality=_QUALITY, method=3)
        return data_uri(out.getvalue(), "webp")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return ""


def _kept(folder: Path, name: str) -> str:
    """A picture that a training run kept, as text; empty if it is not there."""
    try:
        return data_uri(kept_path(folder, name).read_bytes(), "webp")
    except (OSError, ValueError):
        return ""


def _json(pairs: Iterable[tuple[str, str]]) -> Markup:
    """A JSON object that a page can hold: names are hashes, and values base64."""
    return Markup("{" + ",".join(f'"{escape(name)}":"{uri}"' for name, uri in dict(pairs).items()) + "}")
