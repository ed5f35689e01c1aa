"""Which way a checkpoint is brought to one dtype, and what decides the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

from trtspec.build.sources import Source
from trtspec.errors import BuildError
from trtspec.models.drafter import DrafterInfo
from trtspec.models.drafter_tensors import drafter_tensors
from trtspec.models.info import DTYPE_BYTES, FLOATS, ModelInfo
from trtspec.models.tensor_header import TensorHeader
from trtspec.models.weights import read_tensors

Way = Literal["copy", "cast", "load", "unpickle"]

FAST_TOKENIZER = "tokenizer.json"
_SMALL_FILES_BYTES = 32_000_000
"""Room for tokenizer and configuration, generously."""

_DECIDE = {
    "copy": (),
    "cast": ("torch", "safetensors"),
    "load": ("torch", "safetensors", "transformers", "tokenizers", "gguf"),
    "unpickle": ("torch", "safetensors"),
}
_TOKENIZER_DECIDES = ("transformers", "tokenizers")


@dataclass(frozen=True, slots=True)
class Conversion:
    """How one checkpoint is converted.

    :param way: ``copy`` the weight files as they are, ``cast`` them tensor by tensor,
        ``load`` the model through transformers (GGUF), or ``unpickle`` a drafter's
        tensors, and nothing but tensors.
    :param make_tokenizer: whether the fast tokenizer must be made from a slow one.
    """

    way: Way
    dtype: str
    make_tokenizer: bool
    needs_bytes: int
    source_dtype: str

    @property
    def versions(self) -> dict[str, str]:
        """Versions of the libraries whose output ends up in the converted files."""
        names = {*_DECIDE[self.way]}
        if self.make_tokenizer:
            names |= {*_TOKENIZER_DECIDES}
        return {name: installed_version(name) for name in sorted(names)}

    @property
    def summary(self) -> str:
        """One line for people."""
        does = {
            "copy": f"copy {self.dtype} safetensors",
            "cast": f"cast {self.source_dtype} safetensors to {self.dtype}",
            "load": f"convert GGUF ({self.source_dtype}) to {self.dtype} safetensors",
            "unpickle": f"read pickled tensors (weights_only) into {self.dtype} "
            "safetensors",
        }[self.way]
        return f"{does}, make {FAST_TOKENIZER}" if self.make_tokenizer else does


def installed_version(package: str) -> str:
    """Give a package's version without importing it; "absent" if it is not there."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def plan_conversion(source: Source, dtype: str) -> Conversion:
    """Find out how a checkpoint is converted, from its headers alone.

    :param dtype: float32, bfloat16 or float16.
    :raises BuildError: if its weights are quantized in a way that needs the model's
        own code to undo.
    """
    info = source.info
    assert info is not None, "stages are planned for known checkpoints"
    if isinstance(info, DrafterInfo):
        return _plan_drafter(source, info, dtype)
    if info.format == "gguf":
        return Conversion("load", dtype, False, _needs(info, dtype), info.dtype)
    assert source.directory is not None, "a build fetches its sources first"
    tensors = read_tensors(source.directory)
    stored = _float_types(source, info.quantization, tensors)
    way: Way = "copy" if stored <= {dtype} else "cast"
    make_tokenizer = FAST_TOKENIZER not in (source.files or {})
    return Conversion(way, dtype, make_tokenizer, _needs(info, dtype), info.dtype)


def _plan_drafter(source: Source, info: DrafterInfo, dtype: str) -> Conversion:
    if info.format == "torch":
        # what is stored in 16 bits may become twice as large
        needs = 2 * info.weight_bytes + _SMALL_FILES_BYTES
        return Conversion("unpickle", dtype, False, needs, info.dtype or "unknown")
    tensors = drafter_tensors(info.directory, info.files)
    stored = _float_types(source, info.quantization, tensors)
    way: Way = "copy" if stored <= {dtype} else "cast"
    needs = sum(
        tensor.elements * DTYPE_BYTES[dtype]
        if "float" in tensor.dtype
        else tensor.nbytes
        for tensor in tensors.values()
    )
    return Conversion(
        way, dtype, False, needs + _SMALL_FILES_BYTES, info.dtype or "unknown"
    )


def _needs(info: ModelInfo, dtype: str) -> int:
    return info.weight_bytes_in(dtype) + _SMALL_FILES_BYTES


def _float_types(
    source: Source, quantization: str, tensors: Mapping[str, TensorHeader]
) -> set[str]:
    if quantization != "none":
        raise _quantized(source, quantization)
    types = {tensor.dtype for tensor in tensors.values()}
    floats = {name for name in types if "float" in name}
    if unknown := floats - FLOATS:
        raise _quantized(source, ", ".join(sorted(unknown)))
    return floats


def _quantized(source: Source, how: str) -> BuildError:
    return BuildError(
        f"the weights of {source.reference.text} are quantized ({how})",
        allowed=f"safetensors in {', '.join(sorted(FLOATS))}, or a GGUF",
        action="give the unquantized checkpoint of this model",
    )
