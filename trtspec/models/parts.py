"""Which tensors of a drafter are missing, left over, or of another shape."""

from __future__ import annotations

from dataclasses import dataclass

from trtspec.models.head_layers import Shape


@dataclass(frozen=True, slots=True)
class Parts:
    """Tensors of a head, by the checkpoint's own names.

    :param missing: of a head of its kind, as its authors call them.
    :param left_over: of no part of such a head: nothing reads them.
    :param misshapen: name, shape as stored, and shape that the others ask for.
    """

    missing: tuple[str, ...] = ()
    left_over: tuple[str, ...] = ()
    misshapen: tuple[tuple[str, Shape, Shape], ...] = ()


WHOLE = Parts()
"""Nothing is missing or left over, as far as is known."""
