"""What is said of any checkpoint's weights: files, types, sizes, quantization."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trtspec.errors import Problem
from trtspec.models.inspection_quantization import (
    Quantization,
    parameter_count,
    quantization_of,
)
from trtspec.models.stored_record import StoredFiles, attempt
from trtspec.models.tensor_header import stored_dtype

_SHOWN_NAMES = 3
_DEFAULT_BITS = 4


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that is known.

    :param text: for people.
    :param value: the same as JSON has it.
    """

    key: str
    text: str
    value: object


def weight_facts(
    directory: Path,
    config: Mapping[str, Any],
    stored: StoredFiles,
    problems: list[Problem],
) -> Iterator[Fact]:
    """Tell of files, types and sizes.

    :param problems: is added to where ModelOpt's file is damaged.
    """
    yield _files(stored)
    quantization = attempt(
        lambda: quantization_of(directory, config, stored.tensors), problems
    )
    if stored.tensors:
        dtype = stored_dtype(stored.tensors.values())
        yield Fact("dtype", dtype, dtype)
        bits = (quantization and quantization.bits) or _DEFAULT_BITS
        count = parameter_count(stored.tensors.items(), bits)
        yield Fact("parameters", in_short(count), count)
    if stored.format is not None:
        yield _bytes(stored)
    if quantization is not None:
        yield _quantization(quantization)


def _bytes(stored: StoredFiles) -> Fact:
    """Tell how much the weights take, as far as their headers could be read."""
    if not stored.nbytes and not stored.is_complete:
        return Fact("bytes", "not known", None)
    text = f"{stored.nbytes:,} ({stored.nbytes / 2**30:.2f} GiB)"
    text += "" if stored.is_complete else " of what could be read"
    return Fact("bytes", text, stored.nbytes)


def in_short(count: int) -> str:
    """Write a number of weights exactly, and as people say it."""
    if count >= 1e9:
        return f"{count:,} ({count / 1e9:.2f} billion)"
    return f"{count:,} ({count / 1e6:.1f} million)"


def _files(stored: StoredFiles) -> Fact:
    if stored.format is None:
        return Fact("weights", "none", {"format": None, "complete": False})
    parts = [stored.format, f"{len(stored.files)} file{'s' * (len(stored.files) != 1)}"]
    if stored.tensors:
        count = len(stored.tensors)
        parts.append(f"{count} tensor{'s' * (count != 1)}")
    if stored.format == "torch":
        parts.append("pickled: never opened, told by name, size and config.json")
    parts.append("complete" if stored.is_complete else "not complete")
    for what, names in (
        ("missing files", stored.missing_files),
        ("missing tensors", stored.missing_tensors),
        ("tensors the index does not know", stored.unlisted_tensors),
    ):
        if names:
            more = ", ..." if len(names) > _SHOWN_NAMES else ""
            shown = ", ".join(names[:_SHOWN_NAMES]) + more
            parts.append(f"{what}: {len(names)} ({shown})")
    value = {
        "format": stored.format,
        "files": list(stored.files),
        "tensors": len(stored.tensors),
        "complete": stored.is_complete,
        "missing_files": list(stored.missing_files),
        "missing_tensors": list(stored.missing_tensors),
        "unlisted_tensors": list(stored.unlisted_tensors),
    }
    return Fact("weights", "; ".join(parts), value)


def _quantization(found: Quantization) -> Fact:
    parts = [found.method]
    if found.bits:
        parts.append(f"{found.bits} bits")
    if found.group_size:
        sides = found.group_size
        size = " x ".join(map(str, sides)) if isinstance(sides, tuple) else str(sides)
        parts.append(f"groups of {size}")
    if found.method != "none" and found.lm_head is not None:
        parts.append(f"LM head {'quantized' if found.lm_head else 'not quantized'}")
    if found.exceptions:
        more = ", ..." if len(found.exceptions) > _SHOWN_NAMES else ""
        parts.append(f"left out: {', '.join(found.exceptions[:_SHOWN_NAMES])}{more}")
    parts.append(f"KV cache {found.kv_cache or 'of no named type'}")
    if found.method == "none" and found.kv_cache is None:
        parts = ["none"]
    return Fact("quantization", "; ".join(parts), asdict(found))
