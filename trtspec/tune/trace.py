"""What a drafter would have had accepted at every place of the target's own answers."""

from __future__ import annotations

from pydantic import Field, model_validator

from trtspec.bench.records import Record


class PromptTrace(Record):
    """One answer of the target, decoded plainly, with a draft at every place of it.

    Place n is the one at which n tokens have been emitted; place 1 follows the prefill.
    A greedy answer is the same whatever was drafted. Of a chain that may be cut
    anywhere the trace holds for every draft length up to the one that it was made with;
    of a tree, or of drafts that depend on their length, for that one only.
    """

    prompt_id: str = Field(description="Id of the prompt.")
    category: str = Field(default="", description="Its category.")
    prompt_tokens: int = Field(ge=1, description="Tokens of the prompt.")
    limit: int = Field(ge=1, description="Most tokens that were to be emitted.")
    emitted: int = Field(ge=1, description="Tokens of the answer.")
    offered: tuple[int, ...] = Field(
        description="Length of the longest path that was offered at places 1 to "
        "emitted - 1; of a chain, its draft tokens."
    )
    accepted: tuple[int, ...] = Field(
        description="Of them, the first ones that the target would have emitted too."
    )
    drafted: tuple[int, ...] | None = Field(
        default=None,
        description="Draft tokens of all branches of a tree; null: a chain.",
    )
    verified: tuple[int, ...] | None = Field(
        default=None,
        description="Tokens that the target reads for them; null: as many as drafted.",
    )

    ranks: tuple[tuple[int, ...], ...] | None = Field(
        default=None,
        description="Of heads that do not see one another: the rank that each gave to "
        "the answer's token, -1: none that was looked at. Null: no such heads.",
    )

    chances: tuple[tuple[float, ...], ...] | None = Field(
        default=None,
        description="Of sampled answers: the chance that so many tokens of the draft "
        "are accepted, by length. Null: greedy.",
    )

    @model_validator(mode="after")
    def _whole(self) -> PromptTrace:
        places = self.emitted - 1
        kept = (
            self.offered,
            self.accepted,
            self.drafted,
            self.verified,
            self.ranks,
            self.chances,
        )
        if any(len(each) != places for each in kept if each is not None):
            raise ValueError(f"an answer of {self.emitted} tokens has {places} places")
        if self.emitted > self.limit:
            raise ValueError("more tokens were emitted than were to be")
        if any(a > o for a, o in zip(self.accepted, self.offered, strict=True)):
            raise ValueError("more draft tokens were accepted than were offered")
        return self
