"""What clients must know of a server whose output is not the target model's own."""

from __future__ import annotations

from packaging.version import Version

from trtspec.methods import lossy_reason
from trtspec.recipe.schema import Recipe


def lossy_warnings(recipe: Recipe, version: Version) -> tuple[str, ...]:
    """Give one line per kind of request that speculation makes lossy.

    The recipe's own temperature decides nothing here: clients choose theirs.

    :param version: of TensorRT-LLM.
    """
    method = recipe.speculation
    greedy, sampled = (
        lossy_reason(method, recipe.backend, version, sampled=kind)
        for kind in (False, True)
    )
    if greedy and greedy == sampled:
        return (f"lossy for every request: {greedy}",)
    kinds = {
        "greedy requests": greedy,
        "requests with a temperature above 0": sampled,
    }
    return tuple(f"lossy for {kind}: {why}" for kind, why in kinds.items() if why)
