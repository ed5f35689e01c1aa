"""Is a running engine sane: a few prompts, a quick look."""

from trtspec.verify.canary.record import CanaryResult, Check, Drafting
from trtspec.verify.canary.run import run_canary
from trtspec.verify.canary.talk import Ask, Heard, Talker

__all__ = [
    "Ask",
    "CanaryResult",
    "Check",
    "Drafting",
    "Heard",
    "Talker",
    "run_canary",
]
