"""What the small files of an artifact say: a recipe that needs nothing from outside."""

from __future__ import annotations

from trtspec.build.artifact import DRAFT, RECIPE, TARGET, WORKLOAD
from trtspec.recipe.dump import dump_recipe
from trtspec.recipe.load import LoadedRecipe
from trtspec.recipe.schema import Recipe
from trtspec.recipe.workload import load_prompts, prompts_path


def artifact_texts(loaded: LoadedRecipe) -> dict[str, bytes]:
    """Give recipe.yaml and, if the recipe has a workload, workload.jsonl.

    :raises UsageError: if the prompts cannot be read or are not valid.
    """
    texts = {RECIPE: dump_recipe(self_contained(loaded.recipe)).encode()}
    workload = loaded.recipe.workload
    if workload is not None:
        where = loaded.where("workload", "prompts")
        path = prompts_path(loaded.base, workload.prompts, where)
        # a bad line is reported now, not in the first benchmark
        load_prompts(path, where)
        texts[WORKLOAD] = path.read_bytes()
    return texts


def self_contained(recipe: Recipe) -> Recipe:
    """Point a recipe's references at the artifact's own files."""
    changes: dict[str, object] = {
        "target": recipe.target.model_copy(
            update={"model": f"./{TARGET}", "revision": None}
        )
    }
    if recipe.speculation.draft_model is not None:
        changes["speculation"] = recipe.speculation.model_copy(
            update={"model": f"./{DRAFT}", "revision": None}
        )
    if recipe.workload is not None:
        changes["workload"] = recipe.workload.model_copy(update={"prompts": WORKLOAD})
    return recipe.model_copy(update=changes)
