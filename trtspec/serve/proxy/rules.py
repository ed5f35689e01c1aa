"""Which of two pools a request goes to, as data."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field

from trtspec.methods import MAX_RUNNING_REQUESTS
from trtspec.recipe.schema import Recipe
from trtspec.recipe.section import MAX_TOKENS
from trtspec.serve.proxy.pool import PoolName

SPECULATION_HEADER = "x-trtspec-speculation"
"""on or off: as the field ``speculation.enabled`` of a body."""
WORKLOAD_HEADER = "x-trtspec-workload"
POOL_HEADER, ROUTE_HEADER = "x-trtspec-pool", "x-trtspec-route"
"""Of an answer: the pool that it is from, and why that one."""
WARNING_HEADER = "x-trtspec-warning"


class Rules(BaseModel):
    """The rules, from the strongest to the weakest.

    1. The request itself says it: ``speculation.enabled``, ``x-trtspec-speculation``,
       or the off artifact's name as ``model``. It then goes nowhere else.
    2. What the on pool would not honour, or answer lossily, goes to the off pool if
       that would.
    3. ``workloads``: by the header ``x-trtspec-workload``.
    4. ``off_above_prompt``: by the prompt's length.
    5. ``off_above_load``: by what runs and waits in the on pool.
    6. Everything else goes to the on pool.

    What rules 3 to 6 chose goes to the other pool while its own is down.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    workloads: Mapping[str, PoolName] = Field(
        default_factory=dict, description="Pool by workload; others are not routed so."
    )
    off_above_prompt: int | None = Field(
        default=None,
        ge=0,
        le=MAX_TOKENS,
        description="Most tokens of a prompt that goes to the on pool. The texts of a "
        "chat's messages are counted, without what the chat template adds; of several "
        "prompts the longest.",
    )
    off_above_load: int | None = Field(
        default=None,
        ge=0,
        le=MAX_RUNNING_REQUESTS,
        description="Most answers under way in the on pool, a new request's among "
        "them, for which that request goes there.",
    )


def break_even(recipe: Recipe) -> int | None:
    """Give the largest load at which a tuned recipe's table has speculation ahead.

    The table's levels are those that ``trtspec tune`` looked at: the answer is the
    last level before the first one where drafting is not faster, by measurement where
    there is one, else by prediction.

    :returns: None for a recipe that was not tuned, or whose table has drafting ahead at
        every load; 0 if it is not ahead at the lowest one.
    """
    if recipe.tuned is None:
        return None
    best = 0
    for load in sorted(recipe.tuned.loads, key=lambda each: each.concurrency):
        gain = load.predicted if load.measured is None else load.measured
        if load.draft_length == 0 or load.verdict == "slower" or gain <= 1:
            return best
        best = load.concurrency
    return None
