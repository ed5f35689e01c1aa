"""How a configuration is written as YAML, with a word on every line why it is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from trtspec.recipe.dump import flow_text
from trtspec.trtllm.pytorch.settings import LlmArgs, Setting

_WIDEST = 100
"""Columns; a comment that would not fit stands above its line."""
_COMMENT_AT = 44
"""Column that comments begin at, unless the line is longer."""
_INDENT = "  "


def render(args: LlmArgs, heading: Sequence[str] = ()) -> str:
    """Write a configuration as YAML.

    :param heading: lines of a comment at the top, without the number sign.
    """
    lines = [f"# {line}".rstrip() for line in heading]
    lines += list(_lines(args.settings, ""))
    return "\n".join(lines) + "\n"


def _lines(settings: Iterable[Setting], indent: str) -> Iterator[str]:
    for setting in settings:
        if setting.children:
            yield from _with_why(f"{indent}{setting.key}:", setting.why)
            yield from _lines(setting.children, indent + _INDENT)
        else:
            text = f"{indent}{setting.key}: {flow_text(_plain(setting.value))}"
            yield from _with_why(text, setting.why)


def _with_why(text: str, why: str) -> Iterator[str]:
    if not why:
        yield text
        return
    beside = f"{text:<{_COMMENT_AT}}  # {why}"
    if len(beside) <= _WIDEST:
        yield beside
        return
    indent = text[: len(text) - len(text.lstrip())]
    yield f"{indent}# {why}"
    yield text


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(held) for key, held in value.items()}
    if isinstance(value, tuple | list):
        return tuple(_plain(held) for held in value)
    return value
