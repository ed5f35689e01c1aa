"""The recipe: one YAML file that says what to build, run and measure."""

from trtspec.recipe.dump import dump_recipe
from trtspec.recipe.engine import EngineOptions
from trtspec.recipe.json_schema import recipe_json_schema
from trtspec.recipe.load import LoadedRecipe, load_recipe
from trtspec.recipe.schema import (
    SCHEMA,
    Backend,
    Dtype,
    Limits,
    Recipe,
    Sampling,
    Target,
    Workload,
)
from trtspec.recipe.workload import Prompt, load_prompts

__all__ = [
    "SCHEMA",
    "Backend",
    "Dtype",
    "EngineOptions",
    "Limits",
    "LoadedRecipe",
    "Prompt",
    "Recipe",
    "Sampling",
    "Target",
    "Workload",
    "dump_recipe",
    "load_prompts",
    "load_recipe",
    "recipe_json_schema",
]
