"""What a script says that starts the server of an artifact, on one node or several."""

from __future__ import annotations

import shlex
from typing import Literal, get_args

from packaging.version import Version

from trtspec.build.alias import MODELS
from trtspec.recipe.schema import Recipe
from trtspec.trtllm.pytorch.launch.command import (
    HOST,
    PORT,
    serve_command,
    why_no_server,
)
from trtspec.trtllm.pytorch.launch.ranks import Ranks, ranks_of
from trtspec.trtllm.pytorch.launch.script_parts import (
    BUILT,
    HOSTS,
    MOUNTS,
    MPIRUN,
    ROOT,
    SRUN,
    STRICT,
)

Launcher = Literal["local", "mpirun", "slurm"]
LAUNCHERS: tuple[Launcher, ...] = get_args(Launcher)
VENDOR_LAUNCHER = "trtllm-llmapi-launch"
ANY_HOST = "0.0.0.0"  # noqa: S104 - rank 0 may land on any node, as in the vendor's
_VARIABLES = ("$host", "$port", "$model")


def launcher_script(
    recipe: Recipe, version: Version, kind: Launcher, *, artifact: str | None = None
) -> str:
    """Give a bash script that serves an artifact.

    ``mpirun`` and ``slurm`` start one rank per GPU through TensorRT-LLM's own launcher,
    as its examples do: examples/models/core/deepseek_v3/README.md (mpirun),
    examples/llm-api/llm_mgmn_trtllm_serve.sh and
    docs/source/commands/trtllm-serve/trtllm-serve.rst (Slurm).

    :param version: of TensorRT-LLM.
    :param kind: ``local`` starts the server without a launcher.
    :param artifact: the artifact's directory, if the script lies elsewhere; empty: the
        variable TRTSPEC_ARTIFACT names it. None: the script lies in the artifact's
        folder ``launch``; or, with Slurm, which runs a copy of it, ``sbatch`` is called
        in the artifact's directory.
    :raises BackendUnavailableError: for a version of no release family.
    :raises UsageError: if the ranks do not fill the nodes.
    """
    if why := why_no_server(recipe):
        return "\n".join(["#!/usr/bin/env bash", *_refuse(why)]) + "\n"
    ranks = ranks_of(recipe)
    host, port, model = _VARIABLES
    words = serve_command(recipe, version, host=host, port=port, model=model)
    server = " ".join(_quoted(word) for word in words)
    write = {"local": _local, "mpirun": _mpirun, "slurm": _slurm}[kind]
    about = f"# Serves {recipe.name} with TensorRT-LLM {version}, {_spread(ranks)}."
    directives = _directives(recipe.name, ranks) if kind == "slurm" else ()
    lines = [
        "#!/usr/bin/env bash",
        *directives,
        about,
        *write(server, ranks, artifact),
    ]
    return "\n".join(lines) + "\n"


def _quoted(word: str) -> str:
    return f'"{word}"' if word in _VARIABLES else shlex.quote(word)


def _spread(ranks: Ranks) -> str:
    if ranks.nodes == 1:
        return f"{ranks.total} GPU{'s' if ranks.total > 1 else ''} of one node"
    return f"{ranks.total} GPUs, {ranks.per_node} on each of {ranks.nodes} nodes"


def _variables(host: str) -> list[str]:
    return [
        f'host="${{TRTSPEC_HOST:-{host}}}"',
        f'port="${{TRTSPEC_PORT:-{PORT}}}"',
        # the script's text decides the name's digits, so it cannot have them
        f'model="$(echo {MODELS}/*)"',
    ]


def _beside(artifact: str | None) -> list[str]:
    """Give the lines that enter the artifact, so that its relative paths hold."""
    if artifact is not None:
        return _enter(_directory(artifact))
    return ['cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."']


def _enter(directory: str) -> list[str]:
    """Enter an artifact that may not be built yet."""
    return [f"artifact={directory}", *BUILT]


def _directory(artifact: str) -> str:
    if artifact:
        return shlex.quote(artifact)
    return '"${TRTSPEC_ARTIFACT:?is the directory of the artifact, once it is built}"'


def _local(server: str, ranks: Ranks, artifact: str | None) -> list[str]:
    if ranks.nodes > 1:
        several = f"this recipe takes {ranks.nodes} nodes: use the launcher for mpirun "
        return [STRICT, *_refuse(several + "or Slurm")]
    about = "# TRTSPEC_HOST and TRTSPEC_PORT change where it listens."
    return [about, STRICT, *_beside(artifact), *_variables(HOST), f"exec {server}"]


def _refuse(why: str) -> list[str]:
    return [f"echo {shlex.quote(why)} >&2", "exit 2"]


def _mpirun(server: str, ranks: Ranks, artifact: str | None) -> list[str]:
    about = MPIRUN if ranks.nodes > 1 else MPIRUN[:2]
    return [
        *about,
        STRICT,
        *_beside(artifact),
        *_variables(ANY_HOST),
        *HOSTS,
        *_require_hosts(ranks),
        "fi",
        *ROOT,
        f'exec mpirun ${{placement[@]+"${{placement[@]}}"}} -n {ranks.total} \\',
        '  -wdir "$PWD" "$@" \\',
        f"  {VENDOR_LAUNCHER} {server}",
    ]


def _require_hosts(ranks: Ranks) -> list[str]:
    if ranks.nodes == 1:
        return []
    example = ",".join(f"node{i}:{ranks.per_node}" for i in range(1, ranks.nodes + 1))
    missing = f"set TRTSPEC_HOSTS={example} or TRTSPEC_HOSTFILE=FILE"
    return [
        "else",
        *(f"  {line}" for line in _refuse(missing)),
    ]


def _directives(name: str, ranks: Ranks) -> list[str]:
    return [
        f"#SBATCH --job-name={name}",
        f"#SBATCH --nodes={ranks.nodes}",
        f"#SBATCH --ntasks={ranks.total}",
        f"#SBATCH --ntasks-per-node={ranks.per_node}",
        f"#SBATCH --gres=gpu:{ranks.per_node}",
        "#SBATCH --output=trtllm-serve-%j.log",
    ]


def _slurm(server: str, ranks: Ranks, artifact: str | None) -> list[str]:
    enter = '"${SLURM_SUBMIT_DIR:?}"' if artifact is None else _directory(artifact)
    return [
        *SRUN,
        STRICT,
        *_enter(enter),
        *_variables(ANY_HOST),
        *MOUNTS,
        f"exec srun -l --ntasks={ranks.total} --ntasks-per-node={ranks.per_node} \\",
        '  --mpi=pmix --container-image="$TRTSPEC_IMAGE" \\',
        '  --container-mounts="$mounts" --container-workdir="$PWD" \\',
        f"  {VENDOR_LAUNCHER} {server}",
    ]
