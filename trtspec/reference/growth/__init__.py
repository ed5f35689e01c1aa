"""How draft trees grow, level by level, below the pending token."""

from trtspec.reference.growth.base import Growth, Plan, room_for
from trtspec.reference.growth.by_draft_length import by_draft_length
from trtspec.reference.growth.dynamic import DynamicPlan
from trtspec.reference.growth.static import ChainPlan, StaticPlan

__all__ = [
    "ChainPlan",
    "DynamicPlan",
    "Growth",
    "Plan",
    "StaticPlan",
    "by_draft_length",
    "room_for",
]
