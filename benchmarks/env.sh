#!/bin/sh
# Measure environments on a quiet machine: results/*.json, in about twelve minutes on two cores. From the root of the checkout:
#   benchmarks/env.sh [PYTHON WITH browsergym-core]
# What the files mean is in docs/speed.md.
set -e
uigym=${UIGYM:-.venv/bin/uigym}
results=benchmarks/results
load=$(cut -d. -f1 /proc/loadavg)
[ "$load" -lt 1 ] || echo "this machine is not quiet: its load is $(cut -d' ' -f1 /proc/loadavg)" >&2

"$uigym" bench env --against frames --against raw --against playwright --rounds 3 --out $results/pages.json
"$uigym" bench env --page middle --viewport 320x240,1280x720 --sweep --rounds 4 --out $results/slots.json
if [ -n "$1" ]; then
    "$uigym" bench env --page middle --viewport 320x240,1280x720 --rounds 3 --against raw --against playwright \
        --against browsergym --browsergym-python "$1" --out $results/browsergym.json
fi
"$uigym" bench env kiosk --seconds 30 --out $results/kiosk.json
"$uigym" bench memory --out $results/memory.json
