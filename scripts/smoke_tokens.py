"""Whether the tokens with speculation are those without it, but for near ties."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

NEAR_TIE = 0.1
"""Logits that two tokens may be apart, in float32, and still count as a near tie: a
choice, above what 16 bits move a logit by and below what a wrong token is apart."""

Line = dict[str, Any]
"""What ``trtspec run --json`` says of one prompt."""


class Case(NamedTuple):
    """One prompt, and what the two arms made of it.

    :param target: the target model, a directory or a hub id.
    :param artifact: one that was built for it.
    """

    target: str
    artifact: Path
    text: str
    off: Sequence[int]
    on: Sequence[int]


def sums(lines: Mapping[str, Line]) -> dict[str, int]:
    """Add up what was counted over the prompts; what no engine counts is 0."""
    counted = ("output_tokens", "steps", "drafted", "accepted")
    return {key: sum(line[key] or 0 for line in lines.values()) for key in counted}


def differing(off: Mapping[str, Line], on: Mapping[str, Line]) -> list[str]:
    """Name the prompts whose tokens are not the same."""
    return [
        one for one in off if one not in on or off[one]["tokens"] != on[one]["tokens"]
    ]


def is_near_tie(gap: float | None) -> bool:
    """Whether rounding alone can have turned the order of two tokens."""
    return gap is not None and gap <= NEAR_TIE


def gap_of(case: Case) -> float | None:
    """Logits that the first two different tokens are apart, in float32.

    :returns: None if there is no such pair, or it cannot be told here.
    """
    pairs = list(zip(case.off, case.on, strict=False))
    place = next((i for i, (a, b) in enumerate(pairs) if a != b), None)
    if place is None:
        return None  # one ends before the other
    try:
        return _logit_gap(case, place)
    except Exception as error:  # noqa: BLE001 - whatever transformers make of it
        print(f"cannot tell near ties here: {error}", file=sys.stderr)
        return None


def _logit_gap(case: Case, place: int) -> float:
    import torch
    from tokenizers import Tokenizer
    from transformers import AutoModelForCausalLM

    tokenizer = Tokenizer.from_file(str(next(case.artifact.glob("*/tokenizer.json"))))
    ids = [*tokenizer.encode(case.text).ids, *case.off[:place]]
    model = AutoModelForCausalLM.from_pretrained(case.target).float().eval()
    with torch.inference_mode():
        logits = model(torch.tensor([ids])).logits[0, -1]
    return round(float(abs(logits[case.off[place]] - logits[case.on[place]])), 4)
