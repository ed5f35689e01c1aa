"""What is known of a checkpoint that engines are made of: its family, its size."""

from __future__ import annotations

from trtspec.build.sources import Source
from trtspec.errors import BuildError
from trtspec.models.info import DTYPE_BYTES, ModelInfo

_PACKED = {"fp8": 1.0, "int8_sq": 1.0, "int8_wo": 1.0, "nvfp4": 0.6, "int4_awq": 0.6}
"""Bytes per weight with its scales, roughly: it only guards against a full disk."""


def family_of(source: Source, stated: str | None, key: str) -> str:
    """Give the model family of a checkpoint, or what the recipe says it will be.

    :raises BuildError: if neither tells, or they tell different things.
    """
    found = source.info.family if source.info is not None else None
    if found is None and stated is None:
        raise BuildError(
            f"{source.reference.text} is not on this machine, so its family is not "
            "known",
            where=key,
            action=f"add {key}, the model_type of its config.json, such as llama",
        )
    if found is not None and stated is not None and found != stated:
        raise BuildError(
            f"is {stated}, but {source.reference.text} is of the family {found}",
            where=key,
            action=f"write {key.rpartition('.')[2]}: {found}",
        )
    return str(found or stated)


def converted_bytes(source: Source, dtype: str, quantization: str) -> int:
    """Bytes of a converted checkpoint; 0 if the model is not known yet."""
    if not isinstance(source.info, ModelInfo):
        return 0
    return int(source.info.parameters * _PACKED.get(quantization, DTYPE_BYTES[dtype]))
