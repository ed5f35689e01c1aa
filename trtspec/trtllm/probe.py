"""What of TensorRT-LLM is on this machine, by looking: nothing is imported or run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as metadata_version
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

from packaging.version import InvalidVersion, Version

from trtspec.errors import UsageError
from trtspec.gpus import find_gpus
from trtspec.trtllm.examples import (
    IMAGE_FOLDER,
    OPTION,
    VARIABLE,
    Examples,
    find_examples,
)
from trtspec.trtllm.installation import Absence, Installation, Part
from trtspec.trtllm.programs import NOT_INSTALLED, find_builder, find_server

PACKAGE = "tensorrt_llm"
CUDA_FILE = Path("/usr/local/cuda/version.json")
TENSORRT_PACKAGES = ("tensorrt", "tensorrt_cu13", "tensorrt_cu12")
CUDA_PACKAGES = (
    "nvidia-cuda-runtime",
    "nvidia-cuda-runtime-cu13",
    "nvidia-cuda-runtime-cu12",
)

_VERSION = re.compile(r"^__version__\s*=\s*[\"']([^\"']+)[\"']", re.M)
_BINDINGS = (
    "bindings*.so",
    "bindings/executor*.so",
    "bindings/executor.py",
    "bindings/executor/__init__.py",
)
"""A stub (.pyi) says what the bindings have, not that they are there."""

FoundT = TypeVar("FoundT")


@dataclass
class _Look:
    """Collects, of each part that is looked for, why it is not there."""

    absences: list[Absence] = field(default_factory=list)

    def at(self, part: Part, found: tuple[FoundT, str]) -> FoundT:
        value, why = found
        if why:
            self.absences.append(Absence(part, why))
        return value


def probe(examples: Path | None = None) -> Installation:
    """Look for TensorRT-LLM and all it needs; what is not there becomes an absence.

    :param examples: folder of the example scripts, as ``find_examples`` takes it.
    :raises UsageError: ``examples`` is given and holds no example scripts.
    """
    look = _Look()
    package = look.at("package", _package())
    version = look.at("version", _version(package))
    gpus, no_gpus = find_gpus()
    return Installation(
        version=version,
        package=package,
        tensorrt=look.at("tensorrt", _metadata(TENSORRT_PACKAGES)),
        builder=look.at("builder", find_builder(package)),
        executor=look.at("executor", _executor(package)),
        server=look.at("server", find_server(package)),
        worker=look.at("worker", _file(package, "bin/executorWorker")),
        examples=look.at("examples", _examples(examples, version)),
        cuda=look.at("cuda", _cuda()),
        driver=gpus[0].driver if gpus else None,
        gpus=look.at("gpus", (gpus, no_gpus or "")),
        absences=(*look.absences, *_no_runtime(package)),
    )


def _package() -> tuple[Path | None, str]:
    try:
        spec = find_spec(PACKAGE)
    except (ImportError, ValueError) as error:
        return None, f"Python cannot look for {PACKAGE}: {error}"
    folders = list(spec.submodule_search_locations or ()) if spec else []
    if not folders:
        return None, f"no package {PACKAGE} for this Python"
    folder = Path(folders[0])
    if not (folder / "__init__.py").is_file():
        return None, f"{folder} is no package: it has no __init__.py"
    return folder, ""


def _version(package: Path | None) -> tuple[Version | None, str]:
    """Read ``version.py`` as text; the installer's record where that says nothing."""
    if package is None:
        return None, NOT_INSTALLED
    try:
        text = (package / "version.py").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    found = _VERSION.search(text)
    number = found[1] if found else _metadata((PACKAGE,))[0]
    if number is None:
        return None, f"neither {package / 'version.py'} nor its metadata name one"
    try:
        return Version(number), ""
    except InvalidVersion:
        return None, f"{number!r} in {package / 'version.py'} is no version number"


def _executor(package: Path | None) -> tuple[bool, str]:
    if package is None:
        return False, NOT_INSTALLED
    if any(next(package.glob(pattern), None) for pattern in _BINDINGS):
        return True, ""
    return False, f"{package} has no compiled bindings, as if it were sources only"


def _file(package: Path | None, name: str) -> tuple[Path | None, str]:
    if package is None:
        return None, NOT_INSTALLED
    path = package / name
    return (path, "") if path.is_file() else (None, f"there is no {path}")


def _no_runtime(package: Path | None) -> Iterable[Absence]:
    """Say whether the package's own runner of engines is missing; ours needs it not."""
    _, why = _file(package, "runtime/model_runner_cpp.py")
    return (Absence("runtime", why),) if package and why else ()


def _examples(
    explicit: Path | None, version: Version | None
) -> tuple[Examples | None, str]:
    try:
        found = find_examples(explicit, version)
    except UsageError as error:
        if explicit is not None:
            raise
        return None, f"{error.problems[0].where}: {error.problems[0].what}"
    if found is None:
        return None, f"no {OPTION}, no ${VARIABLE}, no scripts in {IMAGE_FOLDER}"
    return found, ""


def _metadata(packages: Sequence[str]) -> tuple[str | None, str]:
    """Give the version of the first of some packages that is installed."""
    for name in packages:
        try:
            return metadata_version(name), ""
        except PackageNotFoundError:
            continue
    return None, f"no package {packages[0]} for this Python"


def _cuda() -> tuple[str | None, str]:
    packaged, why = _metadata(CUDA_PACKAGES)
    if packaged:
        return packaged, ""
    try:
        content = json.loads(CUDA_FILE.read_text(encoding="utf-8"))
        return str(content["cuda"]["version"]), ""
    except FileNotFoundError:
        return None, f"{why}, and no {CUDA_FILE}"
    except (OSError, ValueError, KeyError, TypeError) as error:
        return None, f"{why}, and {CUDA_FILE} cannot be read: {error}"
