"""What do the generated executables contain? One ``add_argument`` for each flag."""

from __future__ import annotations

import sys
from pathlib import Path

from packaging.version import Version

from trtspec.trtllm import facts
from trtspec.trtllm.facts import Flag

REPOSITORY = Path(__file__).resolve().parents[2]
TYPES = {"int": "int", "float": "float", "str": "str", "list": "str", "choice": "str"}


def program_text(program: str, version: str, root: Path) -> str:
    """Text of an executable that takes exactly the flags of one version."""
    flags = facts.flags(program, Version(version))
    lines = [
        f"#!{sys.executable}",
        f'"""Stand-in of {program} as of TensorRT-LLM {version}."""',
        "import argparse",
        "import sys",
        "",
        f"sys.path.insert(0, {str(REPOSITORY)!r})",
        "from tests.standins.program import run",
        "",
        "parser = argparse.ArgumentParser(allow_abbrev=False)",
        *(_argument(flag) for flag in flags.values()),
        f"sys.exit(run({program!r}, {version!r}, {str(root)!r}, parser))",
    ]
    return "\n".join(lines) + "\n"


def _argument(flag: Flag) -> str:
    names = ", ".join(f'"{name}"' for name in (flag.flag, *flag.aliases))
    parts = [names]
    if flag.kind == "switch":
        parts.append('action="store_true"')
    else:
        parts += _value(flag)
    if flag.required:
        parts.append("required=True")
    return f"parser.add_argument({', '.join(parts)})"


def _value(flag: Flag) -> list[str]:
    choices: list[object] = list(flag.choices or ())
    kind, default = TYPES[flag.kind], flag.default
    if choices and all(str(choice).isdigit() for choice in choices):
        kind, choices = "int", [int(str(choice)) for choice in choices]
        default = None if default is None else int(default)
    parts = [f"type={kind}", f"default={default!r}"]
    if choices:
        parts.append(f"choices={choices!r}")
    if flag.kind == "list":
        parts.append('nargs="+"')
    return parts
