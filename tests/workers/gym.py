"""Stands in for BrowserGym's worker: the same protocol, no browser. The fourth click fails, a page called "dies" ends it."""

from __future__ import annotations

import json
import sys

config = json.loads(sys.argv[1])
clicks = 0
for line in sys.stdin:
    message = json.loads(line)
    if "dies" in message.get("url", ""):
        sys.exit(1)
    if message["do"] == "open":
        reply = {"version": f"0.14.9 {config['width']}x{config['height']} {config['stripped']}"}
    else:
        clicks += 1
        reply = (
            {}
            if (message["x"], message["y"]) == (80, 40) and clicks < 4
            else {"error": f"TimeoutError: click {clicks}"}
        )
    sys.stdout.write(json.dumps(reply) + "\n")
    sys.stdout.flush()
