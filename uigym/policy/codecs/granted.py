"""What works only where a harness grants it, as calls of tools that every family can be given.

No family has a word of its own for answering a dialog or a file chooser; all of them can call a tool by its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from uigym.policy.codecs.screen import Unreadable, need, number, text
from uigym.types import Action, Back, Dialog, Goto, SwitchTab, Upload

ARGUMENTS: dict[str, tuple[str, ...]] = {
    "goto": ("url",),
    "back": (),
    "switch_tab": ("index",),
    "upload": ("file",),
    "dialog": ("accept", "text"),
}
"""Name of a tool -> of its arguments."""


def call_of(action: Action) -> tuple[str, dict[str, Any]] | None:
    """(the tool's name, its arguments); None for an action that needs no grant.

    Example:
        >>> call_of(Dialog(accept=True))
        ('dialog', {'accept': True})
    """
    match action:
        case Goto(url):
            return "goto", {"url": url}
        case Back():
            return "back", {}
        case SwitchTab(index):
            return "switch_tab", {"index": index}
        case Upload(file):
            return "upload", {"file": file if isinstance(file, str) else list(file)}
        case Dialog(accept, said):
            return "dialog", {"accept": accept, **({"text": said} if said else {})}
    return None


def read_call(name: str, args: Mapping[str, Any]) -> Action:
    """The action of a call of one of the tools.

    Raises:
        Unreadable: An argument is missing, or of another kind.
    """
    match name:
        case "goto":
            return Goto(text(need(args, "url", name), "url"))
        case "back":
            return Back()
        case "switch_tab":
            return SwitchTab(int(number(need(args, "index", name), "index", 0, 1000)))
        case "upload":
            file = need(args, "file", name)
            return Upload(tuple(text(one, "a file") for one in file) if isinstance(file, list) else text(file, "file"))
        case "dialog":
            accept = need(args, "accept", name)
            if not isinstance(accept, bool):
                raise Unreadable(f"dialog: accept must be true or false, not {accept!r:.80}")
            return Dialog(accept, text(args.get("text", ""), "text"))
    raise Unreadable(f"no tool {name!r:.80}; expected one of {', '.join(ARGUMENTS)}")


def python(action: Action) -> str:
    """The call as text that looks like Python; "" for an action that needs no grant.

    Example:
        >>> python(Upload("a.pdf"))
        "upload(file='a.pdf')"
    """
    call = call_of(action)
    return f"{call[0]}({', '.join(f'{name}={value!r}' for name, value in call[1].items())})" if call else ""
