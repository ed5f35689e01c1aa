"""What an EAGLE-3 head consists of, and what its tensors are called where.

Three namings of the same parts are read: ``midlayer.`` (SafeAILab/EAGLE
eagle/model/cnets.py), ``layers.<n>.`` (speculators src/speculators/models/eagle3) and
``midlayer.<n>.`` (TensorRT-LLM's ``Eagle3DraftModel`` with several layers), each with
or without ``model.`` before it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from trtspec.models.head_names import head_names

FusionNorm = Literal["none", "whole", "each"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Eagle3Layout:
    """The parts of a head besides the sizes of its decoder layers.

    :param target_width: size of the target's hidden states.
    :param drafted: tokens that it can propose, its rows of logits.
    :param embedded: tokens of the target that it was made for.
    :param captured: the target's hidden states that are fused into one.
    :param reading: for each layer whether its attention reads the embedding too.
    :param has_fusion: whether ``fc`` is there; else one captured state is read as it
        is.
    :param fusion_norm: norm before ``fc``: over all captured states as one
        (``input_norm``), or over each (``fc_norm``).
    :param has_embedding: whether it brings an embedding; else it shares the target's.
    :param has_output: the same for the LM head.
    :param has_table: whether ``d2t`` maps its tokens to the target's.
    :param has_mask: whether ``t2d`` marks the target's tokens that it knows.
    :param norm_before_residual: whether the first residual is the normed state.
    :param feeds_normed: whether it reads its own states after the last norm.
    """

    target_width: int
    drafted: int
    embedded: int
    captured: int = 3
    reading: tuple[bool, ...] = (True,)
    has_fusion: bool = True
    fusion_norm: FusionNorm = "none"
    has_embedding: bool = False
    has_output: bool = True
    has_table: bool = False
    has_mask: bool = False
    norm_before_residual: bool = False
    feeds_normed: bool = False


def module_names(stored: Collection[str]) -> dict[str, str]:
    """Give the name that each of a checkpoint's tensors has in ``Eagle3Head``."""
    return head_names("eagle3", stored)


def published_names(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Name the tensors of ``Eagle3Head`` as SafeAILab/EAGLE does; one layer only."""
    return {
        name.replace("layers.0.", "midlayer.", 1): tensor
        for name, tensor in tensors.items()
    }
