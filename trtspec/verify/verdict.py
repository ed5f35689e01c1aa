"""The verdict document: what was tested, on what, and whether speculation is lossless.

Its form is ``trtspec/verify/v1``; ``trtspec schema verify`` prints it as JSON Schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal

from pydantic import ConfigDict, Field

from trtspec.bench.arms import ArmInfo
from trtspec.bench.conditions import Conditions
from trtspec.bench.records import Record
from trtspec.bench.result import PromptSet
from trtspec.verify.canary.record import CanaryResult
from trtspec.verify.distribution.result import DistributionResult
from trtspec.verify.gate.result import GateResult
from trtspec.verify.greedy.records import GreedyParity, Verdict
from trtspec.verify.oracle import Oracle, OracleSampled
from trtspec.verify.soak.record import SoakResult

SCHEMA: Final = "trtspec/verify/v1"

PartName = Literal[
    "gate", "greedy", "oracle", "sampled", "oracle_sampled", "canary", "soak"
]
PARTS: dict[PartName, str] = {
    "gate": "lossless gate",
    "greedy": "greedy parity",
    "oracle": "oracle",
    "sampled": "distribution test",
    "oracle_sampled": "oracle, sampled",
    "canary": "canary",
    "soak": "soak",
}
"""Parts in the order in which they run, and what they are called."""
EXIT_CODES: dict[Verdict, int] = {"pass": 0, "cannot tell": 6, "fail": 7}

Figures = (
    GateResult
    | GreedyParity
    | Oracle
    | DistributionResult
    | OracleSampled
    | CanaryResult
    | SoakResult
)


class Part(Record):
    """One test and what it found."""

    name: PartName = Field(description="Which test.")
    verdict: Verdict = Field(description="pass, fail or cannot tell.")
    summary: tuple[str, ...] = Field(
        description="Its figures, and what was compared, in words."
    )
    reasons: tuple[str, ...] = Field(description="Why not pass, or what limits it.")
    seconds: float = Field(ge=0, description="How long it took.")
    figures: Figures = Field(description="All that it found.")


class Skipped(Record):
    """A test that was not run."""

    name: PartName = Field(description="Which test.")
    why: str = Field(description="Why not.")


class Verification(Record):
    """The document: one verdict over all parts that were run."""

    model_config = ConfigDict(populate_by_name=True)

    schema_: Literal["trtspec/verify/v1"] = Field(
        default=SCHEMA, alias="schema", description="Form of this document."
    )
    name: str = Field(description="Name of the recipe, or of the served model.")
    verdict: Verdict = Field(
        description="fail if any part fails; else cannot tell if any part cannot tell, "
        "or none was run; else pass."
    )
    sentence: str = Field(description="The verdict in words, with what it rests on.")
    started: str = Field(description="UTC time of the start.")
    seconds: float = Field(ge=0, description="How long it took, without loading.")
    arms: tuple[ArmInfo, ...] = Field(description="off, and what is compared with it.")
    prompts: PromptSet | None = Field(description="Which prompts were used.")
    parts: tuple[Part, ...] = Field(description="Tests that were run.")
    skipped: tuple[Skipped, ...] = Field(description="Tests that were not.")
    conditions: Conditions = Field(description="Machine, versions, environment.")

    @property
    def exit_code(self) -> int:
        """Of the command: 0 pass, 6 cannot tell, 7 fail."""
        return EXIT_CODES[self.verdict]


def fold(verdicts: Iterable[Verdict]) -> Verdict:
    """Make one verdict of several; of none it is ``cannot tell``."""
    words = set(verdicts)
    if "fail" in words:
        return "fail"
    return "cannot tell" if "cannot tell" in words or not words else "pass"


def sentence_of(parts: Sequence[Part], skipped: Sequence[Skipped]) -> str:
    """Say the verdict, and on which tests it rests."""
    verdict = fold(part.verdict for part in parts)
    if not parts:
        return "nothing was tested"
    if verdict == "fail":
        return f"the output is not the target's own: {_names(parts, 'fail')}"
    if verdict == "cannot tell":
        return f"not proven either way: {_names(parts, 'cannot tell')}"
    text = f"no sign that speculation changes the output, by {_names(parts, 'pass')}"
    missing = [PARTS[one.name] for one in skipped if one.name in _EXPECTED]
    return f"{text}; not tested: {', '.join(missing)}" if missing else text


_EXPECTED = ("gate", "greedy", "sampled")
"""Without these a pass says less than a reader may think."""


def _names(parts: Sequence[Part], verdict: Verdict) -> str:
    return ", ".join(PARTS[part.name] for part in parts if part.verdict == verdict)


def json_schema() -> dict[str, Any]:
    """Give the JSON Schema (draft 2020-12) of the document."""
    schema = Verification.model_json_schema(by_alias=True, mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
