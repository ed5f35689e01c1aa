"""The recipe's schema as JSON Schema, for editors and other tools."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from trtspec.recipe.schema import Recipe

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class _InOrder(GenerateJsonSchema):
    """Keeps keys, methods and examples in the order in which the schema has them."""

    def sort(
        self, value: JsonSchemaValue, parent_key: str | None = None
    ) -> JsonSchemaValue:
        """Leave the order alone; overrides pydantic's sorting by name."""
        return value


def recipe_json_schema() -> dict[str, Any]:
    """Give the JSON Schema (draft 2020-12) of a recipe.

    A map of draft lengths has strings for keys there, as JSON knows no others.
    """
    schema = Recipe.model_json_schema(schema_generator=_InOrder)
    return {"$schema": DIALECT} | schema | {"title": "trtspec recipe"}
