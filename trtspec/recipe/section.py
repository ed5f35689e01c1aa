"""What every section of a recipe has in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

MAX_TOKENS = 2**24
"""No model reads longer texts; keeps a slip of the finger away from allocators."""


class Section(BaseModel):
    """A map of a recipe: no unknown keys, and no value taken for another type."""

    # strict: "8", 8.0 and true are not the number 8
    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False
    )
