"""Which lines the launcher scripts have in common: bash, quoted, no version in them."""

from __future__ import annotations

STRICT = "set -euo pipefail"

MPIRUN = (
    "# Open MPI. Further arguments go to mpirun, such as -mca plm_rsh_args '-p 2233'.",
    "# TRTSPEC_HOST and TRTSPEC_PORT change where rank 0 listens.",
    "# TRTSPEC_HOSTS or TRTSPEC_HOSTFILE names the nodes, as -H or --hostfile does.",
    "# Each node has this directory at the same path and reaches the others by ssh.",
)
HOSTS = (
    "placement=()",
    'if [ -n "${TRTSPEC_HOSTFILE:-}" ]; then',
    '  placement=(--hostfile "$TRTSPEC_HOSTFILE")',
    'elif [ -n "${TRTSPEC_HOSTS:-}" ]; then',
    '  placement=(-H "$TRTSPEC_HOSTS")',
)
ROOT = (
    'if [ "$(id -u)" -eq 0 ]; then',
    "  placement+=(--allow-run-as-root)",
    "fi",
)
"""Containers run as root, which Open MPI wants to be told of."""

SRUN = (
    "# sbatch takes account, partition and time: sbatch -A ACCOUNT -p PARTITION ...",
    "# TRTSPEC_IMAGE: the container image with this TensorRT-LLM.",
    "# TRTSPEC_HOST and TRTSPEC_PORT change where rank 0 listens; TRTSPEC_MOUNTS adds "
    "mounts.",
)
BUILT = (
    'if [ ! -f "$artifact/manifest.json" ]; then',
    '  echo "$artifact is no built artifact; build it first: trtspec build RECIPE" >&2',
    "  exit 2",
    "fi",
    'cd -- "$artifact"',
)
"""The manifest is what makes a directory an artifact."""
MOUNTS = (
    ': "${TRTSPEC_IMAGE:?set it to the container image with TensorRT-LLM}"',
    "# The artifact, and the checkpoints that it links to, at the same paths.",
    "# A hub checkpoint links on to its blobs, two folders up: mount the whole of it.",
    "mounts=",
    "add_mount() {  # FROM TO",
    '  case "$1$2" in *[,:]*)',
    '    echo "$1 cannot be mounted at $2: a comma or colon in a path separates '
    'mounts; move it to a path without them" >&2',
    "    exit 2",
    "  esac",
    '  mounts+="${mounts:+,}$1:$2"',
    "}",
    'add_mount "$PWD" "$PWD"',
    "for name in target draft; do",
    '  if [ -L "$name" ]; then',
    '    checkpoint="$(realpath -sm -- "$(readlink -- "$name")")"',
    '    checkpoint="${checkpoint%/snapshots/*}"',
    '    add_mount "$(realpath -- "$checkpoint")" "$checkpoint"',
    "  fi",
    "done",
    'mounts+="${TRTSPEC_MOUNTS:+,$TRTSPEC_MOUNTS}"',
)
