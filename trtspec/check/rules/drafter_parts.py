"""Whether a drafter's checkpoint holds every tensor of its kind, and no other."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.subject import Role, Subject
from trtspec.methods import Mtp
from trtspec.models.head_layers import Shape
from trtspec.models.parts import Parts

_RULE = "drafter-tensors"
_SHOWN = 3
_GET_AGAIN = "get the checkpoint as it was published, or convert it anew"
_DROPPED_RENAME = "https://github.com/vllm-project/speculators/pull/358"
_LOADER = (
    "https://github.com/NVIDIA/TensorRT-LLM/blob/main/tensorrt_llm/_torch/models/"
    "modeling_utils.py"
)


def drafter_tensors(subject: Subject) -> Iterator[Finding]:
    """Hold the tensors of a drafter, or of next-token heads, against their kind's."""
    drafter, target = subject.drafter, subject.target
    if drafter is not None:
        yield from _findings(subject, "draft", f"{drafter.kind} drafter", drafter.parts)
    method = subject.recipe.speculation
    own_heads = isinstance(method, Mtp) and method.draft_model is None
    if own_heads and target is not None:
        parts = target.next_token_parts
        yield from _findings(subject, "target", "target's next-token heads", parts)


def _findings(
    subject: Subject, role: Role, whose: str, parts: Parts
) -> Iterator[Finding]:
    where = subject.where_model(role)
    is_ours = subject.recipe.backend == "reference"
    if parts.missing:
        # a family may build its heads in a way that its layers do not show
        is_certain = is_ours or role == "draft"
        yield Finding(
            _RULE,
            "blocking" if is_certain else "warning",
            where,
            f"the weights of the {whose} lack {_named(parts.missing)}",
            "a head of this kind consists of them too: it was stored or converted "
            "incompletely, or under other names",
            _GET_AGAIN,
            source=_DROPPED_RENAME,
            values={"missing": list(parts.missing)},
        )
    if parts.left_over:
        yield Finding(
            _RULE,
            "blocking" if is_ours else "warning",
            where,
            f"the weights of the {whose} hold {_named(parts.left_over)}, of no part of "
            "a head of this kind",
            "the reference engine loads a head with all its tensors or not at all"
            if is_ours
            else "TensorRT-LLM reads what its own parts are called and leaves the rest "
            "unread: where that was needed, no draft is accepted",
            _GET_AGAIN,
            source=_DROPPED_RENAME if is_ours else _LOADER,
            values={"left_over": list(parts.left_over)},
        )
    for name, stored, wanted in parts.misshapen:
        yield Finding(
            _RULE,
            "blocking",
            where,
            f"the tensor {name} of the {whose} is {list(stored)}",
            f"the others ask for {_shape(wanted)}",
            _GET_AGAIN,
            values={"tensor": name, "stored": list(stored), "wanted": list(wanted)},
        )


def _named(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    plural = "s" if len(names) > 1 else ""
    return f"{len(names)} tensor{plural}: {', '.join(names[:_SHOWN])}{more}"


def _shape(wanted: Shape) -> str:
    return f"[{', '.join('?' if size is None else str(size) for size in wanted)}]"
