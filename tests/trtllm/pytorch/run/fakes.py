"""A source that follows a script, and recipes, requests and runners for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from packaging.version import Version

from trtspec.recipe import Recipe
from trtspec.run import Request, SamplingParams
from trtspec.run.tokens import TextCodec
from trtspec.trtllm.pytorch.metrics import Acceptance
from trtspec.trtllm.pytorch.run.reach import Reach
from trtspec.trtllm.pytorch.run.runner import PyTorchRunner
from trtspec.trtllm.pytorch.run.source import Delta

END = 1
LIMITS = {"max_batch_size": 2, "max_input_tokens": 20, "max_total_tokens": 60}
METHODS: dict[str, dict[str, Any]] = {
    "none": {},
    "ngram": {"draft_length": 3, "max_matching_ngram": 2},
    "draft_target": {"model": "./draft", "draft_length": 3},
    "eagle3": {"model": "./head", "draft_length": 3},
    "mtp": {"draft_length": 3},
    "suffix": {"draft_length": 3},
    "user": {"draft_length": 3, "drafter": "my_drafters:make"},
}


def recipe(
    method: str = "none", *, limits=None, pytorch=None, tensor_parallel=1, **options
) -> Recipe:
    """A recipe of backend pytorch; ``options`` are the method's."""
    return Recipe.model_validate(
        {
            "schema": "trtspec/v1",
            "name": "toy",
            "backend": "pytorch",
            "target": {
                "model": "./target",
                "dtype": "float32",
                "tensor_parallel": tensor_parallel,
            },
            "speculation": {"method": method, **METHODS[method], **options},
            "limits": {**LIMITS, **(limits or {})},
            **({"pytorch": pytorch} if pytorch else {}),
        }
    )


def ask(name="r", prompt=(3, 9, 4), tokens=12, **options) -> Request:
    """A greedy request that only its length ends, unless told otherwise."""
    return Request(name, tuple(prompt), tokens, **{"ignore_eos": True, **options})


def sampled(**options) -> SamplingParams:
    return SamplingParams(**{"temperature": 0.7, **options})


def delta(*tokens: int, **values: Any) -> Delta:
    return Delta(tokens, 10.0, **values)


COUNTED = Acceptance(drafted=4, accepted=1, steps=2, source="a script")


@dataclass
class ScriptedSource:
    """Gives the deltas of ``script(request)``; an exception in them is raised.

    None in a script waits until the stream is closed.
    """

    script: Callable[[Request], Sequence[Delta | BaseException | None]]
    name: str = "a script"
    counted: Acceptance | Exception = COUNTED
    started: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    is_closed: bool = False
    read_as: tuple[int, bool] | None = None

    async def stream(self, request: Request):
        self.started.append(request.id)
        try:
            for step in self.script(request):
                await asyncio.sleep(0)
                if step is None:
                    await asyncio.Event().wait()
                if isinstance(step, BaseException):
                    raise step
                yield step
        finally:
            self.closed.append(request.id)

    def acceptance(self, *, interval: int, attention_dp: bool) -> Acceptance:
        self.read_as = interval, attention_dp
        if isinstance(self.counted, Exception):
            raise self.counted
        return self.counted

    async def close(self) -> None:
        self.is_closed = True

    def conditions(self) -> dict[str, object]:
        return {"process": "none"}


def runner_on(source, codec: TextCodec, of: Recipe, version="1.2.1") -> PyTorchRunner:
    reach = Reach.of(of, Version(version))
    return PyTorchRunner(of, codec, source, reach=reach)


def finish(runner, *requests: Request) -> dict[str, Any]:
    """Run requests together; their completions by id."""
    return {c.completion.request_id: c.completion for c in chunks(runner, *requests)
            if c.completion}  # fmt: skip


def chunks(runner, *requests: Request) -> list[Any]:
    """Run requests together; everything that came of them."""
    for request in requests:
        runner.submit(request)
    found: list[Any] = []
    while runner.busy:
        found += runner.advance().chunks
    return found
