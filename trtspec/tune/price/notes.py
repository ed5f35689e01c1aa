"""What a reader of priced costs has to know beside the figures."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.tune.price.parts import experts
from trtspec.tune.price.priced import Provenance
from trtspec.tune.price.subject import Subject
from trtspec.tune.price.tables import Grid, Measured

_MANY_GPUS = 8
_MANY_TOKENS = 64
"""Vendor's measurements of vLLM found verification that much dearer there."""


def notes(
    subject: Subject,
    grid: Grid,
    verify: Provenance,
    draft: Provenance | None,
    anchor: Measured | None,
    *,
    host_bound: bool,
) -> Iterator[str]:
    """Say it, a line each.

    :param draft: None if drafting takes nothing of the GPU.
    :param host_bound: whether a plain step is priced shorter than the host's round.
    """
    yield from subject.assumed
    yield (
        "no published measurement checks a step that verifies several tokens; "
        "plain steps of three dense models were within 4 to 9 %"
        if verify.source == "priced"
        else "a roofline is a lower bound of every step: tables of measured kernels "
        "say 1.3 to 2.6 times as much"
    )
    if host_bound:
        yield (
            "a plain step is priced shorter than what a drafting round takes on the "
            "host: for so small a model that decides alone, and what a plain step "
            "itself takes there is left out; measure one"
        )
    if draft is not None and draft.source != verify.source:
        yield "target and drafter are priced in two ways: their ratio is less certain"
    if subject.target.dtype == "float16" and verify.source == "priced":
        yield "float16 is priced as bfloat16: of it the kernels were measured"
    if experts(subject.target.model.directory):
        yield "experts: tokens are routed at random, so that verification is overstated"
    if verify.source == "roofline" and subject.gpus > 1:
        yield "what the GPUs send one another is not in a roofline"
    if verify.source == "priced" and subject.gpus >= _MANY_GPUS:
        yield f"from {_MANY_GPUS} GPUs on, steps were predicted up to 21 % too short"
    if max(grid.batches) * (1 + max(grid.verified, default=0)) >= _MANY_TOKENS:
        yield (
            f"from {_MANY_TOKENS} tokens per step on, verification may take 10 to 20 % "
            "longer; gains published for large batches lie nearer to a cache that is "
            "read once per token, or below"
        )
    if anchor is not None:
        yield (
            f"scaled to a plain step of {anchor.seconds * 1000:g} ms at batch "
            f"{anchor.batch}"
        )
