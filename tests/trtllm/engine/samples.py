"""Recipes for engines, and the command lines that they lead to."""

from pathlib import Path

from tests.methods.samples import SMALLEST
from trtspec.build.sources import Source, StageInputs
from trtspec.models.locate import ModelReference
from trtspec.recipe import Recipe
from trtspec.trtllm.engine.stages import engine_stages
from trtspec.trtllm.engine.toolchain import Toolchain
from trtspec.trtllm.examples import IMAGE_FOLDER
from trtspec.trtllm.installation import assumed_for

VERSIONS = ("0.17.0", "0.20.0", "1.0.0", "1.2.1")
LIMITS = {"max_batch_size": 4, "max_input_tokens": 1024, "max_total_tokens": 2048}


def recipe(method="none", *, target=None, limits=None, engine=None, **fields) -> Recipe:
    """Make a recipe; ``fields`` are the method's own."""
    family = {"family": "llama"} if method == "draft_target" else {}
    content = {
        "schema": "trtspec/v1",
        "name": "sample",
        "backend": "tensorrt",
        "target": {"model": "org/target", "family": "llama", "dtype": "float16"}
        | (target or {}),
        "speculation": SMALLEST[method] | family | fields,
        "limits": LIMITS | (limits or {}),
    }
    if engine is not None:
        content["engine"] = engine
    return Recipe.model_validate(content)


def source(role, kind="model") -> Source:
    """Make a checkpoint that is not on this machine."""
    reference = ModelReference("hub", f"org/{role}", None, None, kind)
    return Source(role, reference, kind=kind)


def inputs(made: Recipe) -> StageInputs:
    """Give what the stages of a recipe are planned from."""
    kind = made.speculation.drafter_kind
    draft = source("draft", kind) if kind else None
    return StageInputs(made, source("target"), draft)


def tools(version="1.2.1", examples=None) -> Toolchain:
    """Give the programs that NVIDIA's image of a version has."""
    return Toolchain(assumed_for(version, examples))


def stages(made: Recipe, version="1.2.1"):
    """Plan a recipe's stages, by name."""
    found = engine_stages(tools(version), inputs(made))
    return {stage.name: stage for stage in found}


def written(made: Recipe, version="1.2.1") -> list[str]:
    """Give the words of all commands: stage, program, arguments."""
    words = []
    for name, stage in stages(made, version).items():
        if stage.command is not None:
            words += [name, *_words(stage)]
    return words


def call(made: Recipe, stage: str, version="1.2.1") -> list[str]:
    """Give the words of one stage's command."""
    return _words(stages(made, version)[stage])


def _words(stage) -> list[str]:
    arguments = list(stage.command.arguments)
    if arguments[0] == "{trtllm-build}":
        return [stage.paths["trtllm-build"], *arguments[1:]]
    assert arguments[:2] == ["{python}", "{script}"]
    script = Path(stage.paths["script"]).relative_to(IMAGE_FOLDER)
    return [str(script), *arguments[2:]]
