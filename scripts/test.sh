#!/usr/bin/env bash
# Lint, types and tests, slow ones included. Arguments go to pytest instead:
#   scripts/test.sh -m "not slow" tests/recipe
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

install demo,dev,docs
if [ $# -gt 0 ]; then exec "$VENV/bin/python" -m pytest "$@"; fi
say "The slow tests fetch the demo model (93 MB, once)."
"$VENV/bin/ruff" check .
"$VENV/bin/ruff" format --check .
"$VENV/bin/mypy"
# two at a time, each with one thread: torch programs side by side stall each other
export OMP_NUM_THREADS=1
# a worker that crashes is not started again: xdist would wait for its file for ever
exec "$VENV/bin/python" -m pytest -n "${TRTSPEC_TEST_WORKERS:-2}" --dist loadfile \
  --max-worker-restart 0
