"""Which files does the backend pytorch add to an installation, with what in them?"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.standins.program_text import REPOSITORY
from trtspec.trtllm.facts import llm_args

PACKAGE = "site/tensorrt_llm"
EXPORTED = ("LLM", "SamplingParams", "RequestOutput", "CompletionOutput")
DRAFTER = '''"""What a user's drafter derives from."""
from abc import ABC, abstractmethod


class Drafter(ABC):
    @abstractmethod
    def prepare_draft_tokens(self, scheduled_requests, resource_manager=None):
        """Set ``py_draft_tokens`` of each generation request."""
'''


def pytorch_files(version: str, root: Path) -> dict[str, str]:
    """Text of each file, by its path below the root."""
    members = _module("tests.standins.llm", "members", version, root)
    arguments = _module("tests.standins.llm", "argument_classes", version, root)
    names = (*EXPORTED, *llm_args.arg_classes())
    return {
        f"{PACKAGE}/__init__.py": _package(names),
        f"{PACKAGE}/llmapi/__init__.py": members,
        f"{PACKAGE}/llmapi/llm.py": members,
        f"{PACKAGE}/llmapi/llm_args.py": arguments,
        f"{PACKAGE}/sampling_params.py": (
            "from tensorrt_llm.llmapi import SamplingParams  # noqa\n"
        ),
        f"{PACKAGE}/_torch/__init__.py": "",
        f"{PACKAGE}/_torch/speculative/__init__.py": "",
        f"{PACKAGE}/_torch/speculative/drafter.py": DRAFTER,
        "bin/trtllm-serve": _program("tests.standins.serving", "main", version, root),
        **{
            f"bin/{name}": _launcher(name, root)
            for name in ("trtllm-llmapi-launch", "mpirun", "srun")
        },
    }


def _package(names: tuple[str, ...]) -> str:
    return (
        "from .version import __version__\n\n"
        'print(f"[TensorRT-LLM] TensorRT-LLM version: {__version__}")\n'
        f"_NAMES = {names!r}\n\n\n"
        "def __getattr__(name):\n"
        "    import importlib\n\n"
        "    if name not in _NAMES:\n"
        "        raise AttributeError(name)\n"
        '    return getattr(importlib.import_module("tensorrt_llm.llmapi"), name)\n'
    )


def _module(module: str, function: str, version: str, root: Path) -> str:
    return (
        "import sys\n\n"
        f"sys.path.append({str(REPOSITORY)!r})\n"
        f"from {module} import {function}\n\n"
        f"globals().update({function}({version!r}, {str(root)!r}))\n"
        "sys.path.pop()\n"
    )


def _program(module: str, function: str, version: str, root: Path) -> str:
    return (
        f"#!{sys.executable}\n"
        "import sys\n\n"
        f"sys.path.insert(0, {str(REPOSITORY)!r})\n"
        f"from {module} import {function}\n\n"
        f"sys.exit({function}({version!r}, {str(root)!r}))\n"
    )


def _launcher(name: str, root: Path) -> str:
    return (
        f"#!{sys.executable} -S\n"
        "import sys\n\n"
        f"sys.path.insert(0, {str(Path(__file__).parents[1] / 'serving')!r})\n"
        "from launching import launch\n\n"
        f"launch({name!r}, {str(root)!r})\n"
    )
