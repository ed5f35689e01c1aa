"""How a recipe is written as YAML, so that it loads back to an equal recipe."""

from __future__ import annotations

from typing import Any

import yaml

from trtspec.recipe.schema import Recipe
from trtspec.recipe.yaml_core import reads_as_text

_NO_WRAP = 2**31 - 1


class _RecipeDumper(yaml.SafeDumper):
    """Quotes what YAML 1.1 or 1.2 would not read as text; short values in one line."""

    def ignore_aliases(self, data: object) -> bool:
        """Write equal values out instead of referring to the first."""
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    tag = "tag:yaml.org,2002:str"
    tag_in_1_1 = dumper.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    plain = tag_in_1_1 == tag and reads_as_text(text) and text.isprintable()
    return dumper.represent_scalar(tag, text, style=None if plain else '"')


def _list(dumper: yaml.SafeDumper, items: tuple[object, ...]) -> yaml.SequenceNode:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=True)


def _map(dumper: yaml.SafeDumper, items: dict[object, object]) -> yaml.MappingNode:
    schedule = all(isinstance(key, int) for key in items)
    return dumper.represent_mapping(
        "tag:yaml.org,2002:map", items.items(), flow_style=schedule or None
    )


_RecipeDumper.add_representer(str, _text)
_RecipeDumper.add_representer(tuple, _list)
_RecipeDumper.add_representer(dict, _map)


def dump_recipe(recipe: Recipe) -> str:
    """Write a recipe as YAML, defaults included; keys without a value are left out."""
    return _dump(recipe.model_dump(by_alias=True, exclude_none=True), flow=False)


def flow_text(value: object) -> str:
    """Write a value in one line of YAML, as messages show it: ``{8: 4, 32: 2}``."""
    return _dump(value, flow=True).strip().removesuffix("\n...")


def _dump(value: object, *, flow: bool) -> str:
    options: dict[str, Any] = {"sort_keys": False, "allow_unicode": True}
    text: str = yaml.dump(
        value, Dumper=_RecipeDumper, default_flow_style=flow, width=_NO_WRAP, **options
    )
    return text
