"""Where TensorRT-LLM's example scripts are, of which version, with which flags.

The scripts that convert and quantize checkpoints are no part of the wheel: they are in
NVIDIA's release image, or in a clone of the sources.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.version import InvalidVersion, Version

from trtspec.errors import BackendUnavailableError, UsageError
from trtspec.files import sha256_file
from trtspec.trtllm.facts import PROGRAMS, Program, all_script_paths, script_path

OPTION = "--examples"
VARIABLE = "TRTSPEC_TRTLLM_EXAMPLES"
IMAGE_FOLDER = Path("/app/tensorrt_llm/examples")
TRITON_FOLDER = Path("/app/examples")
IMAGE = "NVIDIA's release image"
TRITON = "NVIDIA's Triton image"
REPOSITORY = "https://github.com/NVIDIA/TensorRT-LLM"

_PINNED = re.compile(r"^\s*tensorrt[_-]llm\s*==\s*([^\s;#,]+)", re.M)
_DEFINED = re.compile(r"^__version__\s*=\s*[\"']([^\"']+)[\"']", re.M)


@dataclass(frozen=True, slots=True)
class Examples:
    """A folder of example scripts.

    :param root: the folder, absolute.
    :param version: the TensorRT-LLM version that its files name; None if none does.
    :param told_by: how the folder was told: option, variable or NVIDIA's image.
    :param version_file: the file that names the version, relative to ``root``.
    :param assumed: the folder was not looked at.
    """

    root: Path
    version: str | None = None
    told_by: str = OPTION
    version_file: str = ""
    assumed: bool = False

    def script(self, program: Program, version: Version) -> Path:
        """Give the absolute path of a script as a version lays the folder out.

        :raises BackendUnavailableError: the version has no such script, or the folder
            does not hold it.
        """
        relative = script_path(program, version)
        if relative is None:
            raise BackendUnavailableError(
                f"TensorRT-LLM {version} has no example script for {program}"
            )
        path = self.root / relative
        if self.assumed or path.is_file():
            return path
        raise BackendUnavailableError(
            f"{relative} is missing{self._other_layout(program)}",
            where=f"{self.root} ({self.told_by})",
            allowed=f"the layout of TensorRT-LLM {version}, with {relative}",
            action=remedy(version),
        )

    def _other_layout(self, program: Program) -> str:
        """Name the place that the script has in other versions, if it is there."""
        there = [
            f"; the folder has {known.path}, as versions {known.versions} do"
            for known in all_script_paths(program)
            if (self.root / known.path).is_file()
        ]
        return "".join(there[:1])


def assumed_examples() -> Examples:
    """The folder that NVIDIA's release image has, not looked at."""
    return Examples(IMAGE_FOLDER, told_by=IMAGE, assumed=True)


def find_examples(explicit: Path | None, version: Version | None) -> Examples | None:
    """Find the example scripts: as told, else in NVIDIA's image; None if nowhere.

    :param explicit: the folder, or the clone that has it; goes before the variable
        ``TRTSPEC_TRTLLM_EXAMPLES``.
    :param version: of TensorRT-LLM, for the remedy in the message.
    :raises UsageError: the folder that was told holds no example scripts.
    """
    variable = os.environ.get(VARIABLE, "")
    if explicit is not None:
        return _told(explicit, OPTION, version)
    if variable:
        return _told(Path(variable).expanduser(), f"${VARIABLE}", version)
    images = ((IMAGE_FOLDER, IMAGE), (TRITON_FOLDER, TRITON))
    found = ((folder, told) for folder, told in images if _holds_scripts(folder))
    return next((_read(folder, told) for folder, told in found), None)


def _told(folder: Path, told_by: str, version: Version | None) -> Examples:
    folder = Path(os.path.abspath(folder))  # links stay as they were told
    root = next(filter(_holds_scripts, (folder, folder / "examples")), None)
    if root is not None:
        return _read(root, told_by)
    has_none = "holds no example scripts of TensorRT-LLM"
    raise UsageError(
        f"{folder} {has_none if folder.is_dir() else 'is no folder'}",
        where=told_by,
        allowed="a folder with quantization/quantize.py, llama/convert_checkpoint.py "
        "or models/core/llama/convert_checkpoint.py",
        action=remedy(version),
    )


def _holds_scripts(folder: Path) -> bool:
    return any((folder / path).is_file() for path in _script_paths())


def _script_paths() -> Iterator[str]:
    for program in PROGRAMS:
        yield from (known.path for known in all_script_paths(program))


def _read(root: Path, told_by: str) -> Examples:
    requirements = {str(Path(p).parent / "requirements.txt") for p in _script_paths()}
    pinned = ["constraints.txt", "requirements.txt", *sorted(requirements)]
    named = [(name, _PINNED) for name in pinned]
    named.insert(1, (str(Path("..", "tensorrt_llm", "version.py")), _DEFINED))
    for name, pattern in named:
        if version := _version_in(root / name, pattern):
            return Examples(root, version, told_by, name)
    return Examples(root, None, told_by)


def _version_in(file: Path, pattern: re.Pattern[str]) -> str | None:
    try:
        found = pattern.search(file.read_text(encoding="utf-8", errors="replace"))
        return str(Version(found[1])) if found else None
    except (OSError, InvalidVersion):
        return None


def remedy(version: Version | None) -> str:
    """Say how to get the example scripts of a version."""
    tag = f"v{version.public}" if version else "v<the installed version>"
    return (
        f"git clone --branch {tag} --depth 1 {REPOSITORY}, then give its examples "
        f"folder by {OPTION} or ${VARIABLE}"
    )


def version_fault(examples: Examples, version: Version) -> str:
    """Say how the scripts' version differs from the installed one; empty if it fits.

    Post-releases and local parts do not count. Scripts that name no version cannot be
    compared; that is no fault.
    """
    if examples.version is None:
        return ""
    theirs = Version(examples.version)
    if _core(theirs) == _core(version):
        return ""
    return (
        f"the example scripts in {examples.root} are of TensorRT-LLM {theirs} "
        f"({examples.version_file}), not {version}"
    )


def _core(version: Version) -> tuple[Version, tuple[str, int] | None]:
    return Version(version.base_version), version.pre


def script_flags(path: Path) -> frozenset[str]:
    """Flags that a script defines by ``add_argument``, aliases included; not run.

    :raises UsageError: the file cannot be read, or is no Python.
    """
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError) as error:
        raise UsageError(
            f"the script's flags cannot be read: {error}", where=str(path)
        ) from None
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return frozenset(flag for call in calls for flag in _defined_flags(call))


def _defined_flags(call: ast.Call) -> Iterator[str]:
    if isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument":
        for word in call.args:
            if isinstance(word, ast.Constant) and isinstance(word.value, str):
                yield from [word.value] if word.value.startswith("-") else []


def script_sha256(path: Path) -> str:
    """Hash a script, as part of what decides what it makes; 64 hexadecimal digits."""
    return sha256_file(path)
