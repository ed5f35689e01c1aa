"""``method: auto``: TensorRT-LLM chooses n-gram settings by itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal

from pydantic import Field

from trtspec.methods.base import DraftingMethod
from trtspec.methods.exactness import Exactness
from trtspec.methods.pytorch_rules import TWO_MODELS

_LONGEST = 5
"""Draft length for up to 4 requests; 3 for more (tensorrt_llm/llmapi/llm_args.py)."""


class Auto(DraftingMethod):
    """N-gram whose draft length TensorRT-LLM sets by the size of the batch."""

    summary: ClassVar[str] = "n-gram with settings that TensorRT-LLM chooses itself"
    needs: ClassVar[str] = "nothing"
    step: ClassVar[str] = "6 at most"
    settings: ClassVar[tuple[Mapping[str, object], ...]] = ({},)
    method: Literal["auto"] = Field(
        description="TensorRT-LLM's own choice.", examples=["auto"]
    )

    @property
    def longest_draft(self) -> int:
        """The largest number of tokens that a step can propose."""
        return _LONGEST

    def exactness(self) -> Iterable[Exactness]:
        """As n-gram; the choice is TensorRT-LLM's, so no other backend has it."""
        return TWO_MODELS
