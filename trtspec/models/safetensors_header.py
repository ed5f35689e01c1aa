"""Which tensors a safetensors file holds, and whether the file is whole.

Layout: 8 bytes, the header's length as a little-endian number; the header, a JSON
object of ``name: {dtype, shape, data_offsets: [begin, end]}``; then the tensors without
gaps. (https://huggingface.co/docs/safetensors, "Format")
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from trtspec.errors import UsageError
from trtspec.models.tensor_header import TensorHeader
from trtspec.recipe.text import shown

_LENGTH_BYTES = 8
_LONGEST_HEADER = 100_000_000  # the limit of the safetensors library itself
_LFS_POINTER = b"version https://git-lfs"

_DTYPES = {
    "F64": ("float64", 64),
    "F32": ("float32", 32),
    "F16": ("float16", 16),
    "BF16": ("bfloat16", 16),
    "F8_E4M3": ("float8_e4m3", 8),
    "F8_E5M2": ("float8_e5m2", 8),
    "F8_E8M0": ("float8_e8m0", 8),
    "F8_E4M3FNUZ": ("float8_e4m3fnuz", 8),
    "F8_E5M2FNUZ": ("float8_e5m2fnuz", 8),
    "F6_E2M3": ("float6_e2m3", 6),
    "F6_E3M2": ("float6_e3m2", 6),
    "F4": ("float4", 4),
    "C64": ("complex64", 64),
    "I64": ("int64", 64),
    "I32": ("int32", 32),
    "I16": ("int16", 16),
    "I8": ("int8", 8),
    "U64": ("uint64", 64),
    "U32": ("uint32", 32),
    "U16": ("uint16", 16),
    "U8": ("uint8", 8),
    "BOOL": ("bool", 8),
}
"""safetensors' name of a type → our name and its bits; version 0.8 has no others."""


def read_header(path: Path) -> dict[str, TensorHeader]:
    """Read a file's header and hold it against the file's size.

    :returns: the tensors by name.
    :raises UsageError: if the file is truncated, holds nothing, or is not a valid
        safetensors file.
    """
    size = path.stat().st_size
    with path.open("rb") as stream:
        start = stream.read(_LENGTH_BYTES)
        length = _header_length(path, start, size)
        text = stream.read(length)
    entries = _parse(path, text)
    if not entries:
        _damaged(path, "holds no tensors")
    spans = {name: _span(path, name, entry) for name, entry in entries.items()}
    _check_extent(path, spans, expected_at=_LENGTH_BYTES + length, size=size)
    return {name: _tensor(path, name, entry) for name, entry in entries.items()}


def _header_length(path: Path, start: bytes, size: int) -> int:
    length = int.from_bytes(start, "little")
    if _LFS_POINTER.startswith(start) and start:
        _damaged(path, "is a Git LFS pointer, not the weights", "run `git lfs pull`")
    if size < _LENGTH_BYTES:
        _damaged(path, f"is truncated: {size} bytes, not even a header length")
    if length > _LONGEST_HEADER:
        _damaged(path, f"claims a header of {length} bytes: not a safetensors file")
    if size < _LENGTH_BYTES + length:
        _truncated(path, _LENGTH_BYTES + length, size, "for its header alone")
    return length


def _parse(path: Path, text: bytes) -> dict[str, dict[str, Any]]:
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        _damaged(path, "has a header that is not JSON: not a safetensors file")
    if not isinstance(header, dict):
        _damaged(path, "has a header that is not a JSON object")
    header.pop("__metadata__", None)
    for name, entry in header.items():
        if not isinstance(entry, dict):
            _damaged(path, f"describes tensor {name} by {entry!r}")
    return header


def _span(path: Path, name: str, entry: Mapping[str, Any]) -> tuple[int, int]:
    offsets = _whole_numbers(entry.get("data_offsets"))
    if not offsets or len(offsets) != 2 or offsets[0] > offsets[1]:
        given = entry.get("data_offsets")
        _damaged(path, f"gives tensor {name} the impossible place {given!r}")
    return offsets[0], offsets[1]


def _check_extent(
    path: Path, spans: Mapping[str, tuple[int, int]], expected_at: int, size: int
) -> None:
    """Tensors must follow one another without overlap or gap, up to the file's end."""
    end = 0
    for name, (begin, stop) in sorted(spans.items(), key=lambda item: item[1]):
        if begin != end:
            kind = "overlaps the one before it" if begin < end else "leaves a gap"
            _damaged(path, f"is corrupt: tensor {name} at byte {begin} {kind}")
        end = stop
    expected = expected_at + end
    if size < expected:
        _truncated(path, expected, size, "by its header")
    if size > expected:
        _damaged(path, f"has {size - expected} bytes that its header does not explain")


def _tensor(path: Path, name: str, entry: Mapping[str, Any]) -> TensorHeader:
    dtype, shape = entry.get("dtype"), _whole_numbers(entry.get("shape"))
    if not isinstance(dtype, str) or shape is None:
        given = entry.get("shape")
        _damaged(path, f"gives tensor {name} type {dtype!r} and shape {given!r}")
    begin, end = entry["data_offsets"]
    if dtype not in _DTYPES:
        _damaged(path, f"gives tensor {name} the unknown type {shown(dtype)}")
    ours, bits = _DTYPES[dtype]
    tensor = TensorHeader(ours, shape, end - begin)
    if tensor.elements * bits != tensor.nbytes * 8:
        _damaged(
            path,
            f"is corrupt: tensor {name} of {dtype} {list(shape)} takes "
            f"{tensor.nbytes} bytes",
        )
    return tensor


def _whole_numbers(value: object) -> tuple[int, ...] | None:
    if isinstance(value, list) and all(
        type(item) is int and item >= 0 for item in value
    ):
        return tuple(value)
    return None


def _truncated(path: Path, expected: int, found: int, source: str) -> NoReturn:
    _damaged(
        path, f"is truncated: expected {expected:,} bytes {source}, found {found:,}"
    )


def _damaged(path: Path, what: str, action: str = "fetch this file again") -> NoReturn:
    raise UsageError(f"{path.name} {what}", where=str(path.parent), action=action)
