"""What makes pixels repeatable: flags of Chromium, the context's surroundings, and a clock that stands still."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from uigym.surroundings import Surroundings

RASTER_FLAGS = (
    "--disable-gpu",  # software compositing; SwiftShader costs twice as much
    "--disable-partial-raster",  # else gradients depend on which tiles were drawn before
    "--disable-checker-imaging",
    "--disable-lcd-text",
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
    "--force-device-scale-factor=1",
    "--hide-scrollbars",
    "--disable-smooth-scrolling",
)
"""The same page gives the same pixels in every browser, context and run."""


def context_options(surroundings: Surroundings) -> dict[str, Any]:
    """Options of a Playwright context."""
    return {
        "locale": surroundings.locale,
        "timezone_id": surroundings.timezone,
        "device_scale_factor": surroundings.scale,
        "permissions": list(surroundings.permissions),
        "geolocation": {"latitude": surroundings.position[0], "longitude": surroundings.position[1]},
        "color_scheme": "light",
        "reduced_motion": "no-preference",
        "forced_colors": "none",
    }


def screen(viewport: tuple[int, int], surroundings: Surroundings) -> dict[str, Any]:
    """What every page of a session is shown on, popups and fullscreen included, for CDP's setDeviceMetricsOverride."""
    width, height = viewport
    return {"width": width, "height": height, "deviceScaleFactor": surroundings.scale, "mobile": False}


def script(surroundings: Surroundings) -> str:
    """JavaScript for every new document, in its own world; empty if neither clock nor randomness is fixed."""
    parts = []
    if surroundings.clock is not None:
        parts.append(_source("clock.js").replace("__NOW__", str(int(surroundings.clock.timestamp() * 1000))))
    if surroundings.random_seed is not None:
        parts.append(_source("random.js").replace("__SEED__", json.dumps(str(surroundings.random_seed))))
    return "\n".join(parts)


def stillness(surroundings: Surroundings) -> str:
    """JavaScript for every new document, in our world beside settle.js; empty if the clock runs."""
    return _source("still.js") if surroundings.clock is not None else ""


@cache
def _source(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
