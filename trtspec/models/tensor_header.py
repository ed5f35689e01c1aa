"""What a weight file's header says about one tensor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple


class TensorHeader(NamedTuple):
    """Type, shape and size of a stored tensor.

    :param dtype: ``float32``, ``bfloat16``, ..., or a GGUF block type such as ``q4_1``.
    :param shape: outermost dimension first, as PyTorch shows it.
    :param nbytes: bytes that it takes in the file.
    """

    dtype: str
    shape: tuple[int, ...]
    nbytes: int

    @property
    def elements(self) -> int:
        """Number of values."""
        count = 1
        for size in self.shape:
            count *= size
        return count


Tensors = Mapping[str, TensorHeader]
"""A checkpoint's tensors by name."""


def stored_dtype(tensors: Iterable[TensorHeader]) -> str:
    """Give the type that most of the tensors' bytes are stored in."""
    taken: Counter[str] = Counter()
    for tensor in tensors:
        taken[tensor.dtype] += tensor.nbytes
    return max(taken, key=lambda dtype: taken[dtype], default="none")
