"""Which tensors a decoder layer of a head consists of: Llama's, or Qwen3's."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from trtspec.models.tensor_header import TensorHeader

Shape = tuple[int | None, ...]
"""Of a tensor; None is a size that nothing settles, an empty one any shape."""

_OTHER_LAYERS = (".kv_a_proj", ".q_a_proj", ".kv_b_proj", ".experts.", ".mlp.gate.")
"""Parts of latent attention and of experts."""


def is_plain(names: Collection[str]) -> bool:
    """Whether a head has no layers that are built in other ways."""
    return not any(part in name for name in names for part in _OTHER_LAYERS)


def decoder_layer(
    prefix: str,
    given: Mapping[str, TensorHeader],
    width: int | None,
    *,
    reads: int = 1,
    head_norms: bool = False,
) -> tuple[dict[str, Shape], dict[str, Shape]]:
    """Give the tensors that must be there, and those that may, with their shapes.

    :param prefix: such as ``layers.0.``.
    :param width: of the layer's states; None if nothing settles it.
    :param reads: states that its attention reads side by side.
    :param head_norms: whether queries and keys are normed; otherwise they may be, both
        or none.
    """
    attention, mlp = f"{prefix}self_attn.", f"{prefix}mlp."
    queries, keys, inner = (
        _rows(given, name)
        for name in (
            f"{attention}q_proj.weight",
            f"{attention}k_proj.weight",
            f"{mlp}gate_proj.weight",
        )
    )
    read = None if width is None else reads * width
    linear: dict[str, Shape] = {
        f"{attention}q_proj": (queries, read),
        f"{attention}k_proj": (keys, read),
        f"{attention}v_proj": (keys, read),
        f"{attention}o_proj": (width, queries),
        f"{mlp}gate_proj": (inner, width),
        f"{mlp}up_proj": (inner, width),
        f"{mlp}down_proj": (width, inner),
    }
    must: dict[str, Shape] = {f"{name}.weight": shape for name, shape in linear.items()}
    for norm in ("input_layernorm", "post_attention_layernorm"):
        must[f"{prefix}{norm}.weight"] = (width,)
    norms = [f"{attention}{name}_norm.weight" for name in ("q", "k")]
    if head_norms or any(name in given for name in norms):
        must |= dict.fromkeys(norms, (None,))
    return must, {f"{name}.bias": shape[:1] for name, shape in linear.items()}


def _rows(given: Mapping[str, TensorHeader], name: str) -> int | None:
    shape = given[name].shape if name in given else ()
    return shape[0] if shape else None
