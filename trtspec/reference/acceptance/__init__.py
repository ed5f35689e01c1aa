"""Which draft tokens become output: the exact rule, and two that are lossy.

``exact`` leaves the target's distribution untouched, ``typical`` and ``relaxed`` do
not.
"""

from trtspec.reference.acceptance.base import Acceptance, Rule, Verified
from trtspec.reference.acceptance.exact import (
    accept_exactly,
    accept_greedy,
    accept_sampled,
    acceptance_probability,
    residual,
)
from trtspec.reference.acceptance.relaxed import LossyRelaxed
from trtspec.reference.acceptance.rules import rule_for
from trtspec.reference.acceptance.typical import LossyTypical

__all__ = [
    "Acceptance",
    "LossyRelaxed",
    "LossyTypical",
    "Rule",
    "Verified",
    "accept_exactly",
    "accept_greedy",
    "accept_sampled",
    "acceptance_probability",
    "residual",
    "rule_for",
]
