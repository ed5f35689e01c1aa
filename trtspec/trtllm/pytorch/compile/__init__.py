"""What a recipe becomes as the LLM API's YAML, for one version of TensorRT-LLM.

``speculation`` gives the map under ``speculative_config``, ``serving`` the rest; both
go by the version's facts. ``document`` writes the YAML, ``validate`` judges any YAML.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from packaging.version import Version

from trtspec.models import ModelInfo
from trtspec.recipe import Recipe
from trtspec.trtllm.facts.families import family_of, family_ranges, why_no_family
from trtspec.trtllm.pytorch.compile.extra import merged
from trtspec.trtllm.pytorch.compile.known import SPECULATION, unknown_keys
from trtspec.trtllm.pytorch.compile.refused_values import without_refused
from trtspec.trtllm.pytorch.compile.serving import serving_items
from trtspec.trtllm.pytorch.compile.speculation import speculation_items
from trtspec.trtllm.pytorch.compile.subject import Item, Subject
from trtspec.trtllm.pytorch.settings import Compiled, LlmArgs, Remark, Setting

__all__ = ["compile_args"]


def compile_args(
    recipe: Recipe, version: Version, target: ModelInfo | None = None
) -> Compiled:
    """Turn a recipe into a configuration for one version.

    What the version cannot express is left out, with a blocking remark. The drafter is
    the folder ``draft``; the target is an argument of the command, not a key.

    :param recipe: one of backend pytorch.
    :param version: of TensorRT-LLM.
    :param target: what is known of the target's checkpoint; None if nothing is.
    """
    family = family_of(version)
    if family is None:
        return Compiled(LlmArgs(version, ()), (_no_family(version),))
    subject = Subject(recipe, version, family, target)
    items = list(_items(subject))
    settings = _settings(items)
    accepted = list(without_refused(subject, settings))
    items = [*_remarks([*items, *accepted]), *merged(subject, _settings(accepted))]
    args = LlmArgs(version, _settings(items))
    unknown = list(unknown_keys(args))
    assert not unknown, f"{unknown} are no keys of TensorRT-LLM {version}"
    return Compiled(args, tuple(_remarks(items)))


def _items(subject: Subject) -> Iterator[Item]:
    items = list(speculation_items(subject))
    if settings := _settings(items):
        yield Setting(SPECULATION, settings)
    yield from _remarks(items)
    yield from serving_items(subject)


def _settings(items: Iterable[Item]) -> tuple[Setting, ...]:
    return tuple(item for item in items if isinstance(item, Setting))


def _remarks(items: Iterable[Item]) -> Iterator[Remark]:
    return (item for item in items if isinstance(item, Remark))


def _no_family(version: Version) -> Remark:
    return Remark(
        "family",
        "blocking",
        ("backend",),
        f"TensorRT-LLM {version} belongs to no release family that trtspec writes for",
        why_no_family(version),
        f"take one of {'; '.join(family_ranges().values())}",
    )
