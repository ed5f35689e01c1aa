#!/usr/bin/env bash
# From a clone to a measured comparison: installs, fetches the demo model, builds the
# artifact, answers a prompt, and measures every method with a recipe beside plain decoding.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

RECIPE=recipes/smollm2-135m/ngram.yaml

install demo
say "Demo model: SmolLM2-135M-Instruct, a download of 93 MB (once), and 800 MB in engines/."
"$VENV/bin/trtspec" build "$RECIPE"
say ""
"$VENV/bin/trtspec" run "$RECIPE" --max-tokens 40 --prompt \
  'Write this function again with x renamed to width: def area(x, height): return x * height'
say ""
say "All methods with a recipe in recipes/smollm2-135m, in turn on the same prompts:"
exec "$VENV/bin/python" scripts/bench_reference.py --methods all --brief --dtype float32 \
  --prompts recipes/workloads/chat.jsonl recipes/workloads/code.jsonl --limit 4 \
  --tokens 12 --batches 1 --repeats 3
