"""Which speculation methods exist and what parameters each takes.

One module per method. This package knows nothing of recipes or models, so that a
recipe can name a method by importing from here.
"""

from typing import Annotated

from pydantic import Field

from trtspec.methods.base import (
    ChainMethod,
    DrafterKind,
    DraftingMethod,
    Method,
    TrainedDrafter,
)
from trtspec.methods.draft_length import (
    ALLOWED_DRAFT_ENTRY,
    ALLOWED_DRAFT_LENGTH,
    MAX_DRAFT_LENGTH,
    MAX_RUNNING_REQUESTS,
    draft_length_faults,
)
from trtspec.methods.draft_target import DraftTarget
from trtspec.methods.eagle import Eagle
from trtspec.methods.exactness import Exactness, lossy_reason
from trtspec.methods.faults import rule_error
from trtspec.methods.lookahead import Lookahead
from trtspec.methods.medusa import Medusa
from trtspec.methods.ngram import NGram
from trtspec.methods.none import NoSpeculation
from trtspec.methods.quantization import Quantization
from trtspec.methods.redrafter import ReDrafter
from trtspec.methods.trees import Paths, tree_paths

Speculation = Annotated[
    NoSpeculation | NGram | DraftTarget | Medusa | Eagle | ReDrafter | Lookahead,
    Field(discriminator="method"),
]

__all__ = [
    "ALLOWED_DRAFT_ENTRY",
    "ALLOWED_DRAFT_LENGTH",
    "MAX_DRAFT_LENGTH",
    "MAX_RUNNING_REQUESTS",
    "ChainMethod",
    "DraftTarget",
    "DrafterKind",
    "DraftingMethod",
    "Eagle",
    "Exactness",
    "Lookahead",
    "Medusa",
    "Method",
    "NGram",
    "NoSpeculation",
    "Paths",
    "Quantization",
    "ReDrafter",
    "Speculation",
    "TrainedDrafter",
    "draft_length_faults",
    "lossy_reason",
    "rule_error",
    "tree_paths",
]
