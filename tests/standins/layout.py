"""Which files does an installation of a version consist of?"""

from __future__ import annotations

from pathlib import Path

from packaging.version import Version

from tests.standins.driver import driver_text
from tests.standins.llm.texts import pytorch_files
from tests.standins.program_text import REPOSITORY, program_text
from trtspec.trtllm import facts

MARKER = '"""Only its being here matters."""\n'


def lay_out(
    root: Path,
    version: str,
    builder: bool,
    examples: str | None,
    gpus: int,
    *,
    pytorch: bool = False,
) -> None:
    """Write an installation.

    :param examples: version of the example scripts; None for no examples.
    :param pytorch: with ``LLM`` and the programs that serve it.
    """
    package = root / "site" / "tensorrt_llm"
    _package(package, root, version)
    _metadata(root / "site", version)
    _write(root / "site" / "pynvml.py", driver_text(gpus))
    (root / "bin").mkdir(exist_ok=True)
    if builder:
        for name in ("commands/__init__.py", "commands/build.py", "builder.py"):
            _write(package / name, MARKER)
        text = program_text("trtllm-build", version, root)
        _write_executable(root / "bin" / "trtllm-build", text)
    if examples:
        _examples(root / "examples", root, examples)
    if pytorch:
        for path, text in pytorch_files(version, root).items():
            write = _write_executable if path.startswith("bin/") else _write
            write(root / path, text)


def _package(package: Path, root: Path, version: str) -> None:
    _write(package / "version.py", f'__version__ = "{version}"\n')
    _write(
        package / "__init__.py",
        "from .version import __version__\n\n"
        'print(f"[TensorRT-LLM] TensorRT-LLM version: {__version__}")\n',
    )
    _write(package / "bindings" / "__init__.py", "from . import executor\n")
    _write(
        package / "bindings" / "executor.py",
        '"""Classes of the executor, as this version has them."""\n'
        "import sys\n\n"
        f"sys.path.append({str(REPOSITORY)!r})\n"
        "from tests.standins.executor import members\n\n"
        "sys.path.pop()\n"
        f"globals().update(members({version!r}, {str(root)!r}))\n",
    )
    _write_executable(package / "bin" / "executorWorker", "#!/bin/sh\nexit 0\n")
    _write(package / "libs" / "libtensorrt_llm.so", "")
    _write(package / "runtime" / "__init__.py", "")
    _write(package / "runtime" / "model_runner_cpp.py", MARKER)


def _metadata(site: Path, version: str) -> None:
    installed = {"tensorrt_llm": version}
    if tensorrt := facts.tensorrt_version(Version(version)):
        installed["tensorrt"] = tensorrt
    for name, number in installed.items():
        text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {number}\n"
        _write(site / f"{name}-{number}.dist-info" / "METADATA", text)


def _examples(folder: Path, root: Path, version: str) -> None:
    for program in facts.PROGRAMS:
        path = facts.script_path(program, Version(version))
        if path:
            _write(folder / path, program_text(program, version, root))
    _write(folder / "constraints.txt", f"tensorrt_llm=={version}\n")
    _write(folder / "run.py", MARKER)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _write_executable(path: Path, text: str) -> None:
    _write(path, text)
    path.chmod(0o755)
