"""Which command starts the server of an artifact."""

from __future__ import annotations

from packaging.version import Version

from trtspec.build.alias import alias_path
from trtspec.build.artifact import CHAT_TEMPLATE, Artifact
from trtspec.build.fingerprint import artifact_name
from trtspec.errors import BackendUnavailableError
from trtspec.recipe.schema import Recipe
from trtspec.trtllm.facts.families import family_of, why_no_family
from trtspec.trtllm.facts.serve import serve_flags

PROGRAM = "trtllm-serve"
CONFIG = "launch/llm_args.yaml"
MODEL = "target"
HOST = "localhost"
PORT = 8000


def serve_command(
    recipe: Recipe,
    version: Version,
    *,
    host: str = HOST,
    port: int | str = PORT,
    model: str = MODEL,
    config: str = CONFIG,
) -> tuple[str, ...]:
    """Give the command that serves a recipe; what the YAML says is not said again.

    It is run in the artifact's directory, so that no word of it needs quoting:
    TensorRT-LLM's launcher for several nodes splits its command at every space
    (tensorrt_llm/llmapi/trtllm-llmapi-launch).

    :param version: of TensorRT-LLM.
    :param port: a number, or what stands for one in a script.
    :param model: the target model, from the artifact's directory.
    :param config: the YAML, from the artifact's directory.
    :raises BackendUnavailableError: for a version of no release family.
    """
    if family_of(version) is None:
        raise BackendUnavailableError(
            f"TensorRT-LLM {version} is of no family of releases that trtspec serves "
            f"with: {why_no_family(version)}"
        )
    options = {
        "--backend": "pytorch",
        "--host": host,
        "--port": str(port),
        "--extra_llm_api_options": config,
        **_chat_template(recipe),
    }
    known = serve_flags(version)
    words = [w for flag, v in options.items() if flag in known for w in (flag, v)]
    return (PROGRAM, "serve", model, *words)


def served_name(artifact: Artifact) -> str:
    """Give the name under which clients ask for an artifact's target.

    It tells artifacts apart: their directory's name as it was built.
    """
    return artifact_name(artifact.manifest.name, artifact.manifest.fingerprint)


def served_path(artifact: Artifact) -> str:
    """Give the model to start a server with, from the artifact's directory.

    Its last part is the name that the server then has, in every release; the flag
    ``--served_model_name`` is known from 1.3.0rc22 on only.
    """
    return alias_path(served_name(artifact))


def why_no_server(recipe: Recipe) -> str:
    """Say why no server can serve a recipe in any version; empty if one can.

    The command would serve it all the same, without speculation.
    """
    if recipe.speculation.method != "user":
        return ""
    return (
        "a drafter of the user's own is a Python object, which trtllm-serve cannot be "
        "given: run the artifact in process, with trtspec run"
    )


def _chat_template(recipe: Recipe) -> dict[str, str]:
    """Give the recipe's own chat template; before 1.2 there is no flag for it."""
    if recipe.target.chat_template is None:
        return {}
    return {"--chat_template": CHAT_TEMPLATE}
