"""What a recipe's speculation method does to the output on a backend and version."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import Version

from trtspec.methods import Method, lossy_reason
from trtspec.methods.exactness import NOT_ESTABLISHED, Exactness
from trtspec.methods.mtp import TREE_UNSETTLED
from trtspec.methods.pytorch_rules import UNSETTLED
from trtspec.verify.gate.result import Effect, Inspected, lossless, lossy, untold

SECTION = "speculation of the recipe"
_OPEN = (NOT_ESTABLISHED, UNSETTLED, TREE_UNSETTLED)
"""Reasons that say no more than that no source settles it."""
_ANY_VERSION = "whether it keeps the output depends on the version, which is not known"
_OWN_DRAFTER = (
    "a drafter of the user's own says itself which distribution it drew a token from"
)
_THRESHOLDS = ("posterior_threshold", "relaxed_top_k", "relaxed_delta")
_RULES = ("acceptance", *_THRESHOLDS)


def effect_of(
    method: Method, backend: str, version: Version | None, *, sampled: bool
) -> tuple[Effect, str]:
    """Say what a method does to the output, and why.

    :param version: of TensorRT-LLM; None where there is none, or it is not known.
    """
    if method.method == "user" and backend == "reference" and sampled:
        return "cannot tell", _OWN_DRAFTER
    reason = lossy_reason(method, backend, version, sampled=sampled)
    if not reason:
        return "lossless", "accepted as exactly as plain decoding chooses"
    if any(text in reason for text in _OPEN):
        return "cannot tell", reason
    if version is None and _differs(method, backend, sampled=sampled):
        return "cannot tell", f"{_ANY_VERSION}: on some, {reason}"
    return "lossy", reason


def _differs(method: Method, backend: str, *, sampled: bool) -> bool:
    """Whether versions of the backend differ in what they do to the output."""
    return len({bool(_why(e, sampled=sampled)) for e in _rules(method, backend)}) > 1


def _why(entry: Exactness, *, sampled: bool) -> str:
    return entry.sampled if sampled else entry.greedy


def _rules(method: Method, backend: str) -> list[Exactness]:
    return [entry for entry in method.exactness() if entry.covers(backend, None)]


def source_of(method: Method, backend: str, version: Version | None) -> str:
    """Name where it is known from; empty if it is not."""
    rules = (e.source for e in method.exactness() if e.covers(backend, version))
    return next(rules, "")


def by_method(
    method: Method, backend: str, version: Version | None, *, sampled: bool
) -> Iterator[Inspected]:
    """Give the method and each of its settings that bears on exactness."""
    effect, why = effect_of(method, backend, version, sampled=sampled)
    source = source_of(method, backend, version)
    make = {"lossless": lossless, "lossy": lossy, "cannot tell": untold}[effect]
    yield make("speculation.method", SECTION, method.method, why, source)
    yield from _acceptance(method, effect, why, source)
    yield from _settings(method, backend, sampled=sampled)


def _acceptance(
    method: Method, effect: Effect, why: str, source: str
) -> Iterator[Inspected]:
    """Give the rule of acceptance; what it does has been said of the method."""
    for key in (key for key in _RULES if hasattr(method, key)):
        value = getattr(method, key)
        name = f"speculation.{key}"
        if value in (None, "exact"):
            what = "exact" if key == "acceptance" else "no threshold loosens acceptance"
            yield lossless(name, SECTION, value, what)
        elif effect == "lossy":
            yield lossy(name, SECTION, value, why, source)
        else:
            yield lossless(name, SECTION, value, "greedy requests go by argmax", source)


def _settings(method: Method, backend: str, *, sampled: bool) -> Iterator[Inspected]:
    """Give settings whose effect is part of what was said of the method."""
    for key, backends, meaning in _TOLD:
        if hasattr(method, key) and backend in backends:
            value = getattr(method, key)
            yield lossless(f"speculation.{key}", SECTION, value, meaning)
    if hasattr(method, "allow_lossy"):
        what = "lets lossy output pass other checks; the gate goes by what happens"
        yield lossless("speculation.allow_lossy", SECTION, method.allow_lossy, what)


_TOLD: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "use_draft_logits",
        ("tensorrt",),
        "true accepts by p/q, false by tokens; counted in the method",
    ),
    (
        "greedy_search",
        ("tensorrt",),
        "built into the engine; counted in the method",
    ),
    (
        "rejection_sampling",
        ("pytorch",),
        "by p/q, or compared with a sampled token: exact both ways",
    ),
    ("two_model", ("pytorch",), "decides which rule the release has; counted there"),
    ("vanilla", ("pytorch", "reference"), "decides what drafts, not what is accepted"),
)
