"""Which command lines does ``trtllm-serve`` of a version take?"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, NoReturn

from packaging.version import Version

from trtspec.trtllm.facts import serve

USAGE = (
    "Usage: trtllm-serve serve [OPTIONS] MODEL\n"
    "Try 'trtllm-serve serve --help' for help.\n"
)


@dataclass(frozen=True)
class CommandLine:
    """What was asked for; flags by their first name, defaults left out."""

    model: str
    flags: dict[str, Any]

    def get(self, flag: str, default: Any = None) -> Any:
        return self.flags.get(flag, default)


def parse(argv: list[str], version: Version) -> CommandLine:
    """Take the words apart as click would; exit with 2 where they are wrong."""
    known = serve.serve_flags(version)
    names = {n: f for f in known.values() for n in (f.flag, *f.aliases)}
    words = argv[1:] if argv and argv[0] in serve.subcommands(version) else list(argv)
    flags: dict[str, Any] = {}
    models: list[str] = []
    while words:
        word = words.pop(0)
        if not word.startswith("-"):
            models.append(word)
            continue
        name, equals, value = word.partition("=")
        flag = names.get(name)
        if flag is None:
            refuse(f"No such option: {name}")
        if flag.kind == "switch":
            flags[flag.flag] = True
            continue
        if not equals:
            if not words:
                refuse(f"Option '{name}' requires an argument.")
            value = words.pop(0)
        flags[flag.flag] = _value(flag, name, value)
    if not models:
        refuse("Missing argument 'MODEL'.")
    if len(models) > 1:
        refuse(f"Got unexpected extra argument ({models[1]})")
    return CommandLine(models[0], flags)


def _value(flag: Any, name: str, text: str) -> Any:
    if flag.choices and text not in flag.choices:
        listed = ", ".join(map(repr, flag.choices))
        refuse(f"Invalid value for '{name}': {text!r} is not one of {listed}.")
    kinds = {"int": (int, "integer"), "float": (float, "float")}
    if flag.kind not in kinds:
        return text
    kind, called = kinds[flag.kind]
    try:
        return kind(text)
    except ValueError:
        refuse(f"Invalid value for '{name}': {text!r} is not a valid {called}.")


def refuse(message: str) -> NoReturn:
    sys.stderr.write(f"{USAGE}\nError: {message}\n")
    raise SystemExit(2)
