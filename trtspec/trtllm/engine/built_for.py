"""Which GPUs the engines of an artifact were built on, as its manifest says."""

from __future__ import annotations

from trtspec.build.manifest import Manifest

KEY = "compute capability"
"""Input of the stages that make engines; see ``stage_keys.machine_inputs``."""


def built_capability(manifest: Manifest) -> str | None:
    """The compute capability, such as ``8.0``; None if it does not say."""
    for stage in manifest.stages:
        first = stage.inputs.get(KEY, "").split(",")[0].strip()
        if first and first != "none":
            return first
    return None
