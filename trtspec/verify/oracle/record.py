"""What the oracle found of sampled tokens: every figure behind its verdict."""

from __future__ import annotations

from pydantic import Field

from trtspec.bench.records import Record
from trtspec.verify.distribution.plan import Plan
from trtspec.verify.distribution.result import Drafts
from trtspec.verify.greedy.records import Verdict


class PositionFound(Record):
    """One arm's tokens behind one text, against the reference engine's distribution."""

    prompt_id: str = Field(description="Id of the prompt that the text begins with.")
    after: int = Field(ge=0, description="Tokens of the greedy answer behind it.")
    answers: int = Field(ge=0, description="Answers that were asked for.")
    contexts: int = Field(ge=0, description="Different texts that tokens came after.")
    cells: int = Field(ge=0, description="Cells of its tables, all places together.")
    p_value: float = Field(
        ge=0, le=1, description="By simulation place by place, combined after Fisher."
    )
    found: bool = Field(description="Counts as a difference after Benjamini-Hochberg.")


class SampledArm(Record):
    """One arm's sampled tokens, against the reference engine's distribution."""

    arm: str = Field(description="Name of the arm.")
    tokens: int = Field(ge=0, description="Tokens that were judged.")
    statistic: float = Field(
        ge=0, description="G against the expected counts, over places and positions."
    )
    expected: float = Field(ge=0, description="Its mean for tokens drawn as expected.")
    spread: float = Field(ge=0, description="Its standard deviation there.")
    p_value: float = Field(ge=0, le=1, description="Over all positions.")
    level: float = Field(gt=0, lt=1, description="Below or at it the p-value counts.")
    shift: float = Field(
        ge=0,
        le=1,
        description="Largest shift that the surplus over the mean can stand for: root "
        "mean square of the total variation over all tables. About 0 by chance alone.",
    )
    smallest_shift: float | None = Field(
        description="Total variation that, were it so large at every place of every "
        "position, would be found with the plan's power; null: none would."
    )
    outside: int = Field(
        ge=0, description="Tokens that temperature, top-k and top-p leave no chance."
    )
    likeliest: float = Field(ge=0, le=1, description="Share of the likeliest token.")
    likeliest_expected: float = Field(
        ge=0, le=1, description="The same share as the reference engine has it."
    )
    positions: tuple[PositionFound, ...] = Field(description="Each position.")

    @property
    def differs(self) -> bool:
        """Whether the tokens are not drawn from the reference's distribution."""
        return self.p_value <= self.level or any(one.found for one in self.positions)


class OracleSampled(Record):
    """Sampled tokens of both arms, judged by the reference engine's distributions."""

    verdict: Verdict = Field(
        description="pass: no difference, and the control shows that one would have "
        "been seen; fail: a difference; cannot tell: neither can be said."
    )
    reasons: tuple[str, ...] = Field(description="Why, one sentence each.")
    reference: str = Field(description="What judges: checkpoint, type, libraries.")
    plan: Plan = Field(description="What was asked at each position.")
    compared: str = Field(description="What tokens were told apart by.")
    requests: int = Field(ge=0, description="Requests sent, all arms together.")
    drafts: Drafts = Field(description="What the on arm drafted.")
    rounding: float = Field(
        ge=0,
        le=1,
        description="Total variation by which the reference's own distributions move "
        "when its logits are rounded anew, within half a near tie: mean.",
    )
    off: SampledArm = Field(description="The off arm: whether the reference fits.")
    on: SampledArm = Field(description="The on arm: the test itself.")
    control: SampledArm = Field(description="A knowingly wrong arm: it must differ.")
