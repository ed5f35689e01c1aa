"""Tokens from ``tensorrt_llm.LLM`` in this process."""

from __future__ import annotations

import importlib
import time
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from packaging.version import Version

from trtspec.errors import RunError
from trtspec.run.types import Request
from trtspec.trtllm.pytorch.metrics import Acceptance, from_request_perf
from trtspec.trtllm.pytorch.metrics.reading import read_llm
from trtspec.trtllm.pytorch.run.sampling import GUIDED, sampling_arguments
from trtspec.trtllm.pytorch.run.source import Delta


class LlmSource:
    """Generates with an LLM that is already loaded.

    :param llm: a ``tensorrt_llm.LLM``.
    :param module: the package ``tensorrt_llm``.
    :param end_tokens: ids that end an output.
    :param counters: whether to ask for each request's own counters of drafts.
    """

    def __init__(
        self,
        llm: Any,
        module: Any,
        version: Version,
        end_tokens: Collection[int],
        *,
        counters: bool = False,
    ) -> None:
        self._llm = llm
        self._module = module
        self._version = version
        self._end_tokens = end_tokens
        self._counters = counters

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return f"tensorrt_llm.LLM {self._version}"

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Generate for a request; see ``Source``.

        A result's ``token_ids`` grow from answer to answer, but a stop word may be cut
        off them at the end (tensorrt_llm/executor/result.py, _handle_sequence).
        """
        try:
            result = self._llm.generate_async(
                list(request.prompt),
                sampling_params=self._sampling(request),
                streaming=True,
            )
        except Exception as error:  # whatever the release raises for what it refuses
            raise self._failure(request, error) from error
        try:
            received = 0
            async for answer in result:
                output = answer.outputs[0]
                tokens = tuple(output.token_ids[received:])
                received += len(tokens)
                delta = _delta(answer, output, tokens, received)
                yield replace(delta, counted=self._counted(output))
        except Exception as error:
            raise self._failure(request, error) from error
        finally:
            if not result.finished:
                result.abort()

    def acceptance(self, *, interval: int, attention_dp: bool) -> Acceptance:
        """Read the iteration statistics since the last call."""
        return read_llm(
            self._llm, self._version, interval=interval, attention_dp=attention_dp
        )

    async def close(self) -> None:
        """Do nothing: nothing is held but the LLM, which its owner shuts down."""

    def conditions(self) -> dict[str, object]:
        """What of it decides the timings."""
        return {"process": "in process, through tensorrt_llm.LLM"}

    def _sampling(self, request: Request) -> Any:
        arguments = sampling_arguments(request, self._end_tokens)
        if self._counters:
            arguments["return_perf_metrics"] = True
        guide = arguments.get(GUIDED)
        if isinstance(guide, Mapping):
            classes = importlib.import_module("tensorrt_llm.llmapi")
            arguments[GUIDED] = classes.GuidedDecodingParams(**guide)
        return self._module.SamplingParams(**arguments)

    def _counted(self, output: Any) -> Acceptance | None:
        """Read a request's counters, which are there once it has ended."""
        metrics = getattr(output, "request_perf_metrics", None)
        told = getattr(metrics, "speculative_decoding", None)
        if not self._counters or told is None:
            return None
        with suppress(RunError):  # nonsense is none
            return from_request_perf(told, self._version)
        return None

    def _failure(self, request: Request, error: Exception) -> RunError:
        said = str(error) or type(error).__name__
        return RunError(
            f"TensorRT-LLM says: {said}",
            where=f"request {request.id}",
            action="its log above says more",
        )


def _delta(answer: Any, output: Any, tokens: tuple[int, ...], generated: int) -> Delta:
    """Read an answer.

    :param generated: tokens of the request so far.
    """
    stop = getattr(output, "stop_reason", None)
    average = getattr(answer, "avg_decoded_tokens_per_iter", None)
    iterations = getattr(answer, "decoding_iter", 0)
    if average is None and iterations:  # what 1.0 has of the two
        average = generated / iterations
    return Delta(
        tokens,
        time.perf_counter(),
        finish=output.finish_reason or "",
        stop_token=stop if isinstance(stop, int) else None,
        per_iteration=average,
    )
