"""Whose configuration a file is: TensorRT-LLM's, vLLM's or SGLang's, read as a map."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from trtspec.errors import Problem, UsageError
from trtspec.recipe.text import decode, open_file
from trtspec.recipe.yaml_lines import parse_yaml

Kind = Literal["trtllm", "vllm", "sglang"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MAX_BYTES = 1 << 20

_SGLANG_MARKS = ("sglang", "launch_server")
_VLLM_MARKS = ("vllm",)
_VLLM_KEYS = (
    *("num_speculative_tokens", "rejection_sample_method", "prompt_lookup_max"),
    *("speculative_model", "disable_by_batch_size", "acceptance_method"),
)
_FORMS = (
    "an LLM-API YAML of TensorRT-LLM, a speculative_config of vLLM as JSON, or a "
    "command line or dump of arguments of SGLang"
)


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a server is started with.

    :param settings: its keys; flags without dashes and with underscores.
    :param environment: variables that a command line sets before its program.
    :param source: the file it came from.
    """

    kind: Kind
    settings: Mapping[str, Any]
    environment: Mapping[str, str]
    source: str


def read_configuration(path: Path, kind: Kind | None = None) -> Configuration:
    """Read a server's configuration; what it is is told by its keys unless given.

    :raises UsageError: if it cannot be read, or whose it is cannot be told.
    """
    try:
        with open_file(path) as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"cannot be read: {error}", where=str(path)) from error
    if len(data) > MAX_BYTES:
        raise UsageError("is too large for a configuration", where=str(path))
    text = decode(data, str(path))
    if isinstance(text, Problem):
        raise UsageError.from_problems([text])
    return configuration(text, str(path), kind)


def configuration(text: str, source: str, kind: Kind | None = None) -> Configuration:
    """Tell whose configuration a text is.

    :raises UsageError: if that cannot be told.
    """
    command = _command(text)
    if command is not None:
        return _by_command(command, source, kind)
    found = _mapping(text, source)
    return Configuration(kind or _kind_of(found, source), found, {}, source)


def _mapping(text: str, source: str) -> dict[str, Any]:
    if text.lstrip().startswith("{"):
        try:
            parsed = json.loads(text)
        except (ValueError, RecursionError):
            parsed = None
        if isinstance(parsed, dict):
            return parsed
    document = parse_yaml(text, source)
    if document.problems:
        raise UsageError.from_problems(document.problems)
    if not isinstance(document.value, dict):
        raise UsageError("holds no map of settings", where=source, allowed=_FORMS)
    return {str(key): value for key, value in document.value.items()}


def _kind_of(settings: Mapping[str, Any], source: str) -> Kind:
    """Tell whose keys these are.

    :raises UsageError: if they could be several's, or nobody's.
    """
    spec = settings.get("speculative_config", settings.get("speculative-config"))
    if isinstance(spec, str) and spec.lstrip().startswith("{"):
        spec = json.loads(spec) if _is_json(spec) else spec
    inner = spec if isinstance(spec, Mapping) else settings
    if "decoding_type" in inner:
        return "trtllm"
    if any(key in inner for key in _VLLM_KEYS) or (
        spec is not None and "method" in inner
    ):
        return "vllm"
    plain = [str(key).lstrip("-").replace("-", "_") for key in settings]
    ours = any(key.startswith(("speculative_", "sglang")) for key in plain)
    if ours and "speculative_config" not in plain:
        return "sglang"
    raise UsageError(
        "it cannot be told whose configuration this is",
        where=source,
        allowed=_FORMS,
        action=f"say which: {', '.join(KINDS)}",
    )


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _command(text: str) -> Sequence[str] | None:
    """Give the words of a command line; None if the text is none."""
    lines = [line.strip() for line in text.splitlines()]
    kept = [line for line in lines if line and not line.startswith("#")]
    if not kept or kept[0].startswith(("{", "[")):
        return None
    joined = " ".join(line.removesuffix("\\").strip() for line in kept)
    try:
        words = shlex.split(joined)
    except ValueError:
        return None
    return words if any(word.startswith("--") for word in words) else None


def _by_command(words: Sequence[str], source: str, kind: Kind | None) -> Configuration:
    variables = dict(_variables(words))
    settings = dict(_flags(words))
    if kind is None:
        line = " ".join(words)
        if any(mark in line for mark in _SGLANG_MARKS):
            kind = "sglang"
        elif any(mark in line for mark in _VLLM_MARKS):
            kind = "vllm"
        else:
            kind = _kind_of(settings, source)
    if kind == "trtllm":
        raise UsageError(
            "trtllm-serve has no flag for speculation: it stands in a YAML file",
            where=source,
            action="give that file, the one of --config or --extra_llm_api_options",
        )
    return Configuration(kind, settings, variables, source)


def _variables(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Give ``NAME=value`` words before the program, also behind env or export."""
    for word in words:
        name, equals, value = word.partition("=")
        if equals and name.isidentifier():
            yield name, value
        elif word not in ("env", "export", "-e"):
            return


def _flags(words: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Give flags with their values; one without a value is true."""
    for place, word in enumerate(words):
        if not word.startswith("--"):
            continue
        name, equals, value = word[2:].partition("=")
        name = name.replace("-", "_")
        following = words[place + 1] if place + 1 < len(words) else "--"
        if equals:
            yield name, value
        else:
            yield name, True if following.startswith("--") else following
