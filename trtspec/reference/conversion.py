"""Which way a checkpoint is brought to one dtype, and what decides the result."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

from trtspec.build.sources import Source
from trtspec.errors import BuildError
from trtspec.models.info import ModelInfo
from trtspec.models.weights import read_tensors

Way = Literal["copy", "cast", "load"]

FLOATS = frozenset({"float64", "float32", "bfloat16", "float16"})
"""Stored types that a dtype can be made from without knowing the model."""

FAST_TOKENIZER = "tokenizer.json"
_SMALL_FILES_BYTES = 32_000_000
"""Room for tokenizer and configuration, generously."""

_DECIDE = {
    "copy": (),
    "cast": ("torch", "safetensors"),
    "load": ("torch", "safetensors", "transformers", "tokenizers", "gguf"),
}
_TOKENIZER_DECIDES = ("transformers", "tokenizers")


@dataclass(frozen=True, slots=True)
class Conversion:
    """How one checkpoint is converted.

    :param way: ``copy`` the weight files as they are, ``cast`` them tensor by tensor,
        or ``load`` the model through transformers (GGUF).
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
    assert isinstance(info, ModelInfo), "stages are planned for known models"
    if info.format == "gguf":
        return Conversion("load", dtype, False, _needs(info, dtype), info.dtype)
    stored = _float_types(source)
    way: Way = "copy" if stored <= {dtype} else "cast"
    make_tokenizer = FAST_TOKENIZER not in (source.files or {})
    return Conversion(way, dtype, make_tokenizer, _needs(info, dtype), info.dtype)


def _needs(info: ModelInfo, dtype: str) -> int:
    return info.weight_bytes_in(dtype) + _SMALL_FILES_BYTES


def _float_types(source: Source) -> set[str]:
    assert source.directory is not None
    assert isinstance(source.info, ModelInfo), "its format is known"
    if source.info.quantization != "none":
        raise _quantized(source, source.info.quantization)
    types = {tensor.dtype for tensor in read_tensors(source.directory).values()}
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
