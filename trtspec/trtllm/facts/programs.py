"""Which flags the builder and the example scripts have, and where these lie."""

from __future__ import annotations

from functools import cache
from typing import Literal, get_args

from packaging.version import Version

from trtspec.trtllm.facts.presence import has_backend
from trtspec.trtllm.facts.read import document, entries, established
from trtspec.trtllm.facts.records import Flag, ScriptPath

Program = Literal[
    "trtllm-build", "llama", "qwen", "medusa", "eagle", "redrafter", "quantize"
]
PROGRAMS: tuple[Program, ...] = get_args(Program)
BUILDER: Program = "trtllm-build"


@cache
def all_flags(program: Program) -> tuple[Flag, ...]:
    """Every flag of a program in whatever version."""
    if program == BUILDER:
        return entries(document("trtllm_build.json")["flags"], Flag)
    return entries(document("scripts.json")[program]["flags"], Flag)


def flags(program: Program, version: Version) -> dict[str, Flag]:
    """The flags that a program is known to have in a version, by name.

    :param program: ``trtllm-build``, or an example script by the name of its family.
    :param version: the TensorRT-LLM version; without the backend there are no flags.
    """
    if not has_backend(version):
        return {}
    return {flag.flag: flag for flag in established(all_flags(program), version)}


@cache
def all_script_paths(program: Program) -> tuple[ScriptPath, ...]:
    """Every place that an example script has had; none for the builder."""
    if program == BUILDER:
        return ()
    return entries(document("scripts.json")[program]["paths"], ScriptPath)


def script_path(program: Program, version: Version) -> str | None:
    """Path of an example script inside the examples folder; None if there is none."""
    if not has_backend(version):
        return None
    found = established(all_script_paths(program), version)
    return found[0].path if found else None


@cache
def example_folders() -> tuple[ScriptPath, ...]:
    """Where NVIDIA's images keep the examples folder, as absolute paths."""
    return entries(document("scripts.json")["examples"]["folders"], ScriptPath)


@cache
def version_marks() -> tuple[ScriptPath, ...]:
    """Files that tell the version of an examples folder, relative to it."""
    return entries(document("scripts.json")["examples"]["version_marks"], ScriptPath)
