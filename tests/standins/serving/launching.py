"""What do the stand-ins of mpirun, srun and trtllm-llmapi-launch do? Record, then run.

Imports nothing of ours: a launcher must start at once.
"""

from __future__ import annotations

import json
import os
import sys

TAKE_VALUE = {
    "mpirun": {"-n", "-np", "--np", "-c", "-x", "-H", "--host", "--hostfile"}
    | {"--map-by", "--bind-to", "--rank-by", "-wdir", "--wdir", "-N"},
    "srun": {"-N", "-n", "-p", "-A", "-w", "-t", "-c", "-J"},
}
TWO_VALUES = {"-mca", "--mca", "-gmca", "--gmca"}
NAMES = ("OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS", "CUDA_VISIBLE_DEVICES")


def launch(name: str, root: str) -> None:
    """Record the call and become the command behind the options."""
    argv = sys.argv[1:]
    environment = {key: os.environ[key] for key in NAMES if key in os.environ}
    call = {"program": name, "stage": "launch", "argv": argv, "cwd": os.getcwd()}
    with open(os.path.join(root, "calls.jsonl"), "a") as log:
        log.write(json.dumps({**call, "environment": environment}) + "\n")
    command = argv[_options(name, argv) :]
    if not command:
        sys.exit(f"{name}: no command")
    sys.stdout.flush()
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"{name}: {command[0]}: {error.strerror}\n")
        sys.exit(127)


def _options(name: str, argv: list[str]) -> int:
    """How many words are the launcher's own."""
    if name not in TAKE_VALUE:
        return 0
    index = 0
    while index < len(argv) and argv[index].startswith("-"):
        word = argv[index]
        if word in TWO_VALUES:
            index += 3
        elif word in TAKE_VALUE[name]:
            index += 2
        else:
            index += 1
    return index
