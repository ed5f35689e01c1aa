"""What does ``tensorrt_llm`` of a version contain for its backend pytorch?"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from packaging.version import Version

from tests.standins.machine import Machine

__all__ = ["argument_classes", "members"]


def argument_classes(version: str, root: str) -> dict[str, Any]:
    """Everything in ``tensorrt_llm.llmapi.llm_args``; its notes go to this root now."""
    from tests.standins.llm.classes import make_classes

    return make_classes(Version(version), Machine(Path(root)).note)


def members(version: str, root: str) -> dict[str, Any]:
    """``LLM``, ``SamplingParams`` and what belongs to them."""
    argument_classes(version, root)
    return _members(version, root)


@cache
def _members(version: str, root: str) -> dict[str, Any]:
    from tests.standins.llm.llm import make_llm
    from tests.standins.llm.request import CompletionOutput, RequestError, RequestOutput
    from tests.standins.llm.sampling import SamplingParams

    classes = argument_classes(version, root)
    nested = {name: kind for name, kind in classes.items() if name.endswith("Config")}
    return {
        **nested,
        "LLM": make_llm(Version(version), Machine(Path(root)), classes),
        "SamplingParams": SamplingParams,
        "RequestOutput": RequestOutput,
        "RequestError": RequestError,
        "CompletionOutput": CompletionOutput,
    }
