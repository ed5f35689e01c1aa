"""What a distribution test found: a verdict, why, and every figure behind it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from trtspec.bench.records import Record
from trtspec.verify.distribution.plan import Plan

Verdict = Literal["pass", "fail", "cannot tell"]


class PromptComparison(Record):
    """Two samples of answers to one prompt."""

    prompt: str = Field(description="Id of the prompt.")
    cells: int = Field(ge=0, description="Cells of its tables, all places together.")
    statistic: float = Field(ge=0, description="G, summed over the places.")
    expected: float = Field(ge=0, description="Its mean where arms do not matter.")
    p_value: float = Field(gt=0, le=1, description="By permutation, for this prompt.")
    found: bool = Field(description="Counts as a difference after Benjamini-Hochberg.")
    distinct: tuple[float, float] = Field(
        description="Different answers among all, in the first and the second sample."
    )


class Comparison(Record):
    """Two samples of answers to all prompts."""

    first: str = Field(description="Whose answers are looked at.")
    second: str = Field(description="Whose answers they are compared with.")
    sizes: tuple[int, int] = Field(description="Answers per prompt of each.")
    statistic: float = Field(ge=0, description="G, summed over places and prompts.")
    expected: float = Field(ge=0, description="Its mean where arms do not matter.")
    spread: float = Field(ge=0, description="Its standard deviation there.")
    p_value: float = Field(gt=0, le=1, description="By permutation within prompts.")
    level: float = Field(gt=0, lt=1, description="Below or at it the p-value counts.")
    shift: float = Field(
        ge=0,
        le=1,
        description="Largest shift that the surplus over the mean can stand for: root "
        "mean square of the total variation over all tables. About 0 by chance alone.",
    )
    smallest_shift: float | None = Field(
        description="Total variation that, were it so large at every place of every "
        "prompt, would be found with the plan's power; null: none would."
    )
    smallest_shift_in_one: float | None = Field(
        description="The same for a shift in a single prompt of the usual kind."
    )
    repeats: tuple[float, float] = Field(
        description="Share of pairs of answers to one prompt that are equal, in each "
        "sample: 1 if all are the same, larger for a sharper distribution."
    )
    prompts: tuple[PromptComparison, ...] = Field(description="Each prompt.")

    @property
    def differs(self) -> bool:
        """Whether the two samples do not come from one distribution."""
        return self.p_value <= self.level or any(one.found for one in self.prompts)


class Drafts(Record):
    """What was drafted while the on arm answered."""

    drafted: int | None = Field(ge=0, description="Draft tokens; null if not told.")
    accepted: int | None = Field(
        ge=0, description="Of them became output; null if not told."
    )


class DistributionResult(Record):
    """The distribution test's part of a verdict."""

    verdict: Verdict = Field(
        description="pass: no difference, and the control shows that one would have "
        "been seen; fail: a difference; cannot tell: neither can be said."
    )
    reasons: tuple[str, ...] = Field(description="Why, one sentence each.")
    plan: Plan = Field(description="What was asked.")
    compared: Literal["token ids", "pieces of text"] = Field(
        description="What the answers were compared by."
    )
    requests: int = Field(ge=0, description="Requests sent, all arms together.")
    drafts: Drafts = Field(description="What the on arm drafted.")
    on: Comparison = Field(description="On against off: the test itself.")
    floor: Comparison = Field(description="Off against off: what chance alone does.")
    control: Comparison = Field(
        description="A knowingly wrong arm against off: it must differ."
    )
    control_says: str = Field(description="What is wrong with that arm.")
