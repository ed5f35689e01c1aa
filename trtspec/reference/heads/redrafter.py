"""ReDrafter's head: a recurrent state over the draft, beside the target's final state.

    s_t = SiLU(W e_t + U s_{t-1} + b), s_0 = 0   or, without the recurrent weights,
    s_t = e_t + s_{t-1}
    logits_t = head([h; s_t])

h is the target's state before the pending token (after the final norm), e_1 the
target's embedding of the pending token, e_t that of the draft token before. The head is
a projection, where its width is not twice the target's, then residual layers and an LM
head (arXiv 2403.09919; apple/ml-recurrent-drafter, modeling_drafter.py in
recurrent_drafting, and its train/model.py). TensorRT-LLM's engine leaves out the SiLU,
and b for the pending token (tensorrt_llm/models/redrafter/drafter.py): with recurrent
weights it may draft other tokens.

TensorRT-LLM's converter lists three ways to name the tensors
(examples/redrafter/convert_checkpoint.py); all are read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import silu

from trtspec.errors import RunError
from trtspec.models.head_names import head_names
from trtspec.models.json_file import read_json_object
from trtspec.reference.heads.medusa import ResidualLayer
from trtspec.reference.heads.stored import fill, read_tensors, tensor_names

_LAYER = re.compile(r"lm_head\.(\d+)\.linear\.weight")


class ReDrafterHead(nn.Module):
    """One step of the recurrent drafter; ``state_dict`` has the authors' names.

    :param width: of the residual layers, ``exit_dim`` in the configuration.
    :param layers: residual layers.
    :param recurrent: whether it has recurrent weights, or sums up embeddings.
    """

    def __init__(
        self,
        hidden_size: int,
        width: int,
        layers: int,
        vocabulary: int,
        *,
        recurrent: bool,
    ) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.recurrent = recurrent
        if width != 2 * hidden_size:
            self.input_proj = nn.Linear(2 * hidden_size, width)
        self.lm_head = nn.Sequential(
            *(ResidualLayer(width) for _ in range(layers)),
            nn.Linear(width, vocabulary, bias=False),
        )
        if recurrent:
            self.rnn_u = nn.Linear(hidden_size, hidden_size)
            self.rnn_w = nn.Linear(hidden_size, hidden_size, bias=False)

    def advance(self, state: Tensor, embedded: Tensor) -> Tensor:
        """Take in one more token; all are [..., hidden size].

        :param state: before the token; zeros before the pending one.
        :param embedded: the target's embedding of the token.
        """
        if self.recurrent:
            return silu(self.rnn_w(embedded) + self.rnn_u(state))
        return embedded + state

    def forward(self, context: Tensor, state: Tensor) -> Tensor:
        """Give the logits [..., vocabulary] of the next token.

        :param context: the target's final state [..., hidden size].
        :param state: the recurrent state [..., hidden size].
        """
        beside = torch.cat((context, state), -1)
        if hasattr(self, "input_proj"):
            beside = self.input_proj(beside)
        logits: Tensor = self.lm_head(beside)
        return logits


def load_redrafter(
    directory: Path, *, hidden_size: int, dtype: torch.dtype, device: torch.device
) -> ReDrafterHead:
    """Load a head; its sizes are those of its tensors.

    :param hidden_size: width of the target's states.
    :raises RunError: if a tensor is missing, left over, or of another shape.
    """
    public = _public_names(tensor_names(directory))
    layers = sum(1 for name in public if _LAYER.fullmatch(name))
    tensors = read_tensors(directory, {public[name]: name for name in sorted(public)})
    vocabulary, width = _last_shape(tensors, layers, directory)
    if width != 2 * hidden_size and "input_proj.weight" not in tensors:
        raise RunError(
            f"the ReDrafter head is {width} wide, and holds no projection to that",
            where=str(directory),
            allowed=f"{2 * hidden_size}, twice the width of the target's states",
            action="give a drafter that was trained for this target model",
        )
    recurrent = read_json_object(directory / "config.json").get("rnn")
    with torch.device("meta"):
        head = ReDrafterHead(
            hidden_size,
            width,
            layers,
            vocabulary,
            recurrent="rnn_u.weight" in tensors if recurrent is None else recurrent,
        )
    head = head.to(dtype).to_empty(device=device).eval()
    fill(head, tensors, directory, lambda name: public.get(name, name))
    return head


def _last_shape(
    tensors: Mapping[str, Tensor], layers: int, directory: Path
) -> tuple[int, int]:
    """Rows and columns of the LM head.

    :raises RunError: if there is none.
    """
    last = f"lm_head.{layers}.weight"
    if last not in tensors or tensors[last].ndim != 2:
        raise RunError(
            f"the ReDrafter head's checkpoint lacks a matrix {last}",
            where=str(directory),
            allowed=f"lm_head.0.linear.weight and so on, then {last}",
            action="give the drafter as it was published, or name its own method",
        )
    rows, columns = tensors[last].shape
    return rows, columns


def _public_names(names: Collection[str]) -> dict[str, str]:
    """Give the authors' name of each tensor that is used, and the name it has here."""
    return {own: name for name, own in head_names("redrafter", names).items()}
