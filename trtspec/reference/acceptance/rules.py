"""Which rule accepts the draft tokens of a recipe's method."""

from __future__ import annotations

from trtspec.methods import Method
from trtspec.reference.acceptance.base import Rule
from trtspec.reference.acceptance.exact import accept_exactly
from trtspec.reference.acceptance.relaxed import DEEPSEEK_R1_THINKING, LossyRelaxed
from trtspec.reference.acceptance.typical import LossyTypical


def rule_for(method: Method) -> Rule:
    """Give the rule that the method's ``acceptance`` names: exact unless it does.

    :param method: ``typical`` goes with its ``posterior_threshold``; ``relaxed`` with
        its ``relaxed_top_k``, ``relaxed_delta`` and ``thinking_tokens``.
    """
    settings = method.model_dump()
    acceptance = settings.get("acceptance", "exact")
    if acceptance == "typical":
        return LossyTypical(settings["posterior_threshold"])
    if acceptance == "relaxed":
        return LossyRelaxed(
            settings["relaxed_top_k"],
            settings["relaxed_delta"],
            settings.get("thinking_tokens") or DEEPSEEK_R1_THINKING,
        )
    return accept_exactly
