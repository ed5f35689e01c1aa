"""Which further ways to share a model among GPUs are refused where one speculates."""

from __future__ import annotations

from trtspec.trtllm.facts.combinations import Case, combinations
from trtspec.trtllm.pytorch.compile.subject import Subject
from trtspec.trtllm.pytorch.compile.words import NOT_WITH_SPECULATION
from trtspec.trtllm.pytorch.settings import Path, Remark

RULE = "llm-args"
_ASSUMED = (
    "no source that was read says so of this method and version; those of later ones "
    "say that it is refused"
)
_SOURCE = "docs/source/features/feature-combination-matrix.md, revisions of 2026"


def beside_speculation(subject: Subject, path: Path, value: object) -> Remark | None:
    """Refuse a size above 1 that speculation does not go together with.

    :param path: the keys that lead to it.
    :param value: that the recipe gives it.
    :returns: None for any other key, for 1, and where nothing is drafted.
    """
    feature = NOT_WITH_SPECULATION.get(path[0]) if len(path) == 1 else None
    shape = subject.shape
    if feature is None or shape == "none" or not _above_one(value):
        return None
    method = subject.method.method
    case = Case("pytorch", subject.version, method, shape)
    found = next(combinations(case, feature), None)
    raised = (
        "raise target.tensor_parallel"
        if feature == "pipeline_parallel"
        else "share the model by target.tensor_parallel"
    )
    return Remark(
        RULE,
        "blocking",
        ("pytorch", "llm_args", *path),
        f"{path[0]} {value} next to speculation ({method}), which needs 1",
        found.says if found is not None else _ASSUMED,
        f"delete {path[0]} and {raised}, or take method: none",
        source=found.source if found is not None else _SOURCE,
        values={"key": path[0], "value": value, "method": method},
    )


def _above_one(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 1
