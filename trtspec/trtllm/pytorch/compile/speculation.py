"""What ``speculative_config`` says for a recipe's method."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.trtllm.facts.llm_args import decoding_type
from trtspec.trtllm.pytorch.compile.by_method import OWN_KEYS
from trtspec.trtllm.pytorch.compile.features import penalty_settings, sampling_settings
from trtspec.trtllm.pytorch.compile.gate import gate_settings
from trtspec.trtllm.pytorch.compile.instead import no_method
from trtspec.trtllm.pytorch.compile.known import TYPE
from trtspec.trtllm.pytorch.compile.lengths import length_settings
from trtspec.trtllm.pytorch.compile.subject import Item, Subject
from trtspec.trtllm.pytorch.settings import Remark, Setting

_CLASSES = {
    "draft_target": "DraftTargetDecodingConfig",
    "mtp": "MTPDecodingConfig",
    "ngram": "NGramDecodingConfig",
    "suffix": "SADecodingConfig",
    "pard": "PARDDecodingConfig",
    "dflash": "DFlashDecodingConfig",
    "auto": "AutoDecodingConfig",
    "user": "UserProvidedDecodingConfig",
}
_EAGLE3 = ("Eagle3DecodingConfig", "EagleDecodingConfig")
"""The class that EAGLE-3 has now, and the one it had up to 1.2."""


def class_for(subject: Subject) -> str | None:
    """Name the class of ``speculative_config`` for a method; None if there is none."""
    method = subject.method.method
    names = _EAGLE3 if method == "eagle3" else (_CLASSES.get(method, ""),)
    return next((n for n in names if n and decoding_type(n, subject.version)), None)


def speculation_items(subject: Subject) -> Iterator[Item]:
    """Give the keys of ``speculative_config``, and what is to be said about them.

    Nothing for ``none``; for a drafter of the user's own remarks alone, since a Python
    object cannot stand in YAML.
    """
    method = subject.method.method
    class_name = class_for(subject)
    if method == "none":
        yield from _about_all(subject)
    elif class_name is None:
        yield no_method(subject)
    elif method == "user":
        yield _in_process_only()
        yield from _remarks_of(length_settings(subject, class_name))
        yield from _about_all(subject)
    else:
        spelled = decoding_type(class_name, subject.version)
        yield Setting(TYPE, spelled, _WHY_TYPE.get(method, "the method"))
        yield from OWN_KEYS[method](subject, class_name)
        yield from sampling_settings(subject)
        yield from _about_all(subject)


_WHY_TYPE = {
    "eagle3": "EAGLE-3",
    "draft_target": "a smaller model drafts",
    "mtp": "the target's own next-token heads draft",
    "ngram": "prompt lookup drafts",
    "suffix": "a suffix automaton drafts",
    "pard": "a parallel draft model",
    "dflash": "DFlash, a block drafter",
    "auto": "n-gram with TensorRT-LLM's own settings",
}


def _about_all(subject: Subject) -> Iterator[Item]:
    yield from penalty_settings(subject)
    yield from gate_settings(subject)


def _remarks_of(items: Iterator[Item]) -> Iterator[Remark]:
    return (item for item in items if isinstance(item, Remark))


def _in_process_only() -> Remark:
    return Remark(
        "user-drafter",
        "note",
        ("speculation", "drafter"),
        "the YAML has no speculative_config",
        "a drafter of your own is a Python object: trtspec hands it to "
        "tensorrt_llm.LLM in process, and trtllm-serve cannot have it",
        "use trtspec run, not trtspec serve",
    )
