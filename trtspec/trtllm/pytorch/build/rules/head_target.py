"""Whether the layers that a drafter names are those of this target, or of another.

Heads of one family may share hidden size and vocabulary (gpt-oss 20b and 120b do): then
only the layers that they read tell for which of the targets they were trained.
"""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject
from trtspec.methods import DFlash, Eagle3
from trtspec.trtllm.installation import Installation

_FINAL = -1
"""In place of a layer: what the target's LM head reads
(tensorrt_llm/_torch/speculative/eagle3.py)."""
_DEEP = 0.75
"""Every published head reads a layer behind this share of its target's layers."""
_OTHER = "choose the drafter that was trained for this target model"


def layers_are_the_targets(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Refuse layers that the target does not have; warn where none is deep in it.

    Those in a recipe are TensorRT-LLM's numbers, from 0; configurations of heads
    count in two ways, so that one number more than the last layer's is let pass.
    """
    method, target = subject.recipe.speculation, subject.target
    if target is None or not isinstance(method, Eagle3 | DFlash):
        return
    if isinstance(method, Eagle3):
        key, named = "layers_to_capture", method.layers_to_capture
    else:
        key, named = "target_layers", method.target_layers
    if named is not None:
        beyond = [n for n in named if n != _FINAL and not 0 <= n < target.layers]
        if beyond:
            yield _beyond_by_recipe(subject, key, beyond[0], target.layers)
        return
    stated = subject.drafter.target_layers if subject.drafter is not None else None
    if stated:
        yield from _by_configuration(subject, stated, target.layers)


def _beyond_by_recipe(subject: Subject, key: str, layer: int, layers: int) -> Finding:
    return Finding(
        "captured-layers",
        "blocking",
        subject.where("speculation", key),
        f"{key} names layer {layer}, and the target model has {layers} layers",
        f"expected: layers from 0 to {layers - 1}",
        f"name the layers that the drafter was trained on, or {_OTHER}",
        values={"layer": layer, "layers": layers},
    )


def _by_configuration(
    subject: Subject, stated: tuple[int, ...], layers: int
) -> Iterator[Finding]:
    deepest = max(stated)
    values = {"named": list(stated), "layers": layers}
    where = subject.where_model("draft")
    what = (
        f"the drafter's config.json names layers {', '.join(map(str, stated))} of its "
        f"target, and the target model has {layers}"
    )
    if deepest > layers:
        why = (
            "it was trained on the hidden states of a deeper model: hardly a draft "
            "would be accepted, if it loads"
        )
        yield Finding(
            "captured-layers", "blocking", where, what, why, _OTHER, values=values
        )
    elif _FINAL not in stated and deepest < _DEEP * layers:
        why = (
            "published drafters read one of their target's last layers: this one looks "
            "like that of a shallower model, and hardly a draft may be accepted"
        )
        action = f"{_OTHER}, or measure its acceptance first"
        yield Finding(
            "captured-layers", "warning", where, what, why, action, values=values
        )
