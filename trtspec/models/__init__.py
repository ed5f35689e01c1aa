"""What a checkpoint is and where it is, from its headers alone, never its weights."""

from trtspec.models.demo import DEMO
from trtspec.models.demo_fetch import fetch_demo
from trtspec.models.describe import describe
from trtspec.models.drafter import DrafterInfo, describe_drafter
from trtspec.models.files import checkpoint_files
from trtspec.models.identity import file_hashes
from trtspec.models.info import DTYPE_BYTES, ModelInfo
from trtspec.models.locate import ModelReference, fetch, parse_reference
from trtspec.models.safetensors_header import read_header
from trtspec.models.tensor_header import TensorHeader
from trtspec.models.vocabulary import (
    VocabularyMatch,
    compare_vocabularies,
    token_map,
)

__all__ = [
    "DEMO",
    "DTYPE_BYTES",
    "DrafterInfo",
    "ModelInfo",
    "ModelReference",
    "TensorHeader",
    "VocabularyMatch",
    "checkpoint_files",
    "compare_vocabularies",
    "describe",
    "describe_drafter",
    "fetch",
    "fetch_demo",
    "file_hashes",
    "parse_reference",
    "read_header",
    "token_map",
]
