"""How a tokenizer is set up: its special tokens, and how a chat is written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from trtspec.models.gguf_settings import gguf_settings
from trtspec.models.json_file import read_json_object
from trtspec.models.token_list import listed_tokens

TEMPLATE = "chat_template"
START = "start of a text"
ENDS = "end tokens"
NOT_SET = "none"
_NAMED = ("bos_token", "eos_token", "pad_token", "unk_token")
_CONFIG, _MAP = "tokenizer_config.json", "special_tokens_map.json"
_GENERATION = ("generation_config.json", "config.json")


class SettingDifference(NamedTuple):
    """One setting that two checkpoints have otherwise.

    :param name: key of ``tokenizer_config.json``, ``START`` (what encoding puts before
        a text) or ``ENDS`` (ids that end an answer).
    :param ours: its value in words; of chat templates the first line that differs.
    """

    name: str
    ours: str
    theirs: str


def compare_settings(ours: Path, theirs: Path) -> tuple[SettingDifference, ...]:
    """Compare special tokens, chat template and end tokens of two checkpoints.

    Only what both tell is compared: many checkpoints have no such files.

    :raises UsageError: if a file is damaged.
    """
    a, b = read_settings(ours), read_settings(theirs)
    plain = [
        SettingDifference(name, a[name], b[name])
        for name in a
        if name in b and name != TEMPLATE and a[name] != b[name]
    ]
    plain += [d for d in _ends_of_both(ours, theirs) if d.ours != d.theirs]
    if TEMPLATE in a and TEMPLATE in b and a[TEMPLATE] != b[TEMPLATE]:
        plain.append(_first_line(a[TEMPLATE], b[TEMPLATE]))
    return tuple(plain)


def common_settings(ours: Path, theirs: Path) -> tuple[str, ...]:
    """Name the settings that two checkpoints both tell, whether they differ or not.

    :raises UsageError: if a file is damaged.
    """
    a, b = read_settings(ours), read_settings(theirs)
    both = [name for name in a if name in b]
    return (*both, *(each.name for each in _ends_of_both(ours, theirs)))


def read_settings(directory: Path) -> dict[str, str]:
    """Give name → value of all settings but end tokens that a checkpoint tells.

    :raises UsageError: if a file is damaged.
    """
    config = _object(directory / _CONFIG)
    special = _object(directory / _MAP)
    found: dict[str, str] = {}
    if config is not None or special is not None:
        whole = {**(special or {}), **(config or {})}
        found |= {name: _token(whole.get(name)) for name in _NAMED}
    elif (stored := gguf_settings(directory)) is not None:
        found |= stored.tokens
        if stored.start is not None:
            found[START] = stored.start or NOT_SET
    if (start := _start(directory, config or {})) is not None:
        found[START] = start
    if (template := chat_template(directory)) is not None:
        found[TEMPLATE] = template
    return found


def chat_template(directory: Path) -> str | None:
    """Give the template that a chat is written with; empty if there is none.

    A file of its own goes before what ``tokenizer_config.json`` says.

    :returns: None if no file says whether there is one.
    :raises UsageError: if a file is damaged.
    """
    file = directory / "chat_template.jinja"
    if file.is_file():
        return file.read_text(encoding="utf-8", errors="replace").strip()
    for name in ("chat_template.json", _CONFIG):
        if (content := _object(directory / name)) is None:
            continue
        template = content.get(TEMPLATE)
        if isinstance(template, list):  # [{"name": "default", "template": ...}, ...]
            named = [each for each in template if isinstance(each, dict)]
            chosen = [each for each in named if each.get("name") == "default"]
            template = (chosen or named or [{}])[0].get("template")
        if isinstance(template, str) or name == _CONFIG:
            return template.strip() if isinstance(template, str) else ""
    stored = gguf_settings(directory)
    return None if stored is None else stored.template


def _start(directory: Path, config: Mapping[str, Any]) -> str | None:
    """Say what encoding puts before a text; None if nothing tells."""
    listed = listed_tokens(directory)
    if listed is not None and listed.start:
        return " ".join(listed.start)
    if isinstance(adds := config.get("add_bos_token"), bool):
        return _token(config.get("bos_token")) if adds else NOT_SET
    return None if listed is None or listed.start is None else NOT_SET


def _ends_of_both(ours: Path, theirs: Path) -> list[SettingDifference]:
    """Give the ids that end an answer, by the first file that both tell them in.

    A configuration alone often names one of the several that a generation has, and a
    GGUF has one alone: beside another format it agrees if that one is among the ids.
    """
    for name in _GENERATION:
        a, b = _ends(ours / name), _ends(theirs / name)
        if a and b:
            return [SettingDifference(ENDS, a, b)]
    sides = [_any_ends(ours), _any_ends(theirs)]
    if not all(ends for ends, _ in sides):
        return []
    (a, a_is_gguf), (b, b_is_gguf) = sides
    agree = a_is_gguf != b_is_gguf and set(a.split(", ")) & set(b.split(", "))
    return [SettingDifference(ENDS, a, a if agree else b)]


def _any_ends(directory: Path) -> tuple[str, bool]:
    """Give the ids that end an answer by any file, and whether that is a GGUF."""
    for name in _GENERATION:
        if ends := _ends(directory / name):
            return ends, False
    stored = gguf_settings(directory)
    return ("" if stored is None else stored.end), True


def _ends(path: Path) -> str:
    """Give the ids that end an answer; empty if the file tells none."""
    ids = (_object(path) or {}).get("eos_token_id")
    found = ids if isinstance(ids, list) else [ids]
    if found and all(type(each) is int for each in found):
        return ", ".join(map(str, sorted(set(found))))
    return ""


def _first_line(ours: str, theirs: str) -> SettingDifference:
    """Show the first line that two templates have otherwise."""
    a, b = ours.splitlines(), theirs.splitlines()
    same = 0
    while same < min(len(a), len(b)) and a[same] == b[same]:
        same += 1
    shown = (lines[same].strip() if same < len(lines) else NOT_SET for lines in (a, b))
    return SettingDifference(f"{TEMPLATE}, line {same + 1}", *shown)


def _token(value: object) -> str:
    """Tokens are strings, or objects with the string as ``content``."""
    content = value.get("content") if isinstance(value, dict) else value
    return content if isinstance(content, str) else NOT_SET


def _object(path: Path) -> dict[str, Any] | None:
    return read_json_object(path) if path.is_file() else None
