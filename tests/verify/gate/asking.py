"""Recipes for the gate, and what it says of them."""

from __future__ import annotations

from packaging.version import Version

from trtspec.recipe import Recipe
from trtspec.verify.gate import Asked, GateResult, configuration, gate
from trtspec.verify.gate.gate import gate_configuration

SETTINGS = {
    "none": {},
    "ngram": {"draft_length": 4},
    "suffix": {"draft_length": 4},
    "draft_target": {"model": "./draft", "draft_length": 4},
    "medusa": {"model": "./heads"},
    "eagle": {"model": "./head"},
    "eagle3": {"model": "./head", "draft_length": 4},
    "mtp": {"draft_length": 3},
    "redrafter": {"model": "./drafter"},
    "lookahead": {},
    "pard": {"model": "./draft", "draft_length": 4},
    "dflash": {"model": "./drafter", "draft_length": 4},
    "user": {"drafter": "of_mine:make", "draft_length": 4},
    "auto": {},
}
SAMPLED = {"temperature": 0.7}


def recipe(
    backend: str, method: str, /, *, sampling=None, more=None, **given
) -> Recipe:
    """Give a recipe of a method with the fewest settings, and further ones."""
    return Recipe.model_validate(
        {
            "schema": "trtspec/v1",
            "name": "gated",
            "backend": backend,
            "target": {"model": "./target"},
            "speculation": {"method": method, **SETTINGS[method], **given},
            "sampling": sampling or {},
            **(more or {}),
        }
    )


def judged(
    backend: str,
    method: str,
    version: str | None = None,
    *,
    environment: dict[str, str] | None = None,
    controls: dict[str, object] | None = None,
    **given,
) -> GateResult:
    """Judge a recipe in an environment that is known, empty unless given."""
    made = recipe(backend, method, **given)
    sampling = made.sampling
    asked = Asked(sampling.temperature, sampling.top_k, sampling.top_p, controls or {})
    return gate(
        made,
        version=Version(version) if version else None,
        environment=environment or {},
        asked=asked,
    )


def read(
    text: str,
    temperature: float | None = 0.7,
    *,
    version: str | None = None,
    environment: dict[str, str] | None = None,
    kind=None,
    controls: dict[str, object] | None = None,
    **options,
) -> GateResult:
    """Judge the text of a configuration; the environment is known unless told."""
    asked = Asked(temperature, options.pop("top_k", 0), 1.0, controls or {})
    return gate_configuration(
        configuration(text, "server.txt", kind),
        version=Version(version) if version else None,
        environment=environment,
        asked=asked,
        **options,
    )


def of(result: GateResult, name: str):
    """Give the one value of a name that was looked at."""
    (found,) = [each for each in result.inspected if each.name == name]
    return found
