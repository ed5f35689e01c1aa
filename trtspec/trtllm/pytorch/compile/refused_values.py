"""Which values of a compiled recipe its version does not take."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.trtllm.facts.llm_args import TOP_LEVEL
from trtspec.trtllm.facts.value_faults import in_words
from trtspec.trtllm.pytorch.compile.known import SPECULATION, TYPE, key_of
from trtspec.trtllm.pytorch.compile.speculation import class_for
from trtspec.trtllm.pytorch.compile.subject import Item, Subject, blocking
from trtspec.trtllm.pytorch.compile.words import recipe_key
from trtspec.trtllm.pytorch.settings import Path, Remark, Setting

RULE = "value"


def without_refused(subject: Subject, settings: tuple[Setting, ...]) -> Iterator[Item]:
    """Give the settings that the version takes, and a blocking remark per other one."""
    return _accepted(subject, settings, TOP_LEVEL, ())


def _accepted(
    subject: Subject, settings: tuple[Setting, ...], class_name: str, path: Path
) -> Iterator[Item]:
    for setting in settings:
        here = (*path, setting.key)
        if setting.children:
            yield from _inside(subject, setting, class_name, here)
        elif refusal := _refusal(subject, setting, class_name, here):
            yield refusal
        else:
            yield setting


def _inside(
    subject: Subject, setting: Setting, class_name: str, path: Path
) -> Iterator[Item]:
    below = _below(subject, class_name, setting.key)
    items = list(_accepted(subject, setting.children, below, path))
    kept = tuple(item for item in items if isinstance(item, Setting))
    if kept:
        yield Setting(setting.key, kept, setting.why)
    yield from (item for item in items if isinstance(item, Remark))


def _below(subject: Subject, class_name: str, key: str) -> str:
    if class_name == TOP_LEVEL and key == SPECULATION:
        return class_for(subject) or ""
    found = key_of(key, class_name, subject.version) if class_name else None
    return found.section if found else ""


def _refusal(
    subject: Subject, setting: Setting, class_name: str, path: Path
) -> Remark | None:
    if not class_name or path == (SPECULATION, TYPE):
        return None
    found = key_of(setting.key, class_name, subject.version)
    fault = found.accepts(setting.value) if found else ""
    if found is None or not fault:
        return None
    return blocking(
        RULE,
        recipe_key(path),
        f"{'.'.join(path)} {fault}",
        f"TensorRT-LLM {subject.version} takes {in_words(found.type)}",
        "write what it takes, or leave it out",
        values={"key": ".".join(path), "version": str(subject.version)},
    )
