"""What does a caller get for a request? An object that fills as chunks arrive."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.standins.llm.sampling import SamplingParams

_HALF = "\ufffd"


class RequestError(RuntimeError):
    """The engine failed a request."""


@dataclass
class CompletionOutput:
    """The output so far; the ``diff`` attributes hold what the last chunk brought."""

    index: int = 0
    text: str = ""
    token_ids: list[int] = field(default_factory=list)
    cumulative_logprob: float | None = None
    logprobs: list[Any] = field(default_factory=list)
    prompt_logprobs: list[Any] = field(default_factory=list)
    finish_reason: str | None = None
    stop_reason: int | str | None = None
    generation_logits: Any = None
    request_perf_metrics: Any = None
    _text_before: int = 0
    _tokens_before: int = 0

    @property
    def length(self) -> int:
        return len(self.token_ids)

    @property
    def text_diff(self) -> str:
        return self.text[self._text_before :]

    @property
    def token_ids_diff(self) -> list[int]:
        return self.token_ids[self._tokens_before :]


@dataclass(frozen=True)
class Chunk:
    """What one iteration brings a request.

    :ivar dropped: how many of all tokens a stop word takes back.
    """

    tokens: list[int]
    iterations: int
    finish_reason: str | None = None
    stop_reason: int | str | None = None
    dropped: int = 0
    metrics: Any = None
    error: str | None = None


class RequestOutput:
    """Result of ``generate_async``: iterate, await or ask for the result."""

    def __init__(
        self,
        request_id: int,
        *,
        prompt: str | None,
        prompt_token_ids: list[int],
        params: SamplingParams,
        streaming: bool,
        tokenizer: Any,
        abort: Callable[[int], None],
        tells_average: bool,
    ) -> None:
        self.request_id = self.id = request_id
        self.prompt = prompt
        self.prompt_token_ids = prompt_token_ids
        self.sampling_params = params
        self.outputs = [CompletionOutput()]
        self.finished = False
        self.decoding_iter = 0
        self.avg_decoded_tokens_per_iter: float | None = None
        self.cached_tokens = 0
        self.context_logits = None
        self._aborted = False
        self._streaming = streaming
        self._tokenizer = tokenizer
        self._abort = abort
        self._tells_average = tells_average
        self._emitted = 0
        self._chunks: deque[Chunk] = deque()
        self._arrived = threading.Condition()
        self._waker: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None

    def put(self, chunk: Chunk) -> None:
        """Called by the engine."""
        with self._arrived:
            self._chunks.append(chunk)
            self._arrived.notify_all()
            waker = self._waker
        if waker and not waker[0].is_closed():
            waker[0].call_soon_threadsafe(waker[1].set)

    def abort(self) -> None:
        self._aborted = True
        self._abort(self.request_id)

    def aborted(self) -> bool:
        return self._aborted

    def result(self, timeout: float | None = None) -> RequestOutput:
        """Wait for the end.

        :raises TimeoutError: it did not come in time.
        """
        until = None if timeout is None else time.monotonic() + timeout
        while not self.finished:
            with self._arrived:
                left = None if until is None else until - time.monotonic()
                if not self._arrived.wait_for(lambda: self._chunks, left):
                    raise TimeoutError("the request is not finished")
                chunk = self._chunks.popleft()
            self._take(chunk)
        return self

    async def aresult(self) -> RequestOutput:
        while not self.finished:
            await self._next()
        return self

    def __await__(self) -> Any:
        return self.aresult().__await__()

    def __iter__(self) -> RequestOutput:
        return self

    def __next__(self) -> RequestOutput:
        if self.finished:
            raise StopIteration
        if not self._streaming:
            return self.result()
        with self._arrived:
            self._arrived.wait_for(lambda: self._chunks)
            chunk = self._chunks.popleft()
        self._take(chunk)
        return self

    def __aiter__(self) -> RequestOutput:
        return self

    async def __anext__(self) -> RequestOutput:
        if self.finished:
            raise StopAsyncIteration
        if not self._streaming:
            return await self.aresult()
        await self._next()
        return self

    async def _next(self) -> None:
        while True:
            event = asyncio.Event()
            with self._arrived:
                self._waker = asyncio.get_running_loop(), event
                chunk = self._chunks.popleft() if self._chunks else None
            if chunk is not None:
                self._take(chunk)
                return
            await event.wait()

    def _take(self, chunk: Chunk) -> None:
        output = self.outputs[0]
        if chunk.error is not None:
            self.finished = True
            raise RequestError(chunk.error)
        output._tokens_before = len(output.token_ids)
        output._text_before = len(output.text)
        output.token_ids.extend(chunk.tokens)
        self._emitted += len(chunk.tokens)
        self.decoding_iter = chunk.iterations
        if chunk.iterations and self._tells_average:
            self.avg_decoded_tokens_per_iter = self._emitted / chunk.iterations
        if chunk.finish_reason is not None:
            self.finished = True
            output.finish_reason = chunk.finish_reason
            output.stop_reason = chunk.stop_reason
            if chunk.dropped:
                del output.token_ids[-chunk.dropped :]
            if self.sampling_params.return_perf_metrics:
                output.request_perf_metrics = chunk.metrics
        self._decode(output)

    def _decode(self, output: CompletionOutput) -> None:
        if self._tokenizer is None or not self.sampling_params.detokenize:
            return
        skip = self.sampling_params.skip_special_tokens
        text = self._tokenizer.decode(output.token_ids, skip_special_tokens=skip)
        output.text = text if self.finished else text.rstrip(_HALF)
