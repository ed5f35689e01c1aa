"""``method: none``: plain decoding, the off arm of every comparison."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from trtspec.methods.base import Method


class NoSpeculation(Method):
    """One token per step; nothing is proposed."""

    summary: ClassVar[str] = "plain decoding, one token per step"
    needs: ClassVar[str] = "nothing"
    step: ClassVar[str] = "1"
    settings: ClassVar[tuple[Mapping[str, object], ...]] = ({},)
    method: Literal["none"] = Field(description="No speculation.")
