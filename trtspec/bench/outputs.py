"""Whether the outputs of the arms are identical, and whether an arm repeats itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from pydantic import Field

from trtspec.bench.records import Arm, Record, Sample


class Difference(Record):
    """The first position at which a prompt's two outputs differ."""

    prompt_id: str = Field(description="Id of the prompt.")
    position: int = Field(ge=0, description="Index of the first differing token.")
    off: int | None = Field(description="Token id without speculation; null: ended.")
    on: int | None = Field(description="Token id with speculation; null: ended.")


class Outputs(Record):
    """Counts of prompts whose token ids are identical; nothing more is claimed.

    In reduced precision a near tie between two tokens may come out either way, so a
    difference is not yet an error, and identity on these prompts is not yet a proof.
    """

    prompts: int = Field(ge=1, description="Prompts compared.")
    identical: int | None = Field(
        description="Prompts with the same token ids on and off, block 1; null when "
        "sampled, where the two arms use their random numbers differently."
    )
    differences: tuple[Difference, ...] = Field(
        description="Where the others first differ."
    )
    off_repeats: int = Field(
        ge=0, description="Prompts with the same token ids in all off blocks."
    )
    on_repeats: int = Field(
        ge=0, description="Prompts with the same token ids in all on blocks."
    )


def compare_outputs(samples: Sequence[Sample], *, greedy: bool) -> Outputs:
    """Compare token ids between the arms and between the blocks of an arm.

    :param samples: counted samples of one concurrency.
    """
    off, on = _first_block(samples, "off"), _first_block(samples, "on")
    differences = tuple(
        difference
        for prompt in off
        if (difference := first_difference(prompt, off[prompt], on[prompt]))
    )
    return Outputs(
        prompts=len(off),
        identical=len(off) - len(differences) if greedy else None,
        differences=differences if greedy else (),
        off_repeats=_repeats(samples, "off"),
        on_repeats=_repeats(samples, "on"),
    )


def first_difference(
    prompt_id: str, off: Sequence[int], on: Sequence[int]
) -> Difference | None:
    """Find where two outputs part; None if they are identical."""
    for position in range(max(len(off), len(on))):
        left = off[position] if position < len(off) else None
        right = on[position] if position < len(on) else None
        if left != right:
            return Difference(
                prompt_id=prompt_id, position=position, off=left, on=right
            )
    return None


def _first_block(samples: Sequence[Sample], arm: Arm) -> dict[str, tuple[int, ...]]:
    return {
        s.prompt_id: s.tokens
        for s in samples
        if s.arm == arm and s.block == 1 and s.tokens is not None
    }


def _repeats(samples: Sequence[Sample], arm: Arm) -> int:
    hashes: dict[str, set[str]] = defaultdict(set)
    for sample in samples:
        if sample.arm == arm:
            hashes[sample.prompt_id].add(sample.tokens_sha256)
    return sum(len(seen) == 1 for seen in hashes.values())
