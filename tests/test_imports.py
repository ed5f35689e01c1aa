"""Packages import only from packages to their left (docs/architecture.md)."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ORDER = [
    "methods",
    "recipe",
    "models",
    "check",
    "build",
    "run",
    "reference",
    "trtllm",
    "serve",
    "advise",
    "fit",
    "bench",
    "tune",
    "verify",
    "report",
    "cli",
]
HEAVY = {
    *("torch", "transformers", "scipy", "accelerate", "gguf", "tensorrt_llm"),
    *("starlette", "uvicorn", "prometheus_client"),
}


def imports_of(path: Path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.lineno, node.module
        elif isinstance(node, ast.Import):
            for name in node.names:
                yield node.lineno, name.name


@pytest.mark.parametrize("package", ORDER)
def test_package_imports_only_from_its_left(package):
    allowed = set(ORDER[: ORDER.index(package) + 1]) | {"errors", "files", "gpus"}
    allowed |= {"forced_acceptance", "gpu_kinds"}  # of the root, like these
    if package == "trtllm":
        allowed.remove("reference")  # the backends stand beside one another
    files = list((ROOT / "trtspec" / package).rglob("*.py"))
    assert files
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for path in files
        for line, module in imports_of(path)
        if module.startswith("trtspec.") and module.split(".")[1] not in allowed
    ]
    assert wrong == []


def test_every_package_has_its_place_in_the_order():
    packages = {path.parent.name for path in (ROOT / "trtspec").glob("*/__init__.py")}
    assert packages == set(ORDER)


COMMANDS = [
    "--help",
    "doctor",
    "methods",
    "schema",
    "init",
    "inspect",
    "check",
    "plan",
    "build",
    "run",
    "bench",
    "tune",
    "verify",
    "report",
    "serve",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_and_commands_start_without_heavy_imports(command):
    """Importing a command must not import torch and the like."""
    statement = (
        "import trtspec.cli.main, sys\n"
        f"command = {command!r}\n"
        "if command != '--help':\n"
        "    trtspec.cli.main.cli.get_command(None, command)\n"
        f"print(sorted({HEAVY!r} & set(sys.modules)))"
    )
    output = subprocess.run(
        [sys.executable, "-c", statement], capture_output=True, text=True, check=True
    )
    assert output.stdout.strip() == "[]"


def test_no_module_imports_tensorrt_llm_when_it_is_imported():
    """Everything but running works where it is not installed."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in (ROOT / "trtspec").rglob("*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in _names(node)
        if name.partition(".")[0] in ("tensorrt_llm", "tensorrt")
    ]
    assert found == []


def _names(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""]
