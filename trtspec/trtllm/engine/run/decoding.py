"""How an engine's own drafter decodes: trees, thresholds, sizes."""

from __future__ import annotations

from typing import Any

from trtspec.methods import Eagle, Lookahead, Medusa, Method, tree_paths
from trtspec.trtllm.engine.run.bindings import Bindings


def decoding_config(bindings: Bindings, method: Method) -> Any | None:
    """Configure an engine's own drafter; None where everything is fixed at build."""
    modes = bindings.module.DecodingMode
    if isinstance(method, Medusa):
        return bindings.make(
            "DecodingConfig",
            decoding_mode=modes.Medusa(),
            medusa_choices=_choices(method),
        )
    if isinstance(method, Eagle):
        return bindings.make(
            "DecodingConfig",
            decoding_mode=modes.Eagle(),
            eagle_config=_eagle_config(bindings, method),
        )
    if isinstance(method, Lookahead):
        sizes = bindings.make(
            "LookaheadDecodingConfig",
            max_window_size=method.window_size,
            max_ngram_size=method.ngram_size,
            max_verification_set_size=method.verification_set_size,
        )
        return bindings.make(
            "DecodingConfig",
            decoding_mode=modes.Lookahead(),
            lookahead_decoding_config=sizes,
        )
    return None


def _eagle_config(bindings: Bindings, method: Eagle) -> Any:
    """Give a fixed tree (EAGLE-1) or none (EAGLE-2); greedy without a threshold."""
    arguments: dict[str, Any] = {"greedy_sampling": method.posterior_threshold is None}
    if method.posterior_threshold is not None:
        arguments["posterior_threshold"] = method.posterior_threshold
    if method.is_dynamic:
        arguments["use_dynamic_tree"] = True
        arguments["dynamic_tree_max_topK"] = method.dynamic_top_k
    else:
        arguments["eagle_choices"] = _choices(method)
    return bindings.make("EagleConfig", **arguments)


def _choices(method: Medusa | Eagle) -> list[list[int]]:
    return [list(path) for path in tree_paths(method.tree)]
