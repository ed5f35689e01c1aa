# Shared by quickstart.sh and test.sh: a venv with trtspec in it. Source, don't run.

say() { printf '%s\n' "$*" >&2; }
die() { say "${0##*/}: $*"; exit 1; }

# The CPU build of torch comes from PyTorch's own index: the build on PyPI for Linux
# brings several GB of CUDA libraries. Empty: use only the configured package index.
TORCH_INDEX="${TRTSPEC_TORCH_INDEX-https://download.pytorch.org/whl/cpu}"

find_python() {
  local candidate
  for candidate in ${PYTHON:-python3 python3.12 python3.11 python3.10}; do
    if command -v "$candidate" >/dev/null 2>&1 && "$candidate" -c \
      'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
      printf '%s' "$candidate"
      return
    fi
  done
  die "no Python 3.10 to 3.13 found; install one (apt install python3 python3-venv) or set PYTHON"
}

need_disk() { # megabytes
  local free
  free=$(df -Pm . | awk 'NR == 2 { print $4 }')
  [ "$free" -ge "$1" ] || die "needs $1 MB of disk here, $free MB are free; free some space and run again"
}

pip_install() {
  "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check "$@" >>"$LOG" 2>&1
}

# install EXTRAS: once per state of pyproject.toml and constraints.txt
install() {
  local extras="$1" stamp want python
  VENV="${TRTSPEC_VENV:-.venv}" LOG="${TRTSPEC_VENV:-.venv}/install.log"
  stamp="$VENV/.installed-$extras"
  want=$(cat pyproject.toml constraints.txt | cksum)
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$want" ] && return
  python=$(find_python) || exit 1
  need_disk 3000
  [ -x "$VENV/bin/python" ] || "$python" -m venv "$VENV" >/dev/null 2>&1 || {
    rm -rf "$VENV"
    die "$python cannot make a virtual environment; apt install python3-venv"
  }
  say "Installing into $VENV (once): torch for CPUs, about 200 MB, other packages, about 150 MB."
  : >"$LOG"
  install_torch || fail_install
  pip_install -c constraints.txt -e ".[$extras]" || fail_install
  printf '%s' "$want" >"$stamp"
}

install_torch() {
  local pinned
  pinned=$(grep '^torch==' constraints.txt)
  "$VENV/bin/python" -c 'import torch' 2>/dev/null && return
  if [ -n "$TORCH_INDEX" ] && pip_install --retries 0 --timeout 10 --index-url "$TORCH_INDEX" "$pinned"; then
    return
  fi
  say "PyTorch's CPU index did not answer: taking $pinned from the configured index instead"
  say "(on Linux a CUDA build: a download of about 3 GB, 6 GB of disk)."
  need_disk 8000
  pip_install "$pinned"
}

fail_install() {
  if grep -qiE 'no space left' "$LOG"; then
    die "the disk is full; free 3 GB and run again (details: $LOG)"
  elif grep -qiE 'connection|resolution|timed out|retrying|no matching distribution' "$LOG"; then
    die "no package index can be reached; check the network or PIP_INDEX_URL and run again (details: $LOG)"
  fi
  die "installing failed: $(tail -n 1 "$LOG") (details: $LOG)"
}
