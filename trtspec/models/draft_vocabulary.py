"""Which of the target's tokens a drafter with a smaller vocabulary can propose.

Heads of EAGLE-3 bring two small tables. ``d2t`` has for each drafted token i the offset
to the target's id, which is i + d2t[i]; ``t2d`` marks the target's ids that are drafted
(https://github.com/SafeAILab/EAGLE, eagle/model/cnets.py).
"""

from __future__ import annotations

import json
import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trtspec.models.drafter import DrafterInfo
from trtspec.models.safetensors_header import read_header

OFFSETS = ("d2t", "model.d2t")
MARKS = ("t2d", "model.t2d")
_LARGEST = 1 << 24
"""Bytes that a table may have: those of a vocabulary of a million are smaller."""
_LETTERS = {"int64": "q", "int32": "i", "int16": "h", "uint8": "B", "bool": "?"}


@dataclass(frozen=True, slots=True)
class DraftVocabulary:
    """What the tables of a drafter say.

    :param offsets: ``d2t`` as it is stored.
    :param marked: the target's ids that ``t2d`` marks; None without that table.
    :param name: what the tensor of the offsets is called.
    """

    offsets: tuple[int, ...]
    marked: frozenset[int] | None = None
    name: str = OFFSETS[0]

    @property
    def ids(self) -> tuple[int, ...]:
        """The target's id of each drafted token."""
        return tuple(token + offset for token, offset in enumerate(self.offsets))

    @property
    def duplicates(self) -> tuple[int, ...]:
        """The target's ids that more than one drafted token leads to."""
        counts = Counter(self.ids)
        return tuple(sorted(token for token, count in counts.items() if count > 1))

    @property
    def in_order(self) -> bool:
        """Whether the target's ids rise with the drafted ones."""
        return all(a < b for a, b in zip(self.ids, self.ids[1:], strict=False))

    def outside(self, rows: int) -> tuple[int, ...]:
        """Give the drafted tokens that lead to ids that the target does not have."""
        return tuple(i for i, token in enumerate(self.ids) if not 0 <= token < rows)

    def holds_ids(self, rows: int) -> bool:
        """Whether ``d2t`` looks like ids in place of offsets.

        As offsets it contradicts ``t2d`` or leaves the target's vocabulary; as ids it
        agrees with both.
        """
        found = frozenset(self.offsets)
        if len(found) < len(self.offsets) or not _within(self.offsets, rows):
            return False
        if self.marked is not None:
            return found == self.marked != frozenset(self.ids)
        return bool(self.outside(rows))

    def share(self, tokens: int) -> float:
        """Give the share of the target's first so many tokens that can be proposed."""
        return len({token for token in self.ids if 0 <= token < tokens}) / tokens


def read_draft_vocabulary(info: DrafterInfo) -> DraftVocabulary | None:
    """Read the tables of a drafter.

    :returns: None if it has none, or none that can be read: pickled weights are never
        opened, and a table of floats is none.
    :raises UsageError: if a weight file is damaged.
    """
    if (found := _table(info, OFFSETS)) is None:
        return None
    name, offsets = found
    marks = _table(info, MARKS)
    marked = marks and frozenset(i for i, mark in enumerate(marks[1]) if mark)
    return DraftVocabulary(offsets, marked, name)


def _table(
    info: DrafterInfo, names: Sequence[str]
) -> tuple[str, tuple[int, ...]] | None:
    for file in info.files:
        if not file.endswith(".safetensors"):
            continue
        header = read_header(info.directory / file)
        for name in names:
            tensor = header.get(name)
            if tensor is None or len(tensor.shape) != 1 or tensor.nbytes > _LARGEST:
                continue
            if letter := _LETTERS.get(tensor.dtype):
                data = _bytes(info.directory / file, name)
                return name, struct.unpack(f"<{tensor.elements}{letter}", data)
    return None


def _bytes(path: Path, name: str) -> bytes:
    """Read a tensor of a file whose header was found to be sound."""
    with path.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        begin, end = json.loads(stream.read(length))[name]["data_offsets"]
        stream.seek(8 + length + begin)
        return stream.read(end - begin)


def _within(ids: Sequence[int], rows: int) -> bool:
    return all(0 <= token < rows for token in ids)
