"""What a GGUF file's header says: its fields and its tensors, and is the file whole.

Read directly, without the ``gguf`` package: a check needs the header alone, and long
token lists are stepped over instead of decoded.
(Layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md)
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from trtspec.errors import UsageError
from trtspec.models.tensor_header import TensorHeader

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_LONG_ARRAY = 1024  # longer arrays are token lists and the like
_MOST_DIMENSIONS = 4
_STRING, _ARRAY = 8, 9
_SCALARS = {
    0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?",
    10: "Q", 11: "q", 12: "d",
}  # fmt: skip
"""Value type → the letter that ``struct`` has for it."""

_BLOCKS = {
    0: ("float32", 1, 4), 1: ("float16", 1, 2), 28: ("float64", 1, 8),
    30: ("bfloat16", 1, 2), 24: ("int8", 1, 1), 25: ("int16", 1, 2),
    26: ("int32", 1, 4), 27: ("int64", 1, 8),
    2: ("q4_0", 32, 18), 3: ("q4_1", 32, 20), 6: ("q5_0", 32, 22),
    7: ("q5_1", 32, 24), 8: ("q8_0", 32, 34), 9: ("q8_1", 32, 40),
    10: ("q2_k", 256, 84), 11: ("q3_k", 256, 110), 12: ("q4_k", 256, 144),
    13: ("q5_k", 256, 176), 14: ("q6_k", 256, 210), 15: ("q8_k", 256, 292),
    16: ("iq2_xxs", 256, 66), 17: ("iq2_xs", 256, 74), 18: ("iq3_xxs", 256, 98),
    19: ("iq1_s", 256, 50), 20: ("iq4_nl", 32, 18), 21: ("iq3_s", 256, 110),
    22: ("iq2_s", 256, 82), 23: ("iq4_xs", 256, 136), 29: ("iq1_m", 256, 56),
    34: ("tq1_0", 256, 54), 35: ("tq2_0", 256, 66), 39: ("mxfp4", 32, 17),
}  # fmt: skip
"""Tensor type → its name, elements per block, bytes per block."""


@dataclass(frozen=True, slots=True)
class LongArray:
    """An array that was stepped over; ``read_gguf(..., decode=...)`` reads it."""

    count: int


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """Fields (numbers, strings, lists, ``LongArray``) and tensors of a GGUF file."""

    fields: Mapping[str, object]
    tensors: Mapping[str, TensorHeader]


def read_gguf(path: Path, decode: frozenset[str] = frozenset()) -> GgufHeader:
    """Read a file's header and hold it against the file's size.

    :param decode: fields whose array is wanted however long it is.
    :raises UsageError: if the file is truncated, or not a valid GGUF file.
    """
    with path.open("rb") as stream:
        if stream.read(len(_MAGIC)) != _MAGIC:
            _damaged(path, "is not a GGUF file")
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            try:
                return _Reader(path, content, decode).read()
            except (struct.error, IndexError, OverflowError):
                _damaged(path, f"is truncated or corrupt: {len(content):,} bytes")


class _Reader:
    """Walks through a header once; ``at`` is the byte that is read next."""

    def __init__(self, path: Path, content: mmap.mmap, decode: frozenset[str]) -> None:
        self.path, self.content, self.decode = path, content, decode
        self.at = len(_MAGIC)

    def read(self) -> GgufHeader:
        (version,) = self.take("I")
        if version not in _VERSIONS:
            _damaged(self.path, f"has GGUF version {version}, known are 2 and 3")
        tensor_count, field_count = self.take("QQ")
        fields = dict(self.field() for _ in range(field_count))
        places = [self.tensor() for _ in range(tensor_count)]
        alignment = fields.get("general.alignment", 32)
        if not isinstance(alignment, int) or alignment < 1:
            _damaged(self.path, f"has the alignment {alignment!r}")
        data = -(-self.at // alignment) * alignment
        self.check_extent(data + max((p + t.nbytes for _, t, p in places), default=0))
        return GgufHeader(fields, {name: tensor for name, tensor, _ in places})

    def take(self, layout: str) -> tuple[int, ...]:
        values = struct.unpack_from(f"<{layout}", self.content, self.at)
        self.at += struct.calcsize(f"<{layout}")
        return values

    def text(self) -> str:
        (length,) = self.take("Q")
        if self.at + length > len(self.content):
            raise IndexError
        raw = self.content[self.at : self.at + length]
        self.at += length
        return raw.decode("utf-8", errors="backslashreplace")

    def field(self) -> tuple[str, object]:
        name = self.text()
        (kind,) = self.take("I")
        return name, self.array(name) if kind == _ARRAY else self.value(kind)

    def value(self, kind: int) -> object:
        if kind == _STRING:
            return self.text()
        return self.take(self.scalar(kind))[0]

    def scalar(self, kind: int) -> str:
        if kind not in _SCALARS:
            _damaged(self.path, f"is corrupt: unknown value type {kind}")
        return _SCALARS[kind]

    def array(self, name: str) -> object:
        kind, count = self.take("IQ")
        if count > len(self.content):
            raise IndexError
        if count <= _LONG_ARRAY or name in self.decode:
            return [self.value(kind) for _ in range(count)]
        if kind == _STRING:
            self.skip_strings(count)
        else:
            self.at += count * struct.calcsize(self.scalar(kind))
        return LongArray(count)

    def skip_strings(self, count: int) -> None:
        length_at, content, at = struct.Struct("<Q").unpack_from, self.content, self.at
        for _ in range(count):
            at += 8 + length_at(content, at)[0]
        self.at = at

    def tensor(self) -> tuple[str, TensorHeader, int]:
        """Name, header and place (bytes behind the start of the data) of a tensor."""
        name = self.text()
        (dimensions,) = self.take("I")
        if dimensions > _MOST_DIMENSIONS:
            _damaged(
                self.path, f"is corrupt: tensor {name} has {dimensions} dimensions"
            )
        shape = self.take("Q" * dimensions)[::-1]
        kind, place = self.take("IQ")
        if kind not in _BLOCKS:
            _damaged(self.path, f"stores tensor {name} in unknown type {kind}")
        dtype, per_block, block_bytes = _BLOCKS[kind]
        header = TensorHeader(dtype, shape, 0)
        nbytes = header.elements // per_block * block_bytes
        return name, header._replace(nbytes=nbytes), place

    def check_extent(self, expected: int) -> None:
        found = len(self.content)
        if found < expected:
            _damaged(
                self.path,
                f"is truncated: expected {expected:,} bytes by its header, "
                f"found {found:,}",
            )


def _damaged(path: Path, what: str) -> NoReturn:
    raise UsageError(
        f"{path.name} {what}", where=str(path.parent), action="fetch this file again"
    )
