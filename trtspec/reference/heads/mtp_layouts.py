"""Under which names checkpoints hold next-token heads.

Sources: DeepSeek-V3/R1, GLM-4.5 and others that follow them, vllm
``model_executor/models/deepseek_mtp.py``; Qwen3-Next and Qwen3.5, ``qwen3_next_mtp.py``
(projection and norms are shared by all heads); MiMo, ``mimo_mtp.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from trtspec.errors import RunError
from trtspec.reference.heads.stored import read_tensors, tensor_names

BLOCK = "block."
"""Where a head keeps its decoder layer."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Public prefixes of a head's parts.

    In them ``{layer}`` stands for the target's number of layers plus the head's number,
    and ``{head}`` for the head's number.

    :param copies: tensors that repeat the target's embedding and LM head.
    :param hidden_first: whether the projection takes [state; embedding].
    """

    projection: str
    embedding_norm: str
    hidden_norm: str
    norm: str
    block: str
    copies: tuple[str, ...] = ()
    hidden_first: bool = False

    def parts(self, head: int, layers: int) -> dict[str, str]:
        """Give the public prefixes of one head and what they become; most exact first.

        :param layers: the target's number of layers.
        """
        named = {
            self.embedding_norm: "enorm.",
            self.hidden_norm: "hnorm.",
            self.projection: "eh_proj.",
            self.norm: "norm.",
            **dict.fromkeys(self.copies, ""),
            self.block: BLOCK,
        }
        return {
            public.format(layer=layers + head, head=head): own
            for public, own in named.items()
        }

    def public(self, name: str, head: int, layers: int) -> str:
        """Give the public name of a tensor of ``MtpHead``."""
        for public, own in self.parts(head, layers).items():
            if own and name.startswith(own):
                return public + name.removeprefix(own)
        return name


DEEPSEEK = Layout(
    projection="model.layers.{layer}.eh_proj.",
    embedding_norm="model.layers.{layer}.enorm.",
    hidden_norm="model.layers.{layer}.hnorm.",
    norm="model.layers.{layer}.shared_head.norm.",
    block="model.layers.{layer}.",
    copies=(
        "model.layers.{layer}.embed_tokens.",
        "model.layers.{layer}.shared_head.head.",
    ),
)
QWEN = Layout(
    projection="mtp.fc.",
    embedding_norm="mtp.pre_fc_norm_embedding.",
    hidden_norm="mtp.pre_fc_norm_hidden.",
    norm="mtp.norm.",
    block="mtp.layers.{head}.",
)
MIMO = Layout(
    projection="model.mtp_layers.{head}.input_proj.",
    embedding_norm="model.mtp_layers.{head}.token_layernorm.",
    hidden_norm="model.mtp_layers.{head}.hidden_layernorm.",
    norm="model.mtp_layers.{head}.final_layernorm.",
    block="model.mtp_layers.{head}.",
    hidden_first=True,
)
LAYOUTS = (DEEPSEEK, QWEN, MIMO)


def find_heads(directory: Path, layers: int) -> tuple[Layout, list[dict[str, Tensor]]]:
    """Read the heads of a checkpoint, each under the names of ``MtpHead``.

    :param layers: the target's number of layers.
    :raises RunError: if the checkpoint holds none.
    """
    names = tensor_names(directory)
    for layout in LAYOUTS:
        heads: list[dict[str, Tensor]] = []
        while wanted := _wanted(layout, len(heads), layers, names):
            heads.append(read_tensors(directory, wanted))
        if heads:
            return layout, heads
    raise RunError(
        "this checkpoint has no next-token heads",
        where=str(directory),
        allowed="one with tensors such as "
        + " or ".join(layout.public("eh_proj.weight", 0, layers) for layout in LAYOUTS),
        action="give a target model that was published with its heads, or another "
        "method",
    )


def _wanted(
    layout: Layout, head: int, layers: int, names: frozenset[str]
) -> Mapping[str, str]:
    """Give one head's public names and ours; empty if there is no such head."""
    parts = layout.parts(head, layers)
    block = layout.block.format(layer=layers + head, head=head)
    if not any(name.startswith(block) for name in names):
        return {}
    return {
        name: renamed
        for name in sorted(names)
        if (renamed := _renamed(name, parts)) is not None
    }


def _renamed(name: str, parts: Mapping[str, str]) -> str | None:
    """Give our name of a tensor; None if it belongs to no part, or is a copy."""
    for public, own in parts.items():
        if name.startswith(public):
            return own + name[len(public) :] if own else None
    return None
