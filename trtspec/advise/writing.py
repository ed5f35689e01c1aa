"""How a recipe is written as YAML with comments, so that it loads back to the same."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trtspec.advise.recipe import Comments
from trtspec.recipe.dump import flow_text

_WIDEST = 88


def recipe_text(
    content: Mapping[str, Any], comments: Comments, header: Sequence[str]
) -> str:
    """Write a recipe.

    :param content: its keys; sections are maps.
    :param comments: by the path of a key; a long one goes above its key.
    :param header: paragraphs to begin with, as comments.
    """
    lines = [line for paragraph in header for line in _wrapped(paragraph, "")]
    for key, value in content.items():
        if key in ("target", "speculation", "limits", "sampling", "workload"):
            lines.append(_with_comment(f"{key}:", _one_line(comments.get((key,), ""))))
            for name, inner in value.items():
                lines += _entry(name, inner, comments.get((key, name), ""), "  ")
        else:
            lines += _entry(key, value, comments.get((key,), ""), "")
    return "\n".join(lines) + "\n"


def _entry(key: str, value: object, comment: str, indent: str) -> Iterator[str]:
    comment = _one_line(comment)
    line = f"{indent}{key}: {flow_text(value)}"
    short = _with_comment(line, comment)
    if len(short) <= _WIDEST or not comment:
        yield short
        return
    yield from _wrapped(comment, indent)
    yield line


def _with_comment(line: str, comment: str) -> str:
    return f"{line} # {comment}" if comment else line


def _wrapped(comment: str, indent: str) -> list[str]:
    start = f"{indent}# "
    return textwrap.wrap(
        _one_line(comment),
        _WIDEST,
        initial_indent=start,
        subsequent_indent=start,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _one_line(text: str) -> str:
    """Leave out what would end a comment: YAML knows more line breaks than one."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
