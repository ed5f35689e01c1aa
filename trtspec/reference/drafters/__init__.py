"""Drafters of the reference engine, one per speculation method."""

from trtspec.reference.drafters.base import DraftContext, Drafter
from trtspec.reference.drafters.draft_target import DraftModelDrafter
from trtspec.reference.drafters.ngram import NGramDrafter

__all__ = ["DraftContext", "DraftModelDrafter", "Drafter", "NGramDrafter"]
