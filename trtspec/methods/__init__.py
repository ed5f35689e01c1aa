"""Which speculation methods exist and what parameters each takes.

One module per method. This package knows nothing of recipes or models, so that a
recipe can name a method by importing from here.
"""

from typing import Annotated

from pydantic import Field

from trtspec.methods.auto import Auto
from trtspec.methods.base import (
    ChainMethod,
    DrafterKind,
    DraftingMethod,
    Method,
    TrainedDrafter,
)
from trtspec.methods.dflash import DFlash
from trtspec.methods.draft_length import (
    ALLOWED_DRAFT_ENTRY,
    ALLOWED_DRAFT_LENGTH,
    MAX_DRAFT_LENGTH,
    MAX_RUNNING_REQUESTS,
    draft_length_faults,
)
from trtspec.methods.draft_target import DraftTarget
from trtspec.methods.eagle import Eagle
from trtspec.methods.eagle3 import Eagle3
from trtspec.methods.exactness import Exactness, lossy_reason
from trtspec.methods.faults import rule_error
from trtspec.methods.lookahead import Lookahead
from trtspec.methods.medusa import Medusa
from trtspec.methods.mtp import Mtp
from trtspec.methods.ngram import NGram
from trtspec.methods.none import NoSpeculation
from trtspec.methods.one_model import EnhancedChain, OneModelChain
from trtspec.methods.pard import Pard
from trtspec.methods.quantization import Quantization
from trtspec.methods.redrafter import ReDrafter
from trtspec.methods.suffix import Suffix
from trtspec.methods.trees import Paths, tree_paths
from trtspec.methods.user import User

Speculation = Annotated[
    NoSpeculation
    | NGram
    | Suffix
    | DraftTarget
    | Medusa
    | Eagle
    | Eagle3
    | Mtp
    | ReDrafter
    | Lookahead
    | Pard
    | DFlash
    | User
    | Auto,
    Field(discriminator="method"),
]

__all__ = [
    "ALLOWED_DRAFT_ENTRY",
    "ALLOWED_DRAFT_LENGTH",
    "MAX_DRAFT_LENGTH",
    "MAX_RUNNING_REQUESTS",
    "Auto",
    "ChainMethod",
    "DFlash",
    "DraftTarget",
    "DrafterKind",
    "DraftingMethod",
    "Eagle",
    "Eagle3",
    "EnhancedChain",
    "Exactness",
    "Lookahead",
    "Medusa",
    "Method",
    "Mtp",
    "NGram",
    "NoSpeculation",
    "OneModelChain",
    "Pard",
    "Paths",
    "Quantization",
    "ReDrafter",
    "Speculation",
    "Suffix",
    "TrainedDrafter",
    "User",
    "draft_length_faults",
    "lossy_reason",
    "rule_error",
    "tree_paths",
]
