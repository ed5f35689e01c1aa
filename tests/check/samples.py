"""Recipes, model facts and subjects for the tests of rules."""

from dataclasses import replace
from pathlib import Path

import yaml

from trtspec.check.subject import Subject, key_itself
from trtspec.models.info import ModelInfo
from trtspec.recipe.load import load_recipe
from trtspec.recipe.schema import Recipe

NGRAM = {"method": "ngram", "draft_length": 4}
DRAFT_TARGET = {"method": "draft_target", "model": "./draft", "draft_length": 4}
MODEL = ModelInfo(
    family="llama",
    architecture="LlamaForCausalLM",
    layers=2,
    heads=2,
    kv_heads=1,
    head_size=4,
    hidden_size=8,
    intermediate_size=12,
    vocabulary_rows=16,
    context_length=4096,
    tied_embeddings=True,
    tokenizer_entries=16,
    dtype="float32",
    parameters=1_000_000,
    weight_bytes=4_000_000,
    format="safetensors",
)
DRAFT = replace(MODEL, parameters=100_000)


def content(**changes):
    """Give a recipe's content; sections in ``changes`` replace or add keys."""
    base = {
        "schema": "trtspec/v1",
        "name": "sample",
        "target": {"model": "./target"},
        "speculation": NGRAM,
    }
    for key, value in changes.items():
        old = base.get(key)
        merge = isinstance(old, dict) and key != "speculation"
        base[key] = {**old, **value} if merge else value
    return base


def recipe(**changes):
    """Make a recipe without a file."""
    return Recipe.model_validate(content(**changes))


def loaded(directory: Path, **changes):
    """Write a recipe and load it."""
    path = directory / "recipe.yaml"
    path.write_text(yaml.safe_dump(content(**changes), sort_keys=False))
    return load_recipe(path)


def subject(
    target=MODEL, draft=None, /, *, base=None, missing=(), free_memory=None, **changes
):
    """Make what the rules look at."""
    return Subject(
        recipe(**changes), key_itself, target, draft, base, tuple(missing), free_memory
    )
