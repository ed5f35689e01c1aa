"""What TensorRT-LLM's backend pytorch does to the output, by release and engine shape.

A one-model engine drafts and verifies in one program; a two-model engine runs drafter
and target as two. The ranges hold published releases: release candidates of 1.0 to 1.2
and 1.3.0rc0 to rc21 mix the rules of their neighbours and are in none.
"""

from __future__ import annotations

from trtspec.methods.exactness import Exactness

R1_0 = ">=1.0,<1.1"
R1_1 = ">=1.1,<1.2"
R1_2 = ">=1.2,<1.3"
MAIN = ">=1.3.0rc22,<1.5"
FAMILIES = {"1.0": R1_0, "1.1": R1_1, "1.2": R1_2, "main": MAIN}
"""The release families, with their versions as PEP 440 specifiers."""
ANY = tuple(FAMILIES.values())

_ACCEPTANCE = "tensorrt_llm/_torch/speculative and tensorrt_llm/_torch/pyexecutor"
IGNORED = (
    "the release decodes greedily under speculation: temperature, top-k, top-p and "
    "seed are ignored"
)
UNSETTLED = "what the release does to sampled output is not established"


def exact(versions: str) -> Exactness:
    """Say that output in a family is the target's own."""
    return Exactness("pytorch", versions, source=_ACCEPTANCE)


def greedy_only(versions: str, why: str) -> Exactness:
    """Say that only greedy output in a family is the target's own."""
    return Exactness("pytorch", versions, sampled=why, source=_ACCEPTANCE)


def lossy(why: str) -> tuple[Exactness, ...]:
    """Say that no output of any family is the target's own."""
    return tuple(Exactness("pytorch", f, why, why, _ACCEPTANCE) for f in ANY)


MAIN_ONLY = (exact(MAIN),)
"""Methods that only the newest releases have: each token is compared with one sampled
from the target, or accepted by p/q."""

ONE_MODEL = (
    greedy_only(R1_0, IGNORED),
    greedy_only(R1_1, IGNORED),
    exact(R1_2),
    exact(MAIN),
)
"""One-model engines; on 1.2 with ``allow_advanced_sampling``, which trtspec sets."""

TWO_MODELS = (
    greedy_only(R1_0, IGNORED),
    greedy_only(R1_1, UNSETTLED),
    exact(R1_2),
    exact(MAIN),
)
"""Two-model engines up to 1.2, and drafts that come from no model."""
