"""BrowserGym in its own environment, driven by JSON lines on stdin and stdout. Needs nothing of uigym's.

    {"do": "open", "url": ...}   the page in a new episode: {"version": ...}
    {"do": "click", "x": ..., "y": ...}   one step: {}

What goes wrong is answered as {"error": ...}. The end of stdin ends the worker. The configuration is the one argument: JSON with
`executable`, `width`, `height`, and `stripped`, which says whether all is off that can be.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import playwright.sync_api
from browsergym.core.action.highlevel import HighLevelActionSet
from browsergym.core.env import BrowserEnv
from browsergym.core.task import OpenEndedTask

_STRIPPED = {"pre_observation_delay": 0, "slow_mo": 0, "use_raw_page_output": True}


class Worker:
    """One environment."""

    def __init__(self, config: dict[str, Any]):
        self._config = config
        self._env: Any = None
        self._url = ""
        _use(config["executable"])

    def open(self, url: str) -> dict[str, Any]:
        """Reset; a stripped environment takes the picture here, the other one has it in its observation."""
        if url != self._url:
            self.close()
            self._env, self._url = self._made(url), url
        self._env.reset(seed=0)
        self._look()
        return {"version": version("browsergym-core")}

    def click(self, x: float, y: float) -> dict[str, Any]:
        """One step."""
        observation = self._env.step(f"mouse_click({x}, {y})")[0]
        if observation["last_action_error"]:
            raise RuntimeError(observation["last_action_error"])
        self._look()
        return {}

    def close(self) -> None:
        """End the browsers."""
        if self._env is not None:
            self._env.close()

    def _look(self) -> None:
        if self._config["stripped"]:
            self._env.page.screenshot()

    def _made(self, url: str) -> Any:
        size = {"width": self._config["width"], "height": self._config["height"]}
        actions = HighLevelActionSet(["coord"]).to_python_code
        options = _STRIPPED if self._config["stripped"] else {}
        task = {"start_url": url, "goal": "Click."}
        return BrowserEnv(OpenEndedTask, task, viewport=size, action_mapping=actions, **options)


def _use(executable: str) -> None:
    """Launch this Chromium everywhere: the chat window starts a browser of its own and takes no path for it."""
    kind = playwright.sync_api.BrowserType
    native = kind.launch

    def launch(self: Any, **options: Any) -> Any:
        return native(self, **{**options, "executable_path": executable})

    kind.launch = launch  # type: ignore[method-assign]


def main() -> None:
    """Answer until stdin ends."""
    replies, sys.stdout = sys.stdout, sys.stderr  # what a library prints is no reply
    worker = Worker(json.loads(sys.argv[1]))
    acts: dict[str, Callable[..., dict[str, Any]]] = {"open": worker.open, "click": worker.click}
    for line in sys.stdin:
        message = json.loads(line)
        act = acts[message.pop("do")]
        try:
            reply = act(**message)
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()
    worker.close()


if __name__ == "__main__":
    main()
