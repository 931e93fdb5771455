"""What makes pixels repeatable: flags of Chromium, the context's surroundings, and a clock that stands still."""

from __future__ import annotations

import json
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
    """JavaScript for every new document; empty if neither clock nor randomness is fixed."""
    parts = []
    if surroundings.clock is not None:
        parts.append(_CLOCK.replace("NOW", str(int(surroundings.clock.timestamp() * 1000))))
    if surroundings.random_seed is not None:
        parts.append(_RANDOM.replace("SEED", json.dumps(str(surroundings.random_seed))))
    return "\n".join(parts)


_CLOCK = """
(() => {
  const stopped = NOW, Native = Date;
  const Fixed = new Proxy(Native, {
    construct: (target, args, made) => Reflect.construct(target, args.length ? args : [stopped], made),
    apply: () => new Native(stopped).toString(),
  });
  Object.defineProperty(Native, 'now', {value: new Proxy(Native.now, {apply: () => stopped}), writable: true, configurable: true});
  Native.prototype.constructor = Fixed;
  window.Date = Fixed;
})();
"""

# A 32-bit mixing generator: its start comes from the seed and the address, so that frames differ.
_RANDOM = """
(() => {
  let state = 2166136261;
  for (const unit of SEED + '|' + location.pathname) state = Math.imul(state ^ unit.codePointAt(0), 16777619);
  Math.random = new Proxy(Math.random, {apply: () => {
    state = (state + 0x6D2B79F5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }});
})();
"""
