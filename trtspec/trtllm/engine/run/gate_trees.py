"""Whether an engine was built for the shape of the recipe's drafts."""

from __future__ import annotations

from packaging.version import Version

from trtspec.errors import RunError
from trtspec.methods import Eagle, Medusa, Method, ReDrafter
from trtspec.trtllm import facts
from trtspec.trtllm.engine.engine_config import EngineConfig
from trtspec.trtllm.engine.run.gate import BUILD_AGAIN


def require_shape(engine: EngineConfig, method: Method, where: str) -> None:
    """Refuse a tree, or beams, other than the engine was built for."""
    if isinstance(method, Medusa):
        heads = int(engine.extras.get("num_medusa_heads") or 0)
        _require_levels(method.shape.depth, heads, "num_medusa_heads", where)
    elif isinstance(method, Eagle):
        _require_eagle_tree(engine, method, where)
    elif isinstance(method, ReDrafter):
        _require_beams(engine, method, where)


def _require_beams(engine: EngineConfig, method: ReDrafter, where: str) -> None:
    """Refuse other beams; a sampling engine under a greedy recipe were lossy unsaid."""
    wanted = {
        "redrafter_num_beams": method.num_beams,
        "redrafter_draft_len_per_beam": method.draft_length_per_beam,
        "redrafter_greedy_search": method.greedy_search,
    }
    for key, value in wanted.items():
        built = engine.extras.get(key)
        if built != value:
            raise RunError(
                f"the recipe wants {key} {value}, and the engine was built with "
                f"{'none' if built is None else built}",
                where=where,
                allowed=str(built),
                action="change the speculation, or " + BUILD_AGAIN,
            )


def _require_eagle_tree(engine: EngineConfig, method: Eagle, where: str) -> None:
    layers = int(engine.extras.get("num_eagle_layers") or 0)
    if method.num_layers != layers:
        raise RunError(
            f"the recipe drafts {method.num_layers} levels, and the engine was built "
            f"with num_eagle_layers {layers}",
            where=where,
            allowed=str(layers),
            action="change num_layers and the tree, or " + BUILD_AGAIN,
        )
    if method.is_dynamic:
        return
    most = int(engine.extras.get("max_non_leaves_per_layer") or 0)
    if method.shape.most_inner_nodes > most:
        raise RunError(
            f"a level of the tree has {method.shape.most_inner_nodes} nodes with "
            f"children, and the engine was built with max_non_leaves_per_layer {most}",
            where=where,
            allowed=f"up to {most}",
            action="thin the tree, or " + BUILD_AGAIN,
        )


def _require_levels(depth: int, built: int, name: str, where: str) -> None:
    if depth > built:
        raise RunError(
            f"the tree is {depth} levels deep, and the engine was built with {name} "
            f"{built}",
            where=where,
            allowed=f"up to {built} levels",
            action="choose a flatter tree, or " + BUILD_AGAIN,
        )


def require_dynamic_tree(method: Method, version: Version) -> None:
    """Refuse EAGLE-2 where the version is not known to have it."""
    wants = isinstance(method, Eagle) and method.is_dynamic
    if wants and "use_dynamic_tree" not in facts.fields("EagleConfig", version):
        raise RunError(
            f"tree: dynamic is not known to exist in TensorRT-LLM {version}",
            where="speculation",
            allowed="a named tree, or paths",
            action="choose a fixed tree, or install a later version",
        )
