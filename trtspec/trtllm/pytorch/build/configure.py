"""The stage that writes what the server is started with."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from packaging.version import Version

from trtspec.build.sources import StageInputs
from trtspec.build.stage import Stage, StageContext
from trtspec.errors import BuildError
from trtspec.models.info import ModelInfo
from trtspec.recipe.schema import Recipe
from trtspec.trtllm.facts.families import family_of
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.pytorch.compile import compile_args
from trtspec.trtllm.pytorch.compile.document import render
from trtspec.trtllm.pytorch.compile.installed import faults_by_classes
from trtspec.trtllm.pytorch.compile.validate import faults
from trtspec.trtllm.pytorch.launch.command import serve_command
from trtspec.trtllm.pytorch.launch.scripts import launcher_script
from trtspec.trtllm.pytorch.settings import Compiled, LlmArgs

CONFIGURE = "configure"
CONFIGURE_VERSION = 1
"""Raised when the same text and command would be checked in another way."""
LAUNCH = "launch"
"""The artifact's folder of what the server is started with."""
LLM_ARGS = "llm_args.yaml"
SERVE = "serve.sh"


def compiled(inputs: StageInputs, version: Version) -> Compiled:
    """Compile the recipe, with what is known of its target."""
    info = inputs.target.info
    target = info if isinstance(info, ModelInfo) else None
    return compile_args(inputs.recipe, version, target)


def configure_stage(inputs: StageInputs, installation: Installation) -> Stage:
    """Plan to write the LLM API's YAML and the script that starts the server.

    What it is held against decides nothing of the output, so it is not in the key: a
    TensorRT-LLM that becomes importable after the stage was made does not make it
    again. Delete ``engines/.stages`` to have it validated against the classes.

    :raises BuildError: if the recipe cannot be expressed in this version.
    """
    version = installation.version
    assert version is not None, "without a version there is no plan"
    found = compiled(inputs, version)
    _require_expressible(found)
    texts = launch_texts(inputs.recipe, found.args)
    command = " ".join(serve_command(inputs.recipe, version))
    return Stage(
        name=CONFIGURE,
        version=CONFIGURE_VERSION,
        inputs={**texts, "tensorrt_llm": str(version), "command": command},
        action=partial(_write, texts, found.args.to_dict(), installation),
        summary=(f"write {LLM_ARGS} and {SERVE} for TensorRT-LLM {version}",),
        folder=LAUNCH,
        texts=texts,
    )


def launch_texts(recipe: Recipe, args: LlmArgs) -> dict[str, str]:
    """Give the files of the folder ``launch``, by name."""
    heading = (
        f"LLM API of TensorRT-LLM {args.version}, written by trtspec from recipe.yaml.",
        "Paths start from the artifact's directory.",
    )
    # the name decides nothing, so artifacts that differ in it alone share this stage
    nameless = recipe.model_copy(update={"name": "this artifact"})
    return {
        LLM_ARGS: render(args, heading),
        SERVE: launcher_script(nameless, args.version, "local"),
    }


def _require_expressible(found: Compiled) -> None:
    """What ``check`` refuses has no configuration."""
    for remark in found.remarks:
        if remark.severity == "blocking":
            where = ".".join(map(str, remark.key))
            raise BuildError(remark.what, where=where, action=remark.action)


def _write(
    texts: Mapping[str, str],
    args: Mapping[str, Any],
    installation: Installation,
    context: StageContext,
) -> None:
    _say(context, validated(args, installation))
    for name, text in texts.items():
        (context.output / name).write_text(text, encoding="utf-8")
    (context.output / SERVE).chmod(0o755)


def _say(context: StageContext, line: str) -> None:
    context.log(line)
    context.progress.line(line)


def validated(args: Mapping[str, Any], installation: Installation) -> str:
    """Hold a configuration against the facts and, if they are here, the real classes.

    :returns: which of the two happened.
    :raises BuildError: if it would be refused.
    """
    version = installation.version
    assert version is not None, "without a version there is no plan"
    if wrong := faults(args, version):
        raise BuildError.from_problems(wrong)
    by_facts = f"{LLM_ARGS}: validated against the facts of {family_of(version)}"
    if installation.assumed:
        return by_facts
    refused = faults_by_classes(args, installation)
    if refused is None:
        return f"{by_facts}; TensorRT-LLM cannot be imported here"
    if refused:
        raise BuildError.from_problems(refused)
    return (
        f"{LLM_ARGS}: validated against the classes of the installed TensorRT-LLM "
        f"{version}, and the facts of {family_of(version)}"
    )


def read_args(texts: Mapping[str, str]) -> dict[str, Any]:
    """Read the configuration of planned files back.

    :param texts: as ``launch_texts`` gives them.
    """
    import yaml

    return dict(yaml.safe_load(texts[LLM_ARGS]) or {})
