"""What the facts say of a YAML, in short."""

from __future__ import annotations

from packaging.version import Version

from trtspec.trtllm.pytorch.compile.validate import faults

EAGLE = {"max_draft_len": 3, "speculative_model_dir": "d"}
APART = {**EAGLE, "eagle3_one_model": False}
SA = {"max_draft_len": 3}


def places(version: str, args: dict) -> list[str]:
    return [problem.where for problem in faults(args, Version(version))]


def spoken(version: str, kind: str, **config: object) -> dict[str, str]:
    """Where → what, of a ``speculative_config``."""
    held = {"speculative_config": {"decoding_type": kind, **config}}
    return {
        problem.where.removeprefix("speculative_config."): problem.what
        for problem in faults(held, Version(version))
    }
