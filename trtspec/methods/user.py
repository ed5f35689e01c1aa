"""``method: user``: a drafter that the user wrote in Python."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Literal

from pydantic import Field

from trtspec.methods.base import ChainMethod
from trtspec.methods.exactness import Exactness
from trtspec.methods.pytorch_rules import TWO_MODELS

_ENTRY_POINT = r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$"


class User(ChainMethod):
    """A drafter of the user's own; runs in this process only, never in a server."""

    summary: ClassVar[str] = "a drafter of the user's own, named as module:attribute"
    method: Literal["user"] = Field(description="User's drafter.", examples=["user"])
    drafter: str = Field(
        pattern=_ENTRY_POINT,
        description="module:attribute; called without arguments it gives the drafter.",
        examples=["my_drafters:make"],
    )
    resource_manager: str | None = Field(
        default=None,
        pattern=_ENTRY_POINT,
        description="module:attribute; called without arguments it gives the drafter's "
        "resource manager. None if unset.",
    )

    def exactness(self) -> Iterable[Exactness]:
        """As drafts that come from no model; the drafter cannot change that."""
        return TWO_MODELS
