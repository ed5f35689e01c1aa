"""What a request is while TensorRT-LLM generates for it, and how its stream is read."""

from __future__ import annotations

from trtspec.errors import Problem, TrtspecError
from trtspec.run.running import Running
from trtspec.run.text import TextStream
from trtspec.run.types import Chunk, FinishReason, Request
from trtspec.trtllm.pytorch.metrics import Acceptance
from trtspec.trtllm.pytorch.run.source import Delta


class StreamedRequest(Running):
    """A running request; see ``trtspec.run.running``.

    :param lossy: why its output need not be the target's own; empty if it is.
    """

    def __init__(
        self,
        request: Request,
        stream: TextStream,
        end_tokens: frozenset[int],
        submitted_at: float,
        lossy: str = "",
    ) -> None:
        super().__init__(request, stream, end_tokens, submitted_at)
        self.completion.lossy = lossy
        self.generated = 0
        """Tokens that TensorRT-LLM generated, also past a stop string."""
        self.per_iteration: float | None = None
        self.counted: Acceptance | None = None
        self.last: Chunk | None = None
        """Its last chunk, kept until the stream has ended too."""
        self.where = f"request {request.id}"

    def take(self, delta: Delta) -> Chunk | None:
        """Emit what an answer brought; None if there is nothing to show of it."""
        tokens = (*delta.tokens, *self._left_out(delta))
        self.generated += len(tokens)
        if delta.stop_token is not None and delta.stop_token not in tokens[-1:]:
            self.generated += 1  # a stop token of the request's own was cut off
        if delta.per_iteration is not None:
            self.per_iteration = delta.per_iteration
        self.counted = delta.counted or self.counted
        if self.finished:
            return None
        chunk = self.emit(tokens, delta.time) if tokens else None
        if delta.finish == "stop" and not self.finished:
            return self._end("stop", chunk, delta.time)
        return chunk

    def problem(self, finish: str) -> Problem | None:
        """Say why the stream should not have ended yet; None if it should.

        :param finish: TensorRT-LLM's reason; empty if the stream just ended.
        """
        if self.finished:
            return None
        done, asked = len(self.completion.tokens), self.request.max_new_tokens
        return Problem(
            f"TensorRT-LLM ended it ({finish or 'no reason given'}) after {done} of "
            f"{asked} tokens",
            self.where,
        )

    def _left_out(self, delta: Delta) -> tuple[int, ...]:
        """The end token, which the vendor's output leaves out for some stops.

        A stop by ``stop_token_ids`` is told, and cut off the output; whether the end
        token itself is in the output differs by sampler (tensorrt_llm/executor/
        result.py, _handle_sequence).
        """
        if delta.finish != "stop" or self.finished:
            return ()
        if delta.stop_token is not None:
            return (delta.stop_token,) if delta.stop_token in self._end_tokens else ()
        there = bool(self._end_tokens.intersection(delta.tokens[-1:]))
        return () if there else tuple(sorted(self._end_tokens)[:1])

    def _end(self, reason: FinishReason, chunk: Chunk | None, now: float) -> Chunk:
        """End the request because TensorRT-LLM did, with what it emitted last."""
        self._finish = reason
        last = self._chunk((), now)
        if chunk is None:
            return last
        text = chunk.text + last.text
        return Chunk(chunk.request_id, chunk.tokens, text, chunk.time, last.completion)


def failures(
    request: StreamedRequest, error: BaseException | None, source: str
) -> list[Problem]:
    """Say why a stream ended as it should not have; nothing if it is all there.

    :param error: what it failed with; None if it just ended.
    :param source: what it came from, for messages.
    """
    if isinstance(error, TrtspecError):
        return list(error.problems)
    if error is not None:
        said = f"{type(error).__name__}: {error}"
        return [Problem(f"{source} failed: {said}", request.where)]
    found = request.problem("")
    return [found] if found else []
