"""How a list of requests is driven through a runner."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from trtspec.run.runner import Runner
from trtspec.run.types import Chunk, Request


def generate(runner: Runner, requests: Sequence[Request]) -> Iterator[Chunk]:
    """Submit all requests at once and give their chunks as they come.

    The runner is this call's alone until the last chunk. If the caller stops early,
    what is still running is cancelled. Should that fail after an error, the error
    counts, and not what it led to.

    :raises UsageError: for the first request that does not fit, before any runs.
    """
    try:
        for request in requests:
            runner.submit(request)
        while runner.busy:
            yield from runner.advance().chunks
    except GeneratorExit:
        _cancel(runner, requests)
        raise
    except BaseException:
        with suppress(Exception):
            _cancel(runner, requests)
        raise


def _cancel(runner: Runner, requests: Sequence[Request]) -> None:
    for request in requests:
        runner.cancel(request.id)
    while runner.busy:
        runner.advance()
