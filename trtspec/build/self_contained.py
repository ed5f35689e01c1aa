"""What the small files of an artifact say: a recipe that needs nothing from outside."""

from __future__ import annotations

from pathlib import Path

from trtspec.build.artifact import CHAT_TEMPLATE, DRAFT, RECIPE, TARGET, WORKLOAD
from trtspec.errors import UsageError
from trtspec.recipe.dump import dump_recipe
from trtspec.recipe.load import LoadedRecipe
from trtspec.recipe.schema import Recipe
from trtspec.recipe.workload import load_prompts, prompts_path


def artifact_texts(loaded: LoadedRecipe) -> dict[str, bytes]:
    """Give recipe.yaml and, if the recipe names them, its prompts and chat template.

    :raises UsageError: if the prompts or the template cannot be read or are not valid.
    """
    texts = {RECIPE: dump_recipe(self_contained(loaded.recipe)).encode()}
    if template := loaded.recipe.target.chat_template:
        texts[CHAT_TEMPLATE] = _chat_template(loaded, template)
    workload = loaded.recipe.workload
    if workload is not None:
        where = loaded.where("workload", "prompts")
        path = prompts_path(loaded.base, workload.prompts, where)
        # a bad line is reported now, not in the first benchmark
        load_prompts(path, where)
        texts[WORKLOAD] = path.read_bytes()
    return texts


def _chat_template(loaded: LoadedRecipe, name: str) -> bytes:
    path = loaded.base / Path(name)
    try:
        return path.read_text(encoding="utf-8").encode()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"chat_template {name} cannot be read: {error}",
            where=loaded.where("target", "chat_template"),
            action="give a file with a chat template, relative to the recipe",
        ) from error


def self_contained(recipe: Recipe) -> Recipe:
    """Point a recipe's references at the artifact's own files."""
    target: dict[str, object] = {"model": f"./{TARGET}", "revision": None}
    if recipe.target.chat_template is not None:
        target["chat_template"] = CHAT_TEMPLATE
    changes: dict[str, object] = {"target": recipe.target.model_copy(update=target)}
    method = recipe.speculation
    if method.draft_model is not None:
        # the weights of a trained drafter are part of the target's engine
        is_engine = recipe.backend == "tensorrt" and method.drafter_kind != "model"
        folder = TARGET if is_engine else DRAFT
        changes["speculation"] = method.model_copy(
            update={"model": f"./{folder}", "revision": None}
        )
    if recipe.pytorch is not None:
        own = {"calibration_prompts": None}
        changes["pytorch"] = recipe.pytorch.model_copy(update=own)
    if recipe.workload is not None:
        changes["workload"] = recipe.workload.model_copy(update={"prompts": WORKLOAD})
    return recipe.model_copy(update=changes)
