#!/bin/bash
# What a container starts. NVIDIA's images put the paths of CUDA and TensorRT into the file
# that BASH_ENV names, which bash reads and an exec of trtspec itself would not.
# exec: signals that tini passes on reach trtspec, not a shell.
set -euo pipefail
exec trtspec "$@"
