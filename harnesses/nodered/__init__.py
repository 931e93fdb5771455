"""Node-RED, from npm: the flows of a greenhouse, and what an agent must do in their editor."""

from uigym.harnesses.nodered import editing, wiring
from uigym.harnesses.nodered.product import nodered

__all__ = ["editing", "nodered", "wiring"]
