"""Whether the target has the layers that a drafter reads on the reference engine.

What the drafters settle when they are opened (trtspec.reference.heads.eagle3_captured,
trtspec.reference.drafters.dflash), told from headers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trtspec.check.finding import Finding, Severity
from trtspec.check.rules.drafter import by_configuration, severity_of
from trtspec.check.rules.reference_drafter import reference_drafter
from trtspec.check.subject import Subject
from trtspec.methods import DFlash, Eagle3
from trtspec.models.eagle3_shape import CAPTURED, FEWEST_LAYERS

_FINAL = -1
"""In place of a layer: what the target's LM head reads."""


def captured_by_head(subject: Subject) -> Iterator[Finding]:
    """Refuse an EAGLE-3 head whose target layers are not known, or do not exist."""
    method, target = subject.recipe.speculation, subject.target
    head = reference_drafter(subject)
    if head is None or not isinstance(method, Eagle3):
        return
    states = head.captured_states
    if states is None:
        if target is None or head.fused_values is None:
            return
        states = head.fused_values // target.hidden_size
    named = method.layers_to_capture or head.target_layers or ()
    key = "layers_to_capture"
    if not named:
        enough = target is None or target.layers >= FEWEST_LAYERS
        if states == 1 or (states == CAPTURED and enough):
            return
        yield _layers(
            subject,
            severity_of(head),
            key,
            f"nothing tells which layers of the target the {states} hidden states that "
            f"the head reads{by_configuration(head)} come from",
            f"they are settled for {CAPTURED} states of a target of {FEWEST_LAYERS} "
            "layers or more only",
        )
    elif len(set(named)) != states:
        yield _layers(
            subject,
            severity_of(head),
            key,
            f"{_origin(method.layers_to_capture, key)} names {len(set(named))} layers, "
            f"and the head reads {states} hidden states{by_configuration(head)}",
            "its first projection takes exactly as many values",
        )
    else:
        origin = _origin(method.layers_to_capture, key)
        yield from _exist(subject, key, origin, named)


def captured_by_block(subject: Subject) -> Iterator[Finding]:
    """Refuse a DFlash drafter that reads layers which the target does not have."""
    method, drafter = subject.recipe.speculation, reference_drafter(subject)
    if drafter is None or not isinstance(method, DFlash):
        return
    named = method.target_layers or drafter.target_layers or ()
    origin = _origin(method.target_layers, "target_layers")
    yield from _exist(subject, "target_layers", origin, named)


def _origin(named: object, key: str) -> str:
    return key if named else "the drafter's config.json"


def _exist(
    subject: Subject, key: str, origin: str, named: Sequence[int]
) -> Iterator[Finding]:
    target = subject.target
    if target is None:
        return
    beyond = [n for n in named if n != _FINAL and not 0 <= n < target.layers]
    if beyond:
        yield _layers(
            subject,
            "blocking",
            key,
            f"{origin} names layer {beyond[0]}, and the target model has "
            f"{target.layers} layers",
            f"expected: layers from 0 to {target.layers - 1}",
        )


def _layers(
    subject: Subject, severity: Severity, key: str, what: str, why: str
) -> Finding:
    return Finding(
        "captured-layers",
        severity,
        subject.where("speculation", key),
        what,
        why,
        f"set speculation.{key} to the layers that the drafter was trained on, or "
        "choose the drafter that was trained for this target model",
    )
