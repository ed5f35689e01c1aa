"""With which parameters to begin per method, and who says so; none is tuned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pydantic import TypeAdapter

from trtspec.advise.drafters import Drafter
from trtspec.errors import TrtspecError
from trtspec.methods import Eagle, Method, Speculation, tree_paths
from trtspec.methods.catalogue import METHODS
from trtspec.methods.trees import DEFAULT_TREE
from trtspec.models.drafter import DrafterInfo, describe_drafter
from trtspec.models.drafter_files import loader_of

_ADAPTER: TypeAdapter[Method] = TypeAdapter(Speculation)

TENSORRT_LLM_GUIDE = (
    "https://github.com/NVIDIA/TensorRT-LLM/blob/main/docs/source/features/"
    "speculative-decoding.md"
)
_EXAMPLES = "https://github.com/NVIDIA/TensorRT-LLM/tree/v1.0.0/examples"
_ROUNDS = "where the text repeats itself a draft is right for long, else wrong at once"


@dataclass(frozen=True, slots=True)
class StartingPoint:
    """The speculation section of a recipe to begin with.

    :param keys: as the recipe has them, without ``method`` and ``model``.
    :param comments: what to write beside a key.
    :param source: who begins with these values.
    """

    keys: Mapping[str, object]
    source: str
    comments: Mapping[str, str] = field(default_factory=dict)


def starting_point(method: str, drafter: Drafter | None, backend: str) -> StartingPoint:
    """Give the parameters to begin with.

    :param drafter: what drafts; None if the method takes none.
    """
    return _POINTS[method](drafter, backend)


def speculation(
    method: str, drafter: Drafter | None, point: StartingPoint
) -> dict[str, object]:
    """Give the whole section."""
    named = {"model": drafter.model} if drafter and drafter.model else {}
    return {"method": method, **named, **point.keys}


def room_for_drafts(section: Mapping[str, object]) -> int:
    """Tokens that a sequence needs beyond prompt and output, so that drafts fit."""
    method = _ADAPTER.validate_python(section)
    levels = method.num_layers if isinstance(method, Eagle) else 0
    return method.verified_tokens + levels


def drafter_context(drafter: Drafter | None, backend: str) -> int | None:
    """Tokens that what drafts was made for; None if it is not here, or does not say."""
    if drafter is None:
        return None
    if drafter.info is not None:
        return drafter.info.context_length
    known = _described(drafter, backend)
    return known.context_length if known else None


def _chain(length: int, source: str) -> Callable[[Drafter | None, str], StartingPoint]:
    """Begin with a chain of some tokens."""

    def point(_: Drafter | None, __: str) -> StartingPoint:
        told = "tokens proposed per step: a starting point, not tuned"
        return StartingPoint({"draft_length": length}, source, {"draft_length": told})

    return point


def _ngram(_: Drafter | None, __: str) -> StartingPoint:
    return StartingPoint(
        {"draft_length": 3, "max_matching_ngram": 4},
        TENSORRT_LLM_GUIDE,
        {
            "draft_length": f"a starting point, not tuned: {_ROUNDS}",
            "max_matching_ngram": "longest n-gram that is looked up",
        },
    )


def _lookahead(_: Drafter | None, __: str) -> StartingPoint:
    told = "window, n-gram and verification set: TensorRT-LLM's own defaults"
    keys = {"window_size": 4, "ngram_size": 3, "verification_set_size": 4}
    return StartingPoint(keys, f"{_EXAMPLES}/lookahead", {"window_size": told})


def _medusa(drafter: Drafter | None, backend: str) -> StartingPoint:
    """Take as many heads as the tree has levels, and a flatter tree for fewer."""
    known = _described(drafter, backend)
    heads = min(known.heads or 4, 4) if known else 4
    keys: dict[str, object] = {"num_heads": heads}
    told = {"num_heads": "NVIDIA's example takes 4" if heads == 4 else "all there are"}
    if known and known.head_layers:
        keys["num_layers"] = known.head_layers
    paths = tree_paths(DEFAULT_TREE)
    kept = [list(path) for path in paths if len(path) <= heads]
    whole = len(kept) == len(paths)
    keys["max_draft_tokens"] = len(kept)
    keys["tree"] = DEFAULT_TREE if whole else kept
    cut = "" if whole else f", cut to {heads} levels"
    told["tree"] = f"the tree of Medusa's authors for 7B models{cut}; not tuned"
    return StartingPoint(keys, f"{_EXAMPLES}/medusa", told)


def _eagle(_: Drafter | None, __: str) -> StartingPoint:
    keys = {"num_layers": 4, "max_draft_tokens": 63, "tree": DEFAULT_TREE}
    told = {
        "num_layers": "levels that are drafted: those of the tree",
        "tree": "63 nodes, the default of NVIDIA's example; not tuned",
    }
    return StartingPoint(keys, f"{_EXAMPLES}/eagle", told)


def _redrafter(_: Drafter | None, __: str) -> StartingPoint:
    keys = {"num_beams": 4, "draft_length_per_beam": 5}
    told = {"num_beams": "4 beams of 5 tokens, as in NVIDIA's example; not tuned"}
    return StartingPoint(keys, f"{_EXAMPLES}/redrafter", told)


def _described(drafter: Drafter | None, backend: str) -> DrafterInfo | None:
    """Look at trained parts that are here; check says what is wrong with them."""
    kind = METHODS[drafter.method].drafter_kind if drafter else None
    if drafter is None or drafter.path is None or kind in (None, "model"):
        return None
    try:
        return describe_drafter(drafter.path, kind, loader_of(backend))
    except TrtspecError:
        return None


_POINTS: dict[str, Callable[[Drafter | None, str], StartingPoint]] = {
    "mtp": _chain(3, TENSORRT_LLM_GUIDE),
    "eagle3": _chain(3, TENSORRT_LLM_GUIDE),
    "dflash": _chain(4, TENSORRT_LLM_GUIDE),
    "pard": _chain(4, TENSORRT_LLM_GUIDE),
    "draft_target": _chain(3, TENSORRT_LLM_GUIDE),
    "suffix": _chain(4, TENSORRT_LLM_GUIDE),
    "ngram": _ngram,
    "lookahead": _lookahead,
    "medusa": _medusa,
    "eagle": _eagle,
    "redrafter": _redrafter,
}
METHODS_TO_START = tuple(_POINTS)
"""Methods that a recipe can begin with."""
