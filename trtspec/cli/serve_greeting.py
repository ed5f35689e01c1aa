"""What ``trtspec serve`` says before a server starts, and does when it is ready."""

from __future__ import annotations

import json
from collections.abc import Callable

import click

from trtspec.build.artifact import Artifact
from trtspec.build.progress import Progress
from trtspec.cli.json_output import print_line
from trtspec.cli.serve_words import Caveats, canary_lines, greeting, ready_document
from trtspec.cli.unheard import unheard
from trtspec.recipe import load_prompts
from trtspec.trtllm.pytorch.launch.canary import MAX_TOKENS, SENTENCE, Canary
from trtspec.trtllm.pytorch.launch.example import room_for_output
from trtspec.trtllm.pytorch.launch.lossy import lossy_warnings
from trtspec.trtllm.pytorch.launch.server import Server
from trtspec.trtllm.pytorch.launch.serving import Serving, serving_version
from trtspec.trtllm.pytorch.run.controls import unhonoured


def tell_plan(plan: Serving, progress: Progress) -> Caveats:
    """Say what is about to run and what clients must know of it; gives the latter."""
    version = serving_version(plan.artifact, plan.installation)
    progress.line(
        f"starting trtllm-serve of TensorRT-LLM {version} on {plan.address.host}:"
        f"{plan.address.port}; log {plan.log}"
    )
    recipe = plan.artifact.recipe
    caveats = Caveats(lossy_warnings(recipe, version), unhonoured(recipe, version))
    for line in caveats.lines():
        progress.line(line)
    return caveats


def greeter(
    artifact: Artifact,
    caveats: Caveats,
    with_canary: bool,
    as_json: bool,
    progress: Progress,
) -> Callable[[Server], None]:
    """Give what is done when a server is ready: the canary, and where to reach it."""
    say, say_line = unheard(click.echo), unheard(print_line)

    def came_up(server: Server) -> None:
        canary = send_canary(artifact, server) if with_canary else None
        if canary:
            for line in canary_lines(artifact, canary):
                progress.line(line)
        if as_json:
            say_line(json.dumps(ready_document(server, caveats, canary)))
        else:
            say(greeting(artifact, server, lossy=bool(caveats.lossy)))

    return came_up


def send_canary(artifact: Artifact, server: Server) -> Canary:
    """Send the canary, no longer than the artifact has room for.

    :raises RunError: if it fails, or the server ends meanwhile.
    :raises Stopped: if somebody asked for an end meanwhile.
    """
    most = min(MAX_TOKENS, room_for_output(artifact))
    return server.canary(_messages(artifact), most)


def _messages(artifact: Artifact) -> tuple[dict[str, str], ...]:
    """Give the canary's prompt: the workload's first, or a sentence of ours."""
    if artifact.workload is None:
        return SENTENCE
    first = load_prompts(artifact.workload, "workload")[0]
    return tuple(dict(message) for message in first.messages)
