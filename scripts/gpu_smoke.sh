#!/usr/bin/env bash
# Proves on a GPU what the project's tests, which have none, cannot. Run it inside NVIDIA's
# TensorRT-LLM image: on every backend that exists here it builds and runs a small public
# pair of models with speculation off and on, and compares the greedy tokens.
#
#   scripts/gpu_smoke.sh > verdict.json
#
# stdout: one JSON verdict. stderr: progress. Exit 0: all that ran passed; 4: nothing could
# run here; 5: something did not build or run; 7: tokens differ. 5 GB of download and 20 GB
# of disk with the default models.
#
#   SMOKE_TARGET    target model, a directory or hub id   (HuggingFaceTB/SmolLM2-1.7B-Instruct)
#   SMOKE_DRAFT     draft model of the same vocabulary    (HuggingFaceTB/SmolLM2-135M-Instruct)
#   SMOKE_DTYPE     type of weights and KV cache          (float16)
#   SMOKE_PROMPTS   JSONL of prompts, sent without a chat template; the first 4 are used
#   SMOKE_TOKENS    tokens per prompt                     (64)
#   SMOKE_BACKENDS  which backends to try                 (tensorrt pytorch reference)
#   SMOKE_RECIPES   further recipes; each is compared with the none.yaml beside it, such as
#                   "recipes/vicuna-7b/medusa.yaml recipes/vicuna-7b/eagle.yaml" (+17 GB)
#   SMOKE_LOGS      folder for all logs                   (gpu-smoke)
#   SMOKE_ENGINES   folder for the artifacts              (SMOKE_LOGS/engines)
#   PYTHON          the image's interpreter               (python3)
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
python="${PYTHON:-python3}"

say() { printf '%s\n' "$*" >&2; }

# nothing_runs REASON: the verdict where not even the checks can be started
nothing_runs() {
  printf '{"verdict": "skipped", "reason": "%s", "checks": []}\n' "$1"
  exit 4
}

# has MODULES: whether they can be imported, the repository's own folder left out
has() { (cd "$here" && "$python" -c "import $1") >/dev/null 2>&1; }

pip_install() {
  say "Installing into the environment of $python: $*"
  "$python" -m pip install --quiet --disable-pip-version-check "$@" >&2 || say "that failed"
}

# Only what is missing, and nothing upgraded: NVIDIA's scripts need the versions they have.
install() {
  local pair missing=()
  for pair in click filelock httpx numpy psutil pydantic rich scipy tokenizers safetensors \
    yaml:pyyaml pynvml:nvidia-ml-py huggingface_hub:huggingface_hub; do
    has "${pair%%:*}" || missing+=("${pair##*:}")
  done
  [ ${#missing[@]} -eq 0 ] || pip_install "${missing[@]}"
  pip_install --no-deps "$root"
}

command -v "$python" >/dev/null 2>&1 || nothing_runs "there is no $python; set PYTHON"
needed="pynvml, tokenizers, trtspec.build.build, trtspec.cli.main, trtspec.trtllm.probe"
has "$needed" || install
has "$needed" || nothing_runs "trtspec cannot be installed or imported; see stderr"

exec "$python" "$here/gpu_smoke.py"
