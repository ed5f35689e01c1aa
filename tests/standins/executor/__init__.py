"""What does ``tensorrt_llm.bindings.executor`` of a version contain?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from packaging.version import Version

from tests.standins.executor.classes import make_classes
from tests.standins.executor.executor import make_executor
from tests.standins.executor.records import ExecutorRecord
from tests.standins.executor.responses import (
    RequestPerfMetrics,
    Response,
    Result,
    SpeculativeDecodingMetrics,
)
from tests.standins.executor.words import WORDS
from tests.standins.machine import Machine

__all__ = ["members"]


def members(version: str, root: str) -> dict[str, Any]:
    """Everything that the module defines; ``RECORDS`` is ours, for tests."""
    records: list[ExecutorRecord] = []
    classes = make_classes(Version(version))
    executor = make_executor(version, Machine(Path(root)), classes, records)
    return {
        **WORDS,
        **classes,
        "Executor": executor,
        "Response": Response,
        "Result": Result,
        "RequestPerfMetrics": RequestPerfMetrics,
        "SpeculativeDecodingMetrics": SpeculativeDecodingMetrics,
        "RECORDS": records,
    }
