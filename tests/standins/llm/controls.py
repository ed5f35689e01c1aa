"""Which sampling controls does a version refuse, and what does it tell afterwards?"""

from __future__ import annotations

from typing import Any

from packaging.version import Version

from tests.standins.llm.draft_length import is_two_model
from trtspec.trtllm.facts import controls, families, serving

NEUTRAL: dict[str, Any] = {"repetition_penalty": 1.0}
"""Values that ask for nothing, where that is not 0, false or null."""
NEWEST = Version("1.3.0rc22")
"""From here on a figure that no source settles is given, so that readers are tried."""


def engine_shape(config: Any, version: Version) -> Any:
    """The shape that a speculative configuration leads to."""
    two = is_two_model(config, str(families.family_of(version)))
    return "two-model" if two else "one-model"


def refused_control(params: Any, config: Any, version: Version) -> str | None:
    """The control that makes a version refuse a request, if there is one."""
    known = controls.sampling_controls(version, engine_shape(config, version))
    for name, value in vars(params).items():
        if name not in known or not value or value == NEUTRAL.get(name):
            continue
        needs = known[name].needs.removeprefix("speculative_config.")
        # needed and missing: refused here, while 1.2 drops what it needs a key for
        missing = needs == "enable_penalty" and not getattr(config, needs, False)
        if known[name].fate == "rejected" or missing:
            return name
    return None


def is_told(name: str, config: Any, version: Version) -> bool:
    """Whether a figure of the facts is filled."""
    for metric in serving.metrics(version, engine_shape(config, version)):
        if metric.name == name:
            open_point = metric.fate == "not established" and version >= NEWEST
            return metric.fate == "filled" or open_point
    return False
