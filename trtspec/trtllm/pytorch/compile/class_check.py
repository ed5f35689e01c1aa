"""Which keys TensorRT-LLM's own classes refuse; runs in a process of its own.

``installed`` hands this file's text to Python: it must not import trtspec, and it
takes YAML on standard input and writes one line of JSON.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Any

import yaml

MARK = "TRTSPEC-CLASS-CHECK "
"""Begins the line with the answer; the package prints lines of its own."""


def check(args: dict[str, Any]) -> list[dict[str, str]]:
    """Build the configuration as ``trtllm-serve`` does, and list what is refused."""
    llm_args = import_module("tensorrt_llm.llmapi.llm_args")
    kind = llm_args.TorchLlmArgs
    merge = getattr(llm_args, "update_llm_args_with_extra_dict", None)
    try:
        given = {"model": "target", "backend": "pytorch"}
        whole = merge(given, args) if merge else {**given, **args}
        kind(**whole)
    except Exception as error:  # noqa: BLE001 - whatever is raised is the refusal
        return faults_of(error)
    return []


def faults_of(error: Exception) -> list[dict[str, str]]:
    """Give one fault per key, if the error names keys; else its text."""
    listed = getattr(error, "errors", None)
    if callable(listed):
        return [
            {"where": ".".join(map(str, each["loc"])), "what": str(each["msg"])}
            for each in listed()
        ]
    return [{"where": "", "what": f"{type(error).__name__}: {error}"}]


def main() -> None:
    """Answer for the YAML on standard input; no answer if there are no classes."""
    found = check(yaml.safe_load(sys.stdin) or {})
    sys.stdout.write(f"\n{MARK}{json.dumps(found)}\n")


if __name__ == "__main__":
    main()
