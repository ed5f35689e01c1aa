"""How a recipe asks for typical acceptance (arXiv 2401.10774), which is lossy."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

LOSSY = "typical acceptance keeps every token above an entropy threshold"

TypicalOrExact = Annotated[
    Literal["exact", "typical"],
    Field(
        description="exact keeps the target's output distribution; typical needs "
        "posterior_threshold and is lossy."
    ),
]
PosteriorThreshold = Annotated[
    Annotated[float, Field(ge=0.0, lt=1.0)] | None,
    Field(description="Threshold of typical acceptance (arXiv 2401.10774)."),
]
