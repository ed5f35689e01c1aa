"""Whether speculation has settings that the reference engine does not have."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.rules.drafter import by_configuration
from trtspec.check.subject import Subject
from trtspec.methods import Medusa

_ACCEPTS = "the reference engine always accepts by p/q and resamples what is left"
_IGNORED: dict[str, tuple[object, str]] = {
    "rejection_sampling": (False, _ACCEPTS),
    "use_draft_logits": (False, _ACCEPTS),
    "greedy_search": (
        True,
        "the reference engine verifies the beams as a tree, exactly at any temperature",
    ),
    "two_model": (None, "the reference engine has one way to run a head"),
    "resource_manager": (None, "the drafter itself is told when a request ends"),
}
"""Key → the value that asks for nothing, and what the reference engine does."""
_REFUSED: dict[str, object] = {"quantization": "none", "tensor_parallel": 1}
"""Key → the only value that the reference engine has."""


def ignored_settings(subject: Subject) -> Iterator[Finding]:
    """Tell of settings that have no effect, and refuse those that cannot be had."""
    if subject.recipe.backend != "reference":
        return
    method = subject.recipe.speculation
    for key, (silent, why) in _IGNORED.items():
        if getattr(method, key, silent) != silent:
            yield _no_effect(subject, key, why)
    for key, only in _REFUSED.items():
        if (value := getattr(method, key, only)) != only:
            yield Finding(
                "backend-option",
                "blocking",
                subject.where("speculation", key),
                f"{key} {value} does not exist on backend reference",
                f"it runs one unquantized copy of the draft model; expected: {only}",
                f"set speculation.{key} to {only}",
            )


def ignored_sizes(subject: Subject) -> Iterator[Finding]:
    """Tell that sizes of Medusa heads are taken from the checkpoint."""
    method, drafter = subject.recipe.speculation, subject.drafter
    if subject.recipe.backend != "reference" or drafter is None:
        return
    if not isinstance(method, Medusa):
        return
    there = by_configuration(drafter)
    for key, most, size in (
        ("num_heads", drafter.heads, method.num_heads),
        ("num_layers", drafter.head_layers, method.num_layers),
    ):
        unlike = most is not None and (size > most or key == "num_layers")
        chosen = size != Medusa.model_fields[key].default
        if unlike and size != most and chosen:
            what = "heads" if key == "num_heads" else "layers per head"
            why = f"the checkpoint has {most} {what}{there}, and these are taken"
            yield _no_effect(subject, key, why)


def _no_effect(subject: Subject, key: str, why: str) -> Finding:
    value = getattr(subject.recipe.speculation, key)
    shown = str(value).lower() if isinstance(value, bool) else value
    return Finding(
        "no-effect",
        "note",
        subject.where("speculation", key),
        f"{key} {shown} has no effect on backend reference",
        why,
    )
