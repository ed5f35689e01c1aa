"""Medusa heads: one guess per position ahead, from the target's final state alone.

Head i reads the state before the pending token (after the target's final norm) and
predicts the token i + 1 places behind the pending one: it is trained on the label two
places on for i = 0 (arXiv 2401.10774; FasterDecoding/Medusa, medusa/model and
medusa/train/train_legacy.py). A head is residual layers, x + SiLU(W x + b), and an LM
head, its own or the target's.

Tensors are called ``{head}.{layer}.linear.weight``, ``{head}.{layer}.linear.bias`` and
``{head}.{layers}.weight`` (medusa_lm_head.pt and .safetensors, which TensorRT-LLM reads
too), or the same behind ``medusa_head.`` in the checkpoint of a whole model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import silu

from trtspec.errors import RunError
from trtspec.reference.heads.base import Shared
from trtspec.reference.heads.stored import fill, read_tensors, tensor_names

PREFIX = "medusa_head."
"""What heads are called inside the checkpoint of a whole model."""

_PART = re.compile(r"(?P<head>\d+)\.(?P<layer>\d+)\.(?P<linear>linear\.)?(weight|bias)")


class ResidualLayer(nn.Module):
    """x + SiLU(W x + b); at first the identity."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.linear = nn.Linear(size, size)
        nn.init.zeros_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def forward(self, states: Tensor) -> Tensor:
        """Map [..., size] to [..., size]."""
        return states + silu(self.linear(states))


class MedusaHeads(nn.ModuleList):
    """All heads; ``state_dict`` has the public names without a prefix.

    One of them alone, ``heads[i](states)``, gives its logits, or, where the LM head is
    shared, what that reads.

    :param heads: number of heads.
    :param layers: residual layers of each.
    :param hidden_size: width of the target's states.
    :param lm_head: the target's, for heads without one of their own; it does not become
        a part of them.
    :param vocabulary: rows of the heads' own LM heads; not used with ``lm_head``.
    """

    def __init__(
        self,
        heads: int,
        layers: int,
        hidden_size: int,
        *,
        lm_head: Shared | None = None,
        vocabulary: int = 0,
    ) -> None:
        super().__init__()
        # a module of the target's must not become one of the heads
        self._lm_head = None if lm_head is None else partial(lm_head)
        for _ in range(heads):
            parts: list[nn.Module] = [ResidualLayer(hidden_size) for _ in range(layers)]
            if lm_head is None:
                parts.append(nn.Linear(hidden_size, vocabulary, bias=False))
            self.append(nn.Sequential(*parts))

    def forward(self, states: Tensor, heads: int | None = None) -> Tensor:
        """Give each head's logits, [..., heads, vocabulary].

        :param states: final states of the target [..., hidden size].
        :param heads: how many heads, from the first on; None for all.
        """
        each = torch.stack([head(states) for head in islice(self, heads)], -2)
        # a shared LM head serves all heads in one product
        return each if self._lm_head is None else self._lm_head(each)


def load_medusa(
    directory: Path,
    *,
    hidden_size: int,
    lm_head: Shared,
    dtype: torch.dtype,
    device: torch.device,
    most: int | None = None,
) -> MedusaHeads:
    """Load heads; how many and how deep they are is read from the tensors.

    ``medusa_num_heads`` of a published configuration is not to be relied upon: there
    are some that say 2 beside five heads (medusa/model/medusa_model.py).

    :param hidden_size: width of the target's states.
    :param lm_head: the target's, for heads that have none of their own.
    :param most: leave out the heads behind so many.
    :raises RunError: if a tensor is missing, left over, or of another shape.
    """
    prefix, names = _head_names(tensor_names(directory))
    parts = _parts(directory, prefix, names, most)
    tensors = read_tensors(directory, {prefix + part[0]: part[0] for part in parts})
    own_rows = [len(tensors[part[0]]) for part in parts if not part["linear"]]
    with torch.device("meta"):
        heads = MedusaHeads(
            1 + max(int(part["head"]) for part in parts),
            1 + max(int(part["layer"]) for part in parts if part["linear"]),
            hidden_size,
            lm_head=None if own_rows else lm_head,
            vocabulary=max(own_rows, default=0),
        )
    heads = heads.to(dtype).to_empty(device=device).eval()
    fill(heads, tensors, directory, lambda name: prefix + name)
    return heads


def _head_names(names: Iterable[str]) -> tuple[str, list[str]]:
    """Give the prefix that the heads' tensors have, and their names without it.

    Behind a prefix they share a checkpoint with the model that they were trained with,
    whose own tensors are left alone.
    """
    names = sorted(names)
    prefixed = [name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX)]
    return (PREFIX, prefixed) if prefixed else ("", names)


def _parts(
    directory: Path, prefix: str, names: list[str], most: int | None
) -> list[re.Match[str]]:
    """Take the names apart, of heads below ``most``.

    :raises RunError: if there are none, or one is no tensor of Medusa heads.
    """
    parts = []
    for name in names:
        if (part := _PART.fullmatch(name)) is None:
            raise _strange(directory, f"{prefix + name} is no tensor of Medusa heads")
        if most is None or int(part["head"]) < most:
            parts.append(part)
    if not any(part["linear"] for part in parts):
        raise _strange(directory, "there are no Medusa heads")
    return parts


def _strange(directory: Path, what: str) -> RunError:
    return RunError(
        what,
        where=str(directory),
        allowed=f"{PREFIX}0.0.linear.weight and so on, with or without {PREFIX}",
        action="give the heads as they were published, or the method that they are for",
    )
