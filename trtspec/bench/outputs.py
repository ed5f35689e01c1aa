"""Whether the outputs of two arms are identical, and whether an arm repeats itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from pydantic import Field

from trtspec.bench.records import Record, Sample


class Difference(Record):
    """The first position at which a prompt's two outputs differ."""

    prompt_id: str = Field(description="Id of the prompt.")
    position: int = Field(
        ge=0, description="Index of the first differing token; character of a text."
    )
    off: int | str | None = Field(
        description="Token id, or character, of the baseline; null: ended."
    )
    on: int | str | None = Field(description="That of the arm; null: ended.")


class Outputs(Record):
    """Counts of prompts whose outputs are identical; nothing more is claimed.

    In reduced precision a near tie between two tokens may come out either way, so a
    difference is not yet an error, and identity on these prompts is not yet a proof.
    """

    prompts: int = Field(ge=0, description="Prompts compared.")
    by: str = Field(
        description="token ids; or text, where a server gives no ids: equal texts can "
        "hide unequal ids."
    )
    identical: int | None = Field(
        description="Prompts with the same output in both arms, block 1; null when "
        "sampled, where the two arms use their random numbers differently."
    )
    differences: tuple[Difference, ...] = Field(
        description="Where the others first differ."
    )
    off_repeats: int = Field(
        ge=0, description="Prompts with the same output in all blocks of the baseline."
    )
    on_repeats: int = Field(
        ge=0, description="Prompts with the same output in all blocks of the arm."
    )


Output = tuple[int, ...] | str


def compare_outputs(
    samples: Sequence[Sample], baseline: str, arm: str, *, greedy: bool
) -> Outputs:
    """Compare outputs between two arms and between the blocks of each.

    :param samples: counted samples of one load.
    """
    off, on = _first_block(samples, baseline), _first_block(samples, arm)
    # ids and a text have nothing that could be compared
    both = [p for p in off if p in on and _is_text(on[p]) == _is_text(off[p])]
    differences = tuple(
        difference
        for prompt in both
        if (difference := first_difference(prompt, off[prompt], on[prompt]))
    )
    texts = any(map(_is_text, (*off.values(), *on.values())))
    return Outputs(
        prompts=len(both),
        by="text" if texts else "token ids",
        identical=len(both) - len(differences) if greedy else None,
        differences=differences if greedy else (),
        off_repeats=_repeats(samples, baseline),
        on_repeats=_repeats(samples, arm),
    )


def _is_text(output: Output) -> bool:
    return isinstance(output, str)


def first_difference(prompt_id: str, off: Output, on: Output) -> Difference | None:
    """Find where two outputs part; None if they are identical."""
    for position in range(max(len(off), len(on))):
        left = off[position] if position < len(off) else None
        right = on[position] if position < len(on) else None
        if left != right:
            return Difference(
                prompt_id=prompt_id, position=position, off=left, on=right
            )
    return None


def _first_block(samples: Sequence[Sample], arm: str) -> dict[str, Output]:
    outputs: dict[str, Output] = {}
    for s in samples:
        output = s.text if s.tokens is None else s.tokens
        if s.arm == arm and s.block == 1 and output is not None:
            outputs[s.prompt_id] = output
    return outputs


def _repeats(samples: Sequence[Sample], arm: str) -> int:
    hashes: dict[str, set[str]] = defaultdict(set)
    for sample in samples:
        if sample.arm == arm:
            hashes[sample.prompt_id].add(sample.output_sha256)
    return sum(len(seen) == 1 for seen in hashes.values())
