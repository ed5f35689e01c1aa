"""What to take on backend pytorch for a method that TensorRT engines alone have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

_IN_RECIPES = {
    "eagle3": "eagle3",
    "draft_target": "draft_target",
    "ngram": "ngram",
}


class Alternative(NamedTuple):
    """Why a method has no equivalent, and what to take.

    :ivar why: a clause about backend pytorch: "it does not run Medusa heads".
    :ivar template: a noun phrase to follow "take", with places for the methods' names.
    """

    why: str
    template: str

    @property
    def take(self) -> str:
        """A noun phrase to follow "take", with the methods named as in recipes."""
        return self.spelled(_IN_RECIPES)

    def spelled(self, names: Mapping[str, str]) -> str:
        """Give the phrase for another reader.

        :param names: what eagle3, draft_target and ngram are called there, such as the
            ``decoding_type`` of a release.
        """
        return self.template.format_map(names)


_TRAINED = (
    "{eagle3} with weights trained for this target, or {draft_target} with a smaller "
    "model of the same vocabulary; {ngram} where there is no drafter"
)
ALTERNATIVES = {
    "medusa": Alternative("it does not run Medusa heads", _TRAINED),
    "eagle": Alternative(
        "its EAGLE is EAGLE-3, which needs other weights than EAGLE-1 and EAGLE-2",
        _TRAINED,
    ),
    "redrafter": Alternative("it does not run ReDrafter's recurrent drafter", _TRAINED),
    "lookahead": Alternative(
        "it has no lookahead decoding",
        "{ngram}, which needs no drafter either; with one, {eagle3} or {draft_target}",
    ),
}
"""Method of TensorRT engines → its alternative on backend pytorch."""
