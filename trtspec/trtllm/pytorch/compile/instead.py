"""Which method comes nearest to one that a release does not have."""

from __future__ import annotations

from trtspec.trtllm.alternatives import ALTERNATIVES
from trtspec.trtllm.pytorch.compile.subject import Subject, blocking
from trtspec.trtllm.pytorch.settings import Remark

_NEWEST = {
    "suffix": "ngram, which looks up n-grams in the request's own text",
    "pard": "draft_target, with a plain draft model",
    "dflash": "eagle3, with a head trained for this target",
}
"""Methods that only the newest releases have."""


def no_method(subject: Subject) -> Remark:
    """Say that a release lacks the recipe's method, and name the nearest."""
    method = subject.method.method
    key = ("speculation", "method")
    if method in _NEWEST:
        return blocking(
            "method",
            key,
            f"TensorRT-LLM {subject.version} has no method {method}",
            "it came with the candidates of 1.3",
            f"take {_NEWEST[method]}; or 1.3.0rc22 or later",
            values={"method": method, "version": str(subject.version)},
        )
    return blocking(
        "method",
        key,
        f"backend pytorch has no method {method}",
        f"it is one of TensorRT engines: {ALTERNATIVES[method].why}",
        f"take {ALTERNATIVES[method].take}; or backend: tensorrt up to 1.2.1",
        values={"method": method, "version": str(subject.version)},
    )
