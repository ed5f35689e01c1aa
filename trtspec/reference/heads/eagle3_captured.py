"""Which of the target's hidden states an EAGLE-3 head was trained on.

What is captured is a layer's output, the residual stream behind it. Heads of
SafeAILab/EAGLE, SpecForge and ModelOpt, as well as TensorRT-LLM, count that layer from
0; the speculators library and vLLM name the layer whose input it is, one more. A -1 is
TensorRT-LLM's for what its LM head reads, and comes last (modeling_speculative.py,
``SpecDecOneEngineForCausalLM``; speculative/eagle3.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trtspec.errors import RunError
from trtspec.models.eagle3_shape import FEWEST_LAYERS, LAYER_IDS
from trtspec.reference.capture import FINAL
from trtspec.reference.heads.eagle_config import flat_config, is_speculators


def captured_layers(
    directory: Path, captured: int, layers: int, wanted: Sequence[int] | None
) -> tuple[int, ...]:
    """Give the layers whose outputs the head reads, in its order.

    :param captured: states that it fuses.
    :param layers: decoder layers of the target.
    :param wanted: ``layers_to_capture`` of the recipe; None for the head's own.
    :raises RunError: if they are not known, are not as many as the head fuses, or are
        no layers of the target.
    """
    config = flat_config(directory)
    if wanted is not None:
        # TensorRT-LLM takes them as a set
        chosen = tuple(sorted(set(wanted), key=lambda n: (n == FINAL, n)))
    else:
        named = _configured(config, directory)
        chosen = named or _default(captured, layers, directory)
    if len(chosen) != captured:
        raise _unfit(
            f"the head fuses {captured} hidden states, and {len(chosen)} are named",
            directory,
            f"{captured} layers",
        )
    if not all(0 <= n < layers or n == FINAL for n in chosen):
        raise _unfit(
            f"the head reads layers {', '.join(map(str, chosen))}",
            directory,
            f"layers 0 to {layers - 1} of this target model",
        )
    return chosen


def _configured(config: Mapping[str, Any], directory: Path) -> tuple[int, ...]:
    inner = config.get("eagle_config") or {}
    ids = inner.get(LAYER_IDS) or config.get(LAYER_IDS) or ()
    if not is_speculators(config):
        return tuple(ids)
    if 0 in ids:
        raise _unfit(
            "the head reads the target's embeddings", directory, "outputs of layers"
        )
    return tuple(n - 1 for n in ids)


def _default(captured: int, layers: int, directory: Path) -> tuple[int, ...]:
    """SafeAILab/EAGLE eagle/model/modeling_llama_kv.py; the same in TensorRT-LLM."""
    if captured == 1:
        return (layers - 1,)
    if captured != 3 or layers < FEWEST_LAYERS:
        raise _unfit(
            f"which layers the head reads is not known: it fuses {captured} states of "
            f"a target of {layers} layers",
            directory,
            "",
        )
    return (1, layers // 2 - 1, layers - 4)


def _unfit(what: str, directory: Path, allowed: str) -> RunError:
    return RunError(
        what,
        where=str(directory),
        allowed=allowed,
        action="write speculation.layers_to_capture, the layers that it was trained on",
    )
