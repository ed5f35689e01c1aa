"""What does the decoding configuration make an engine draft in every step?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from packaging.version import Version

from tests.standins.executor import trees
from tests.standins.executor.engine import Engine
from tests.standins.executor.values import require, speculative_resource
from tests.standins.voice import say
from trtspec.methods.trees import DEFAULT_TREE, NAMED_TREES
from trtspec.trtllm.versions import contains

OF_MODE = {
    "medusa": "Medusa",
    "lookahead_decoding": "Lookahead",
    "explicit_draft_tokens": "ExplicitDraftTokens",
    "eagle": "Eagle",
}
LOOKAHEAD_ON_PLAIN_FAILS = "<0.18.0rc0"


@dataclass(frozen=True)
class Speculation:
    """What an engine with its own drafter proposes in each step.

    :ivar paths: nodes of the tree; empty for plain and external decoding.
    :ivar lookahead: the server's (W, N, G).
    :ivar threshold: of typical acceptance; None accepts greedily.
    :ivar is_greedy: whether sampling parameters are ignored.
    """

    paths: tuple[trees.Path, ...] = ()
    lookahead: tuple[int, int, int] | None = None
    threshold: float | None = None
    is_greedy: bool = False


def speculation(config: Any, engine: Engine, version: str) -> Speculation:
    """What the decoding configuration makes of the engine's mode."""
    decoding, name = config.decoding_config, engine.mode_name
    asked = decoding and decoding.decoding_mode and decoding.decoding_mode.name
    if asked in OF_MODE.values() and OF_MODE.get(name) != asked:
        fails = contains(LOOKAHEAD_ON_PLAIN_FAILS, Version(version))
        require(
            not (fails and name == "none"),
            "Speculative decoding module is not set to decoder domain",
        )
        say("[TensorRT-LLM][WARNING] decoding mode is overwritten")
        decoding = None
    return PLANS.get(name, _plain)(decoding, engine)


def _plain(decoding: Any, engine: Engine) -> Speculation:
    return Speculation()


def _choices(listed: list[list[int]], engine: Engine) -> tuple[trees.Path, ...]:
    paths = tuple(tuple(path) for path in listed)
    known, room = {(), *paths}, engine.max_draft_len
    require(all(paths), "a choice is empty")
    require(len(set(paths)) == len(paths), "a choice is listed twice")
    orphans = [path for path in paths if path[:-1] not in known]
    require(not orphans, f"the parent of choice {list(orphans[:1])} is missing")
    require(len(paths) <= room, f"{len(paths)} choices exceed max draft tokens {room}")
    return paths


def _medusa(decoding: Any, engine: Engine) -> Speculation:
    listed = (decoding and decoding.medusa_choices) or NAMED_TREES[DEFAULT_TREE]
    paths, heads = _choices(listed, engine), engine.number("num_medusa_heads")
    deepest = max(map(len, paths))
    require(
        deepest <= heads,
        "Choices require larger maxPathLen than the engine was built with.",
    )
    return Speculation(paths, is_greedy=True)


def _eagle(decoding: Any, engine: Engine) -> Speculation:
    config = decoding and decoding.eagle_config
    layers, room = engine.number("num_eagle_layers"), engine.max_draft_len
    if getattr(config, "use_dynamic_tree", False):
        paths = tuple(trees.dynamic(config.dynamic_tree_max_topK, layers, room))
    else:
        listed = (config and config.eagle_choices) or NAMED_TREES[DEFAULT_TREE]
        paths = _choices(listed, engine)
        _require_eagle_tree(paths, engine)
    greedy = config is None or config.greedy_sampling
    threshold = None if greedy else config.posterior_threshold
    require(greedy or threshold is not None, "posterior_threshold is not set")
    return Speculation(paths, threshold=threshold, is_greedy=greedy)


def _require_eagle_tree(paths: tuple[trees.Path, ...], engine: Engine) -> None:
    layers, most = (
        engine.number("num_eagle_layers"),
        engine.number("max_non_leaves_per_layer"),
    )
    depth = max(map(len, paths))
    require(
        depth == layers,
        "EAGLE-1 requires Eagle-tree depth being equal to the the number of build-time "
        f"EAGLE layers. ({depth}, {layers})",
    )
    inner = {path[:-1] for path in paths if len(path) > 1}
    for level, count in sorted(Counter(map(len, inner)).items()):
        require(
            count <= most,
            f"Choices tree at level {level} has {count} non leaf nodes, while only "
            f"{most} are allowed.",
        )


def _lookahead(decoding: Any, engine: Engine) -> Speculation:
    config = decoding and decoding.lookahead_decoding_config
    require(config is not None, "lookahead decoding needs a lookahead config")
    sizes = (
        config.max_window_size,
        config.max_ngram_size,
        config.max_verification_set_size,
    )
    draft, built = speculative_resource(*sizes)[2], engine.max_draft_len
    require(
        draft == built,
        f"{draft} != {built} (cpp/tensorrt_llm/layers/lookaheadDecodingLayer.cpp)",
    )
    return Speculation(lookahead=sizes, is_greedy=True)


def _redrafter(decoding: Any, engine: Engine) -> Speculation:
    paths = trees.beams(
        engine.number("redrafter_num_beams"),
        engine.number("redrafter_draft_len_per_beam"),
    )
    greedy = bool(engine.pretrained["redrafter_greedy_search"])
    return Speculation(tuple(paths), is_greedy=greedy)


PLANS = {
    "medusa": _medusa,
    "eagle": _eagle,
    "lookahead_decoding": _lookahead,
    "explicit_draft_tokens": _redrafter,
}
