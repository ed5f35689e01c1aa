"""What is compared, and in which order its blocks run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import Field, JsonValue

from trtspec.bench.driver import BenchPrompt, Driver
from trtspec.bench.records import WARM_UP_BLOCK, Record, Role
from trtspec.methods import Method

OFF, ON, CONTROL = "off", "on", "off again"
"""Usual names of the arms."""


class Subject(Record):
    """An artifact that was measured."""

    name: str = Field(description="Name of the recipe.")
    fingerprint: str = Field(description="Fingerprint of the artifact.")
    target_sha256: str | None = Field(
        default=None,
        description="SHA-256 over the target checkpoint's files; null if not known.",
    )
    recipe: dict[str, JsonValue] = Field(description="The recipe, resolved.")


class Endpoint(Record):
    """A server that was measured."""

    url: str = Field(description="Base address, without credentials.")
    model: str = Field(description="Model name in the requests.")
    api: str = Field(description="chat or completions.")


class ArmInfo(Record):
    """One arm, as it stands in the result."""

    name: str = Field(description="Name of the arm.")
    role: Role = Field(
        description="baseline: speculation off. control: the baseline once more. "
        "candidate: compared with the baseline."
    )
    artifact: Subject | None = Field(default=None, description="What was measured.")
    endpoint: Endpoint | None = Field(default=None, description="Or at which server.")
    speculation: dict[str, JsonValue] = Field(
        description="Method and parameters that these requests had; method none if "
        "drafting was off."
    )
    engine: dict[str, JsonValue] = Field(
        description="What the engine or server says of itself."
    )


@dataclass(frozen=True, slots=True)
class Arm:
    """One arm, ready to run.

    :param speculate: False asks the engine to decode without drafting.
    :param speculation: parameters of the artifact's method for these requests.
    :param prompts: in the same order in every arm.
    """

    info: ArmInfo
    driver: Driver
    prompts: tuple[BenchPrompt, ...]
    speculate: bool = True
    speculation: Method | None = None

    @property
    def name(self) -> str:
        """Name of the arm."""
        return self.info.name

    @property
    def role(self) -> Role:
        """What it is compared for."""
        return self.info.role


def control_of(baseline: Arm) -> Arm:
    """Give the baseline once more, under another name."""
    info = baseline.info.model_copy(update={"name": CONTROL, "role": "control"})
    return Arm(
        info,
        baseline.driver,
        baseline.prompts,
        baseline.speculate,
        baseline.speculation,
    )


def block_order(arms: Sequence[str], repeats: int) -> Iterator[tuple[str, int]]:
    """Give arm and number of each block, warm-up first.

    In each round every arm has one block. The round's order moves on by one from pair
    to pair of rounds and is reversed in the second of a pair: off on | on off for two
    arms, so that none always comes first and a steady drift of the machine hits all.
    """
    for block in range(WARM_UP_BLOCK, repeats + 1):
        pair, second = divmod(max(block - 1, 0), 2)
        turn = pair % len(arms)
        order = [*arms[turn:], *arms[:turn]]
        for arm in reversed(order) if second else order:
            yield arm, block
