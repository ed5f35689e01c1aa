"""How clients are led to ``trtllm-serve`` itself: ``trtspec serve --direct``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trtspec.build.artifact import Artifact
from trtspec.build.progress import Progress
from trtspec.cli.serve_greeting import greeter, tell_plan
from trtspec.cli.serve_wishes import patience_of
from trtspec.trtllm.probe import probe
from trtspec.trtllm.pytorch.launch.serving import serving
from trtspec.trtllm.pytorch.launch.stop_request import StopRequest
from trtspec.trtllm.pytorch.launch.supervise import Restarts, supervise


def serve_direct(
    artifact: Artifact, asked: Mapping[str, Any], stop: StopRequest, progress: Progress
) -> None:
    """Start ``trtllm-serve`` on the port that clients use, and look after it.

    :raises TrtspecError: as ``serving`` and ``supervise`` do.
    """
    with serving(
        artifact,
        probe(),
        host=asked["host"],
        port=asked["port"],
        log=asked["log"],
        patience=patience_of(asked),
        stop=stop,
        progress=progress,
    ) as plan:
        caveats = tell_plan(plan, progress)
        with_canary = not asked["no_canary"]
        came_up = greeter(artifact, caveats, with_canary, asked["as_json"], progress)
        supervise(plan.make, came_up, Restarts(asked["restarts"]), stop, progress)
