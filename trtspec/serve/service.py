"""What one server serves, and all that its routes share."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from trtspec.recipe.schema import Recipe
from trtspec.run import Message, Runner, StepResult
from trtspec.run.tokens import TextCodec
from trtspec.serve.engine import EngineDriver, EngineThread
from trtspec.serve.http.admission import Admission
from trtspec.serve.http.api_key import ApiKeys
from trtspec.serve.http.phase import Phase
from trtspec.serve.http.request_log import RequestLog
from trtspec.serve.limits import ServeLimits
from trtspec.serve.metrics import Identity, ServerMetrics

ResultT = TypeVar("ResultT")


@dataclass
class Service:
    """An engine that is served under a name.

    :param name: what clients ask for as ``model``.
    :param runner: given to the thread that drives it.
    :param thread: the one in which it was loaded.
    :ivar own_key: lets in who looks at the server before it is ready.
    """

    name: str
    recipe: Recipe
    identity: Identity
    codec: TextCodec
    runner: Runner
    limits: ServeLimits = field(default_factory=ServeLimits)
    keys: ApiKeys = field(default_factory=ApiKeys)
    log: RequestLog = field(default_factory=lambda: RequestLog(None))
    phase: Phase = field(default_factory=Phase)
    thread: EngineThread | None = None
    created: int = field(default_factory=lambda: int(time.time()))

    def __post_init__(self) -> None:
        size = self.recipe.limits.max_batch_size
        self.own_key = secrets.token_urlsafe()
        self.driver = EngineDriver(self.runner, self.watch, self.thread)
        self.metrics = ServerMetrics(self.name, self.identity)
        self.admission = Admission(size, self.limits.waiting)
        self.metrics.watch(
            lambda: self.admission.running, lambda: self.admission.queued
        )
        # one thread: neither templates nor their tokenizer promise to bear several
        self._words = ThreadPoolExecutor(1, thread_name_prefix="tokenizer")

    async def encode(self, text: str) -> tuple[int, ...]:
        """Tokenize raw text, beside the event loop."""
        return await self._beside(partial(self.codec.encode, text))

    async def encode_chat(self, messages: Sequence[Message]) -> tuple[int, ...]:
        """Tokenize a conversation, beside the event loop.

        :raises UsageError: if the model has no template, or it refuses.
        """
        return await self._beside(partial(self.codec.encode_chat, messages))

    async def close(self) -> None:
        """End the engine's thread and the tokenizer's."""
        self._words.shutdown(wait=False)
        await self.driver.close()

    def health(self) -> str:
        """Say what is wrong with the engine; empty if nothing is."""
        if self.driver.broken is not None:
            return "the engine is broken; restart the server"
        idle = self.driver.idle_seconds()
        if idle > self.limits.hang_seconds:
            return f"no engine step for {idle:.0f} s, though requests wait"
        return ""

    def watch(self, result: StepResult) -> None:
        """Count the requests that ended in a step, whoever still listens to them."""
        for chunk in result.chunks:
            if chunk.completion is not None:
                self.metrics.finished(chunk.completion)

    async def _beside(self, work: Callable[[], ResultT]) -> ResultT:
        return await asyncio.get_running_loop().run_in_executor(self._words, work)
