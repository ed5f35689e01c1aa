"""How much memory a recipe's models and KV caches take on a GPU."""

from trtspec.check.memory.fixes import Fix, fixes
from trtspec.check.memory.plan import MemoryPlan, Part, memory_plan
from trtspec.check.memory.planned import Models, plan_for, without_speculation
from trtspec.check.memory.table import gib, plan_document, plan_lines

__all__ = [
    "Fix",
    "MemoryPlan",
    "Models",
    "Part",
    "fixes",
    "gib",
    "memory_plan",
    "plan_document",
    "plan_for",
    "plan_lines",
    "without_speculation",
]
