"""What every way of sending requests has in common: in this process, or over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import JsonValue

from trtspec.bench.outcome import Pass
from trtspec.bench.records import Load
from trtspec.methods import Method
from trtspec.run import SamplingParams


@dataclass(frozen=True, slots=True)
class BenchPrompt:
    """One prompt of the workload.

    :param tokens: as the model sees it; None where only a server can tell.
    """

    id: str
    category: str
    messages: tuple[Mapping[str, str], ...]
    tokens: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """One request of a pass.

    :param speculate: False asks the engine to decode without drafting.
    :param speculation: parameters of the artifact's method for this request.
    :param ignore_end: go on past the end-of-sequence token: fixed output lengths.
    """

    id: str
    prompt: BenchPrompt
    output_tokens: int
    sampling: SamplingParams
    speculate: bool = True
    speculation: Method | None = None
    ignore_end: bool = False


class Driver(Protocol):
    """Sends requests to one engine or server and measures what comes back."""

    @property
    def caches_prompts(self) -> bool:
        """Whether a prompt that ran before may be found in the KV cache."""
        ...

    def run(
        self,
        calls: Sequence[Call],
        load: Load,
        *,
        seed: int = 0,
        on_answer: Callable[[], None] = lambda: None,
    ) -> Pass:
        """Send all calls in their order and wait for every answer.

        A call that fails is among the outcomes; the others still run.

        :param seed: of the arrival times of an open loop.
        :raises RunError: if the engine itself is gone.
        """
        ...

    def conditions(self) -> dict[str, JsonValue]:
        """Say what decides the timings, besides the machine."""
        ...
