"""Records of what happens beside the page: dialogs, file choosers, tabs, downloads, permissions.

Nothing of it is in the picture, so a policy is told in words: an `Event` for what happened during a step, and `Open`
for what is there now and can be answered.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened during a step and that the picture does not show."""

    kind: Literal[
        "dialog", "tab", "download", "filechooser", "permission", "print", "picker", "tooltip", "crash", "navigation"
    ]
    text: str = ""
    """What a person would read: the dialog's message, the tab's title, the file's name, the tooltip, who asks for what,
    what was chosen."""
    type: str = ""
    """Of a dialog: alert, confirm, prompt, beforeunload. Of a tab: opened, closed, refused. Of a download: started,
    finished, failed. Of a file chooser: one, several, folder, cancelled. Of a permission: granted, denied. Of a picker: opened, chosen, closed."""


@dataclass(frozen=True, slots=True)
class OpenDialog:
    """A dialog that the page stands still for; a Dialog action answers it."""

    type: str
    """alert, confirm, prompt, beforeunload."""
    message: str
    default: str = ""
    """The text that a prompt begins with."""


@dataclass(frozen=True, slots=True)
class OpenChooser:
    """A file chooser; an Upload action answers it, Upload(()) or the Escape key cancels it."""

    files: tuple[str, ...]
    """What can be uploaded: the episode's files, or their folders where a folder is asked for."""
    several: bool = False
    """Whether one Upload may name several."""
    accept: str = ""
    """The kinds of files that the page asks for, as it says it: ".pdf,image/*"."""


@dataclass(frozen=True, slots=True)
class Open:
    """What is open beside the picture."""

    dialog: OpenDialog | None = None
    chooser: OpenChooser | None = None
    tabs: tuple[str, ...] = ()
    """Titles of the tabs in the order of opening, as SwitchTab counts them; empty while there is one tab."""
    shown: int = 0
    """Index of the tab that the picture shows."""

    @property
    def words(self) -> tuple[str, ...]:
        """A sentence for each open thing: what it is, and the action that answers it."""
        said = []
        if dialog := self.dialog:
            ends = ' with a text (it holds "' + dialog.default + '")' if dialog.type == "prompt" else ""
            asks = "leave this page?" if dialog.type == "beforeunload" else dialog.message
            said.append(f'A dialog ({dialog.type}) is open: "{asks}". Accept{ends} or dismiss it by a dialog action.')
        if chooser := self.chooser:
            many = "one or several" if chooser.several else "one"
            named = ", ".join(chooser.files) or "none"
            wanted = f" (it asks for {chooser.accept})" if chooser.accept else ""
            said.append(f"A file chooser is open{wanted}. Upload {many} of: {named}. Escape cancels it.")
        if self.tabs:
            titles = ", ".join(f'{number} "{title}"' for number, title in enumerate(self.tabs))
            said.append(f"Open tabs: {titles}. Tab {self.shown} is shown.")
        return tuple(said)


NOTHING_OPEN = Open()


def open_from_json(record: Mapping[str, Any]) -> Open:
    """The inverse of `dataclasses.asdict`."""
    dialog, chooser = record["dialog"], record["chooser"]
    return Open(
        OpenDialog(**dialog) if dialog else None,
        OpenChooser(**{**chooser, "files": tuple(chooser["files"])}) if chooser else None,
        tuple(record["tabs"]),
        record["shown"],
    )


@dataclass(frozen=True, slots=True)
class Download:
    """A file that the page has given away."""

    name: str
    """As the browser proposed it, without folders and control characters."""
    size: int
    """Bytes that have arrived."""
    sha256: str
    """Of the content, hex; empty unless it is finished."""
    state: Literal["finished", "failed", "unfinished"] = "finished"
    content: bytes = field(default=b"", repr=False)
    """Empty unless it is finished."""

    @classmethod
    def of(cls, name: str, content: bytes) -> Download:
        """A finished download."""
        return cls(name, len(content), hashlib.sha256(content).hexdigest(), "finished", content)
