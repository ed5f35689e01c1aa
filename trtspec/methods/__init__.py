"""Which speculation methods exist and what parameters each takes.

One module per method. This package knows nothing of recipes or models, so that a
recipe can name a method by importing from here.
"""

from typing import Annotated

from pydantic import Field

from trtspec.methods.base import DraftingMethod, Method
from trtspec.methods.draft_length import (
    ALLOWED_DRAFT_ENTRY,
    ALLOWED_DRAFT_LENGTH,
    MAX_DRAFT_LENGTH,
    MAX_RUNNING_REQUESTS,
    draft_length_faults,
)
from trtspec.methods.draft_target import DraftTarget
from trtspec.methods.ngram import NGram
from trtspec.methods.none import NoSpeculation

Speculation = Annotated[
    NoSpeculation | NGram | DraftTarget, Field(discriminator="method")
]

__all__ = [
    "ALLOWED_DRAFT_ENTRY",
    "ALLOWED_DRAFT_LENGTH",
    "MAX_DRAFT_LENGTH",
    "MAX_RUNNING_REQUESTS",
    "DraftTarget",
    "DraftingMethod",
    "Method",
    "NGram",
    "NoSpeculation",
    "Speculation",
    "draft_length_faults",
]
