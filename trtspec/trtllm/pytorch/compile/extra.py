"""What a recipe's ``pytorch.llm_args`` adds: keys that trtspec has no words for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, cast

from trtspec.trtllm.facts.llm_args import SECTIONS, TOP_LEVEL, keys
from trtspec.trtllm.facts.stale_keys import stale_key, versions_with
from trtspec.trtllm.facts.value_faults import in_words
from trtspec.trtllm.pytorch.compile.beside import beside_speculation
from trtspec.trtllm.pytorch.compile.known import (
    SPECULATION,
    is_deprecated,
    meant,
)
from trtspec.trtllm.pytorch.compile.speculation import class_for
from trtspec.trtllm.pytorch.compile.subject import Item, Subject, blocking
from trtspec.trtllm.pytorch.compile.words import word_for
from trtspec.trtllm.pytorch.settings import Leaf, Path, Remark, Setting

RULE = "llm-args"
KEY = ("pytorch", "llm_args")
WHY = "asked for in pytorch.llm_args"


def merged(subject: Subject, settings: tuple[Setting, ...]) -> Iterator[Item]:
    """Give the settings with the recipe's own keys among them.

    A key that trtspec writes, or has a word for, is refused: two places must not say
    different things.
    """
    extra = subject.options.llm_args
    yield from _merged(subject, settings, extra, TOP_LEVEL, ())


def _merged(
    subject: Subject,
    settings: tuple[Setting, ...],
    extra: Mapping[str, Any],
    class_name: str | None,
    path: Path,
) -> Iterator[Item]:
    left = dict(extra)
    for setting in settings:
        added = left.get(setting.key)
        if setting.children and isinstance(added, Mapping):
            del left[setting.key]
            yield from _into_map(subject, setting, added, class_name, path)
        else:
            yield setting
    written = {setting.key for setting in settings}
    for key, value in left.items():
        here = (*path, str(key))
        if refusal := _refusal(subject, class_name, here, value, key in written):
            yield refusal
        else:
            yield from _added(subject, here, value, class_name)


def _into_map(
    subject: Subject,
    setting: Setting,
    added: Mapping[str, Any],
    class_name: str | None,
    path: Path,
) -> Iterator[Item]:
    below = _below(subject, class_name, setting.key)
    here = (*path, setting.key)
    items = list(_merged(subject, setting.children, added, below, here))
    yield Setting(setting.key, tuple(i for i in items if isinstance(i, Setting)))
    yield from (item for item in items if isinstance(item, Remark))


def _added(
    subject: Subject, path: Path, value: Any, class_name: str | None
) -> Iterator[Item]:
    key = path[-1]
    if isinstance(value, Mapping) and value and all(isinstance(k, str) for k in value):
        below = _below(subject, class_name, key)
        items = list(_merged(subject, (), value, below, path))
        children = tuple(item for item in items if isinstance(item, Setting))
        yield from (item for item in items if isinstance(item, Remark))
        if children:
            yield Setting(key, children)
        return
    plain = tuple(value) if isinstance(value, list) else value
    yield Setting(key, cast(Leaf, plain), WHY)


def _below(subject: Subject, class_name: str | None, key: str) -> str | None:
    if class_name == TOP_LEVEL:
        return class_for(subject) if key == SPECULATION else SECTIONS.get(key)
    return None


def _refusal(
    subject: Subject, class_name: str | None, path: Path, value: Any, written: bool
) -> Remark | None:
    name, off = ".".join(path), subject.shape == "none"
    where = (*KEY, *path)
    if path == (SPECULATION,) and not written:
        why = f"method {subject.method.method} has none in the YAML"
        what = f"{name} has no effect" if off else f"{name} cannot be given alone"
        severity: Literal["note", "blocking"] = "note" if off else "blocking"
        action = "write the section speculation"
        return Remark(RULE, severity, where, what, why, action, values={"key": name})
    if beside := beside_speculation(subject, path, value):
        return beside
    if word := word_for(path):
        what = f"{name} is trtspec's to write"
        why = "two places must not say different things"
        return _blocked(path, what, why, f"delete it; {word}")
    if written:
        what = f"{name} is written already"
        why = "two places must not say different things"
        return _blocked(path, what, why, "delete it from pytorch.llm_args")
    if class_name is None:
        return None
    return _unfit(subject, class_name, path, value)


def _unfit(subject: Subject, class_name: str, path: Path, value: Any) -> Remark | None:
    known = keys(class_name, subject.version)
    name, found = ".".join(path), known.get(path[-1])
    if found is None:
        return _unknown(subject, class_name, path, meant(path[-1], known))
    if is_deprecated(found, subject.version):
        what = f"{name} is deprecated in TensorRT-LLM {subject.version}"
        why = found.note or "a later release refuses it"
        return _blocked(path, what, why, "delete it")
    if fault := found.accepts(value):
        takes = filter(None, (in_words(found.type), found.constraint))
        why = f"it takes {'; '.join(takes)}"
        return _blocked(path, f"{name} {fault}", why, "correct it")
    return None


def _unknown(subject: Subject, class_name: str, path: Path, near: str | None) -> Remark:
    """Say that a version has no such key, and who has it or what to write instead."""
    name, stale = ".".join(path), stale_key(path)
    why = "it refuses unknown keys"
    action = f"did you mean {near}?" if near else "delete it"
    if elsewhere := versions_with(class_name, path[-1]):
        why += f"; {name} is one of TensorRT-LLM {' or '.join(elsewhere)}"
        action = "delete it, or take such a version"
    if stale is not None:
        action = stale.instead
    what = f"TensorRT-LLM {subject.version} has no key {name}"
    return _blocked(path, what, why, action)


def _blocked(path: Path, what: str, why: str, action: str) -> Remark:
    values = {"key": ".".join(path)}
    return blocking(RULE, (*KEY, *path), what, why, action, values=values)
