#!/usr/bin/env bash
# Builds the guide into build/docs (or the folder that is named), warnings being errors.
# The pages need no network: styles, scripts and search are in the folder.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

OUT="${1:-build/docs}"

install_docs() {
  local python want
  VENV="${TRTSPEC_DOCS_VENV:-.venv-docs}"
  want=$(cksum <pyproject.toml)
  [ -f "$VENV/.installed" ] && [ "$(cat "$VENV/.installed")" = "$want" ] && return
  LOG="$VENV/install.log" python=$(find_python) || exit 1
  [ -x "$VENV/bin/python" ] || "$python" -m venv "$VENV"
  say "Installing Sphinx into $VENV (once), about 60 MB."
  : >"$LOG"
  pip_install -e ".[docs]" || fail_install
  printf '%s' "$want" >"$VENV/.installed"
}

install_docs
# -E: read all pages, since a page that did not change may link to one that is gone
"$VENV/bin/python" -m sphinx -q -E -W --keep-going -j auto -b html -c docs \
  -d build/docs-pages . "$OUT"
printf '<!doctype html><meta charset="utf-8"><title>trtspec</title>%s\n' \
  '<meta http-equiv="refresh" content="0; url=docs/index.html">' >"$OUT/index.html"
say "Built $OUT/index.html"
