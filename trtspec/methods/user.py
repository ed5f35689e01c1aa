"""``method: user``: a drafter that the user wrote in Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal

from pydantic import Field

from trtspec.methods.base import ChainMethod
from trtspec.methods.exactness import Exactness
from trtspec.methods.pytorch_rules import TWO_MODELS
from trtspec.methods.reference_rules import exact_tree

_ENTRY_POINT = r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$"


class User(ChainMethod):
    """A drafter of the user's own; runs in this process only, never in a server."""

    summary: ClassVar[str] = "a drafter of the user's own, named as module:attribute"
    needs: ClassVar[str] = "Python code of the user's own"
    step: ClassVar[str] = "draft_length + 1"
    settings: ClassVar[tuple[Mapping[str, object], ...]] = (
        {"drafter": "my_drafters:make", "draft_length": 4},
    )
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
        "resource manager; only backend pytorch has one. None if unset.",
    )

    def exactness(self) -> Iterable[Exactness]:
        """As drafts that come from no model.

        On the reference engine the drafter says which distribution it drew a token
        from, and exactness is as true as what it says.
        """
        return (exact_tree("as the drafter says that it drew them"), *TWO_MODELS)
