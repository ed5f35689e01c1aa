"""Recipes of backend pytorch, as little as tests of launching need."""

from trtspec.recipe.schema import Recipe

NGRAM = {"method": "ngram", "draft_length": 4}


def recipe(*, tensor_parallel=1, template=None, speculation=NGRAM, **options) -> Recipe:
    """A recipe; ``options`` are those of its section ``pytorch``."""
    return Recipe.model_validate(
        {
            "schema": "trtspec/v1",
            "name": "tiny",
            "backend": "pytorch",
            "target": {
                "model": "./target-model",
                "tensor_parallel": tensor_parallel,
                "chat_template": template,
            },
            "speculation": speculation,
            "pytorch": options or None,
        }
    )
