"""A tiny model directory as the build makes it, for tests of the runner."""

from __future__ import annotations

import json
from pathlib import Path

from tests.reference.engines import word_tokenizer
from tests.reference.toys import toy_model
from trtspec.recipe import Recipe

TEMPLATE = (
    "{% for m in messages %}"
    "{% if m['role'] == 'assistant' %}w3 {{ m['content'] }} w1 "
    "{% else %}w2 {{ m['content'] }} {% endif %}{% endfor %}"
    "{% if add_generation_prompt %}w3{% endif %}"
)


def write_model(
    directory: Path, seed: int = 0, template: str | None = TEMPLATE
) -> Path:
    """Save a toy with its word tokenizer."""
    toy_model(seed=seed).save_pretrained(directory)
    word_tokenizer().save(str(directory / "tokenizer.json"))
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "w1"}
    if template:
        config["chat_template"] = template
    (directory / "tokenizer_config.json").write_text(json.dumps(config))
    return directory


def recipe(method: dict | None = None, **limits: int) -> Recipe:
    """Give a float32 recipe of the reference backend."""
    sizes = {"max_batch_size": 2, "max_input_tokens": 20, "max_total_tokens": 60}
    return Recipe.model_validate(
        {
            "schema": "trtspec/v1",
            "name": "toy",
            "target": {"model": "./target", "dtype": "float32"},
            "speculation": method or {"method": "ngram", "draft_length": 3},
            "limits": sizes | limits,
        }
    )
