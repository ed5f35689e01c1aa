"""Rules over recipe, models and machine: they return findings and never raise."""

from trtspec.check.checks import check_models, check_recipe
from trtspec.check.finding import Finding, is_blocked
from trtspec.check.ignore import ignoring

__all__ = [
    "Finding",
    "check_models",
    "check_recipe",
    "ignoring",
    "is_blocked",
]
