"""Which artifact, and which words of a request, stand for one draft length.

Where drafts come from outside an engine, each request says how much is drafted: one
artifact serves every length, and none. Elsewhere it is fixed when an engine is built
or loaded, and each length is an artifact of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from trtspec.bench.candidates import can_be_off
from trtspec.methods import Method, NoSpeculation
from trtspec.recipe.schema import Recipe
from trtspec.trtllm.engine.run.admission import drafts_from_outside

CHANGED = frozenset(
    {
        "draft_length",
        "max_draft_tokens",
        "max_non_leaves_per_layer",
        "num_layers",
        "tree",
    }
)
"""Parameters that a tuning changes; all others are as the recipe has them."""


class Setting(NamedTuple):
    """How one arm is run.

    :ivar recipe: of the artifact that it needs.
    :ivar speculate: whether its requests are drafted for.
    :ivar own: the requests' own parameters of the method.
    """

    recipe: Recipe
    speculate: bool = True
    own: Method | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """What a recipe's backend needs for each way of drafting.

    :param recipe: as it is deployed.
    :param longest: its method with the longest draft that is looked at.
    """

    recipe: Recipe
    longest: Method

    @property
    def by_request(self) -> bool:
        """Whether one artifact serves all draft lengths."""
        return self.recipe.backend == "tensorrt" and drafts_from_outside(self.longest)

    @property
    def plain(self) -> Setting:
        """Plain decoding: off by request where the engine can, else method none."""
        if self.by_request or can_be_off(self.recipe):
            return Setting(self.with_own(self.longest), speculate=False)
        return Setting(without_drafts(self.recipe))

    def drafting(self, method: Method) -> Setting:
        """The recipe's method with other parameters.

        :param method: of an artifact, where models have other names.
        """
        if self.by_request:
            return Setting(self.with_own(self.longest), own=self._named(method))
        return Setting(self.with_own(method))

    def with_own(self, method: Method) -> Recipe:
        """Give the recipe with a method's length or tree."""
        return with_method(self.recipe, self._named(method))

    def _named(self, method: Method) -> Method:
        """Give a method its models' names in the recipe."""
        ours = self.recipe.speculation.model_dump()
        kept = {key: value for key, value in ours.items() if key not in CHANGED}
        return type(method).model_validate({**method.model_dump(), **kept})


def with_method(recipe: Recipe, method: Method) -> Recipe:
    """Give a recipe with other speculation."""
    return recipe.model_copy(update={"speculation": method, "tuned": None})


def without_drafts(recipe: Recipe) -> Recipe:
    """Give the off arm of a recipe: all the same but for what belongs to drafting."""
    off = with_method(recipe, NoSpeculation(method="none"))
    changes: dict[str, object] = {}
    if off.engine is not None:
        changes["engine"] = off.engine.model_copy(update={"max_draft_length": None})
    if off.pytorch is not None:
        changes["pytorch"] = off.pytorch.model_copy(update={"acceptance_gate": None})
    return off.model_copy(update=changes)
