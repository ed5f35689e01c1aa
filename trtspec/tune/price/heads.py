"""Which matrices a trained drafter has: Medusa's heads, EAGLE's layer, an MTP head."""

from __future__ import annotations

from trtspec.errors import UsageError
from trtspec.methods import Medusa
from trtspec.models.config import CONFIG
from trtspec.models.drafter import DrafterInfo
from trtspec.models.drafter_configuration import DrafterConfiguration
from trtspec.models.json_file import read_json_object
from trtspec.models.speculators import at_the_top
from trtspec.tune.price.parts import Attention, Head, Matrix, NoPriceError, experts
from trtspec.tune.price.subject import Subject

_STATES = 2
"""Embedding and hidden state, which EAGLE and MTP read side by side."""


def head_of(subject: Subject) -> Head:
    """Give the sizes of a subject's drafter.

    :raises UsageError: if its configuration does not tell them.
    :raises NoPriceError: if it is stored quantized.
    """
    if subject.method.method == "mtp":
        return _next_token(subject)
    drafter = subject.drafter
    assert drafter is not None, "a trained drafter has a checkpoint"
    if drafter.quantization != "none":
        raise NoPriceError(f"the drafter is stored as {drafter.quantization}")
    if isinstance(subject.method, Medusa):
        return _medusa(subject, drafter, subject.method)
    return _layers(subject, drafter)


def _medusa(subject: Subject, drafter: DrafterInfo, method: Medusa) -> Head:
    """Each head: residual layers [hidden, hidden], then its own output weight."""
    model = subject.target.model
    width, heads = model.hidden_size, method.num_heads
    rows = drafter.vocabulary_rows or model.vocabulary_rows
    layers = drafter.head_layers or method.num_layers
    body = (Matrix("layer", width, width, heads * layers),)
    return _head(subject, (), body, Matrix("output", rows, width, heads), None)


def _layers(subject: Subject, drafter: DrafterInfo) -> Head:
    """A fusion, and Llama layers; the first of EAGLE-3's reads two states."""
    values = at_the_top(read_json_object(drafter.directory / CONFIG), None)
    config = DrafterConfiguration(drafter.directory, values)
    width = config.required("hidden_size")
    count = drafter.layers or config.number("num_hidden_layers") or 1
    heads = config.required("num_attention_heads")
    attention = Attention(
        count,
        heads,
        config.number("num_key_value_heads") or heads,
        config.number("head_dim") or width // heads,
    )
    inner = config.required("intermediate_size")
    hidden = drafter.hidden_size or subject.target.model.hidden_size
    if drafter.kind == "eagle":
        fused, first = _STATES * hidden, width
    else:
        states = drafter.captured_states or 1
        fused = drafter.fused_values or states * hidden
        first = _STATES * width if drafter.kind == "eagle3" else width
    rows = drafter.vocabulary_rows or subject.target.model.vocabulary_rows
    body = (
        *_layer(attention, width, inner, 1, first),
        *(_layer(attention, width, inner, count - 1, width) if count > 1 else ()),
    )
    fusion = (Matrix("fusion", width, fused),)
    return _head(subject, fusion, body, Matrix("output", rows, width), attention)


def _next_token(subject: Subject) -> Head:
    """A layer like the target's behind a projection; the output weight is shared."""
    model = subject.target.model
    if experts(model.directory):
        raise NoPriceError("the layer of a next-token head is a mixture of experts")
    if model.intermediate_size is None:
        raise UsageError(
            "the target's configuration names no intermediate_size",
            where=subject.name,
            action="give the configuration the checkpoint was published with",
        )
    width = model.hidden_size
    attention = Attention(1, model.heads, model.kv_heads, model.head_size)
    body = (
        Matrix("fusion", width, _STATES * width),
        *_layer(attention, width, model.intermediate_size, 1, width),
    )
    output = Matrix("output", model.vocabulary_rows, width)
    return _head(subject, (), body, output, attention)


def _layer(
    shape: Attention, width: int, inner: int, count: int, reads: int
) -> tuple[Matrix, ...]:
    """Give the matrices of ``count`` Llama layers.

    :param reads: values that queries, keys and values are projected from.
    """
    queries = shape.heads * shape.head_size
    projected = queries + 2 * shape.kv_heads * shape.head_size
    return (
        Matrix("qkv", projected, reads, count),
        Matrix("attention_output", width, queries, count),
        Matrix("gate_and_up", 2 * inner, width, count),
        Matrix("down", width, inner, count),
    )


def _head(
    subject: Subject,
    fusion: tuple[Matrix, ...],
    body: tuple[Matrix, ...],
    output: Matrix,
    attention: Attention | None,
) -> Head:
    """Place it beside the target, in the type of what is not quantized there."""
    target = subject.target
    return Head(
        fusion,
        body,
        output,
        attention,
        target.dtype,
        target.cache,
        target.parallel.tensor,
    )
