"""What a drafter would have had accepted at every place of the target's own answers."""

from __future__ import annotations

from pydantic import Field, model_validator

from trtspec.bench.records import Record


class PromptTrace(Record):
    """One answer of the target, decoded plainly, with a draft at every place of it.

    Place n is the one at which n tokens have been emitted; place 1 follows the prefill.
    A greedy answer is the same whatever was drafted, so the trace holds for every draft
    length up to the one that it was made with.
    """

    prompt_id: str = Field(description="Id of the prompt.")
    category: str = Field(default="", description="Its category.")
    prompt_tokens: int = Field(ge=1, description="Tokens of the prompt.")
    limit: int = Field(ge=1, description="Most tokens that were to be emitted.")
    emitted: int = Field(ge=1, description="Tokens of the answer.")
    offered: tuple[int, ...] = Field(
        description="Tokens that the drafter offered at places 1 to emitted - 1."
    )
    accepted: tuple[int, ...] = Field(
        description="Of them, the first ones that the target would have emitted too."
    )

    @model_validator(mode="after")
    def _whole(self) -> PromptTrace:
        places = self.emitted - 1
        if not len(self.offered) == len(self.accepted) == places:
            raise ValueError(f"an answer of {self.emitted} tokens has {places} places")
        if self.emitted > self.limit:
            raise ValueError("more tokens were emitted than were to be")
        if any(a > o for a, o in zip(self.accepted, self.offered, strict=True)):
            raise ValueError("more draft tokens were accepted than were offered")
        return self
