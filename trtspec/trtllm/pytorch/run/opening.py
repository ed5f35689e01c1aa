"""How an artifact of backend pytorch becomes a runner: in process, or over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from packaging.version import Version

from trtspec.build.artifact import Artifact
from trtspec.build.progress import SILENT, Progress
from trtspec.errors import RunError
from trtspec.run.runner import Runner
from trtspec.run.tokens import TextCodec
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.pytorch.launch.command import served_name
from trtspec.trtllm.pytorch.release import built_for, require_release
from trtspec.trtllm.pytorch.run.http_counters import CONNECT_SECONDS, counted_before
from trtspec.trtllm.pytorch.run.http_source import HttpSource
from trtspec.trtllm.pytorch.run.llm_arguments import llm_arguments
from trtspec.trtllm.pytorch.run.llm_source import LlmSource
from trtspec.trtllm.pytorch.run.package import FAILURES, imported, in_words
from trtspec.trtllm.pytorch.run.reach import Reach
from trtspec.trtllm.pytorch.run.runner import PyTorchRunner
from trtspec.trtllm.pytorch.run.server_check import (
    base_url,
    require_served,
    server_release,
)

if TYPE_CHECKING:
    from trtspec.trtllm.pytorch.launch.server import Server


def open_artifact(
    artifact: Artifact,
    installation: Installation,
    url: str | None = None,
    *,
    server: bool = False,
    progress: Progress = SILENT,
) -> Runner:
    """Open an artifact in the way that is asked for.

    :param url: a running trtllm-serve that serves it; None runs it here.
    :param server: run it through a server of its own, which ends with the runner.
    :param progress: told of that server's start and end.
    :raises BackendUnavailableError: if TensorRT-LLM is needed here and missing.
    :raises RunError: if it does not load, or the server is not one of it.
    :raises UsageError: as ``open_runner`` does; if the URL is none.
    """
    if url is not None:
        return open_http_runner(artifact, url, built_for(artifact))
    if server:
        return _on_own_server(artifact, installation, progress)
    return open_runner(artifact, installation)


def open_runner(artifact: Artifact, installation: Installation) -> PyTorchRunner:
    """Load an artifact into this process, through ``tensorrt_llm.LLM``.

    :raises BackendUnavailableError: if tensorrt_llm cannot be imported.
    :raises RunError: if the LLM does not load.
    :raises UsageError: if a drafter of the user's own cannot be had.
    """
    version = require_release(artifact, installation)
    codec = _codec(artifact)
    module = imported("tensorrt_llm")
    arguments = llm_arguments(artifact)
    try:
        llm = module.LLM(**arguments)
    except FAILURES as error:  # whatever the release raises, down to CUDA's errors
        raise RunError(
            f"TensorRT-LLM does not load it: {in_words(error)}",
            where=str(artifact.path),
            action="its log above says more; trtspec check shows what can be seen "
            "before loading",
        ) from error
    reach = Reach.of(artifact.recipe, version)
    source = LlmSource(
        llm, module, version, codec.end_tokens, counters=reach.counts_requests
    )
    return PyTorchRunner(
        artifact.recipe, codec, source, reach=reach, on_close=llm.shutdown
    )


def open_http_runner(
    artifact: Artifact,
    url: str,
    version: Version,
    *,
    ours: bool = False,
    why_ended: Callable[[], RunError | None] = lambda: None,
    on_close: Callable[[], None] = lambda: None,
) -> PyTorchRunner:
    """Send an artifact's requests to a running trtllm-serve.

    :param version: the release that the artifact was built for.
    :param ours: whether nobody else uses the server, nor has used it.
    :param why_ended: gives the error for a server of ours that has ended.
    :param on_close: called when the runner was closed.
    :raises RunError: if the server does not answer, is of another family, or does
        not name this artifact as its model.
    :raises UsageError: if the URL is none.
    """
    import httpx

    url = base_url(url)
    # a server of our own is on this machine: no proxy leads to it
    with httpx.Client(
        base_url=url, timeout=CONNECT_SECONDS, trust_env=not ours
    ) as client:
        found = server_release(client, version)
        model = served_name(artifact)
        require_served(client, model, artifact.path)
        before = counted_before(client, url)
    codec = _codec(artifact)
    ends = codec.end_tokens
    source = HttpSource(
        url, model, found, ends, ours=ours, before=before, why_ended=why_ended
    )
    reach = Reach.of(artifact.recipe, found, over_http=True)
    return PyTorchRunner(artifact.recipe, codec, source, reach=reach, on_close=on_close)


def _on_own_server(
    artifact: Artifact, installation: Installation, progress: Progress
) -> PyTorchRunner:
    from trtspec.trtllm.pytorch.launch.serving import serving

    version = require_release(artifact, installation)
    closing = ExitStack()
    with ExitStack() as stack:
        plan = stack.enter_context(serving(artifact, installation, progress=progress))
        server = stack.enter_context(plan.make())
        progress.line(
            f"starting trtllm-serve of TensorRT-LLM {version}; its log: {plan.log}"
        )
        server.start()
        stack.callback(_end, server, progress)
        runner = open_http_runner(
            artifact,
            server.url,
            version,
            ours=True,
            why_ended=lambda: _why_ended(server),
            on_close=closing.close,
        )
        closing.enter_context(stack.pop_all())
    return runner


def _why_ended(server: Server) -> RunError | None:
    """Give the error for a server that has ended; None while it runs."""
    how = server.ending()
    return server.failure(f"{how} while it was in use") if how else None


def _end(server: Server, progress: Progress) -> None:
    """Let a server end in order, if it still runs; leaving its context kills it."""
    progress.status(f"stopping trtllm-serve; it gets {server.grace:g} s")
    ended = bool(server.ending()) or server.terminate()
    progress.status("")
    if not ended:
        progress.line(f"trtllm-serve did not end within {server.grace:g} s: killed")


def _codec(artifact: Artifact) -> TextCodec:
    return TextCodec(artifact.tokenizer, artifact.chat_template)
