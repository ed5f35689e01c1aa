"""Backend pytorch's runner: requests over a source, in process or over HTTP."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

from trtspec.errors import Problem, RunError
from trtspec.recipe.pytorch import PyTorchOptions
from trtspec.recipe.schema import Recipe
from trtspec.run import Chunk, Note, Request, StepResult
from trtspec.run.queue import RequestQueue
from trtspec.run.recipe_runner import RecipeRunner
from trtspec.run.tokens import TextCodec
from trtspec.trtllm.pytorch.run.admission import admit
from trtspec.trtllm.pytorch.run.counts import count, engine_note
from trtspec.trtllm.pytorch.run.pump import Arrived, Pump
from trtspec.trtllm.pytorch.run.reach import Reach
from trtspec.trtllm.pytorch.run.request import StreamedRequest, failures
from trtspec.trtllm.pytorch.run.source import Delta, Source

POLL_SECONDS = 0.05
"""Longest wait of one ``advance``."""


class PyTorchRunner(RecipeRunner):
    """Runs requests on TensorRT-LLM's PyTorch engine; see ``trtspec.run.Runner``.

    There are no step records: the engine has its own loop, and does not say where the
    time of a step went.
    """

    def __init__(
        self,
        recipe: Recipe,
        codec: TextCodec,
        source: Source,
        *,
        reach: Reach,
        on_close: Callable[[], None] = lambda: None,
    ) -> None:
        """Begin reading a source that is ready.

        :param source: closed with the runner.
        :param reach: what a request can ask of the source.
        :param on_close: called last, when the source was closed.
        """
        super().__init__(recipe, codec)
        self._source = source
        self._reach = reach
        self._on_close = on_close
        self._pump = Pump(source)
        self._closed = False
        self._queue: RequestQueue[StreamedRequest] = RequestQueue(self.max_running)

    @property
    def caches_prompts(self) -> bool:
        """Whether blocks of the KV cache are reused."""
        return self._options.block_reuse

    def submit(self, request: Request) -> None:
        """Queue a request; nothing is sent of one that is refused.

        :raises UsageError: if it does not fit, asks for what the release would not
            honour, would be lossy, or a request of its id waits or runs.
        :raises RunError: if the runner was closed.
        """
        if self._closed:
            raise RunError("the runner was closed", where=f"request {request.id}")
        lossy = admit(request, self._recipe, self._reach)
        stream, ends = self._codec.stream(request.stop), self._codec.end_tokens
        now = time.perf_counter()
        self._queue.submit(StreamedRequest(request, stream, ends, now, lossy))

    def cancel(self, request_id: str) -> None:
        """End a request at the next step; unknown ids are ignored."""
        self._queue.cancel(request_id)

    @property
    def busy(self) -> bool:
        """Whether a request is queued or running, or a stopped one not yet gone."""
        return bool(self._queue) or self._pump.busy

    def advance(self) -> StepResult:
        """Let requests join, and give what came of those that run.

        :raises RunError: naming what failed, source or requests. All requests are gone
            then.
        """
        try:
            if cancelled := self._drop_cancelled():
                return StepResult(cancelled)
            for request in self._queue.join(len(self._queue.next)):
                self._pump.start(request, request.request)
            return StepResult(self._receive() if self._pump.busy else ())
        except BaseException:  # an interrupt, too, leaves requests half done
            self._queue.clear()
            self._pump.stop_all()
            raise

    def conditions(self) -> dict[str, object]:
        """What decides how fast this runner is."""
        return {
            "backend": "pytorch",
            "tensorrt_llm": str(self._reach.version),
            **self._source.conditions(),
            "kv_cache_block_reuse": self._options.block_reuse,
            "acceptance_counted_by": "TensorRT-LLM",
            "drafted_tokens_known": not self._drafts,
        }

    def notes(self) -> tuple[Note, ...]:
        """Give what TensorRT-LLM itself counted of drafts, since it was opened."""
        return (engine_note(self._source, self._options),) if self._drafts else ()

    def close(self) -> None:
        """Stop all requests and free the source; also when that fails."""
        if self._closed:
            return
        self._closed = True
        try:
            with suppress(TimeoutError):  # one that has died cannot close either
                self._pump.close()
        finally:
            self._on_close()

    @property
    def _options(self) -> PyTorchOptions:
        return self._recipe.pytorch or PyTorchOptions()

    @property
    def _drafts(self) -> bool:
        return self._recipe.speculation.method != "none"

    def _receive(self) -> tuple[Chunk, ...]:
        chunks: list[Chunk] = []
        problems: list[Problem] = []
        for event in self._pump.take(POLL_SECONDS):
            request = event.key
            assert isinstance(request, StreamedRequest), "its streams are requests"
            if request not in self._queue.running:
                continue  # it has ended, or failed with the others
            if isinstance(event, Arrived):
                self._take(request, event.delta, chunks, problems)
            elif lost := failures(request, event.error, self._source.name):
                problems += lost
            else:
                chunks.append(self._hand_out(request))
        if problems:
            # one server that ends gives every request the same
            raise RunError.from_problems(dict.fromkeys(problems))
        return tuple(chunks)

    def _take(
        self,
        request: StreamedRequest,
        delta: Delta,
        chunks: list[Chunk],
        problems: list[Problem],
    ) -> None:
        """Emit what came; end the stream if the request has ended before it."""
        chunk = request.take(delta)
        if request.finished and request.last is None:
            request.last = chunk
            if not delta.finish:
                self._pump.stop(request)
        elif chunk is not None:
            chunks.append(chunk)
        if delta.finish and (found := request.problem(delta.finish)):
            problems.append(found)

    def _hand_out(self, request: StreamedRequest) -> Chunk:
        """Give the last chunk: TensorRT-LLM has let go of the request by now."""
        assert request.last is not None, "it has finished"
        count(request, drafts=self._drafts)
        self._queue.running.remove(request)
        return request.last

    def _drop_cancelled(self) -> tuple[Chunk, ...]:
        cancelled, now = self._queue.take_cancelled(), time.perf_counter()
        for request in cancelled:
            if request in self._queue.running:
                self._queue.running.remove(request)
                self._pump.stop(request)
        return tuple(request.cancel(now) for request in cancelled)
