"""What a step costs by tables of measured kernels: the package aiconfigurator-core.

A verification of w tokens per request is composed of two queries without its own model
of speculation, which reads the cache once per token: everything but attention at
batch x w, and attention at the batch, as each request's cache is read once.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from trtspec.errors import UsageError
from trtspec.models.config import CONFIG
from trtspec.tune.price.parts import (
    Forward,
    Head,
    Matrix,
    NoPriceError,
    Placed,
    experts,
)

PACKAGE = "aiconfigurator-core"
BACKEND = "trtllm"
SLOT = "current"
ATTENTION = "generation_attention"

_WEIGHTS = {
    "none": "bfloat16",
    # static scales: "fp8" would add a kernel that quantizes before each matrix
    "fp8": "fp8_static",
    "nvfp4": "nvfp4",
    "int4_awq": "int4_wo",
    "int8_wo": "int8_wo",
    "int8_sq": "sq",
}
"""A recipe's word → the name of the mode of its matrices."""
_CACHES = {"bfloat16": "bfloat16", "float16": "bfloat16", "fp8": "fp8", "int8": "int8"}
_ONE_STEP = 2
"""Tokens of an answer with which a query is of one decoding step."""

PerOp = tuple[str, float, float, str]
"""Name, milliseconds, energy, and source: silicon, empirical, estimated or mixed."""


class Kernels:
    """One GPU's tables.

    :ivar used: operations that were priced so far, and where their figures are from.
    """

    def __init__(self, system: str) -> None:
        self.system = system
        self.used: dict[str, str] = {}
        self._engines: dict[Placed, Any] = {}
        self._steps: dict[tuple[Placed, int, int], list[PerOp]] = {}

    @property
    def tables(self) -> str:
        """Name the tables: release of TensorRT-LLM, slot and package."""
        found = _slots(self.system)[SLOT]
        return f"TensorRT-LLM {found} (slot {SLOT}), {PACKAGE} {_version()}"

    def forward(
        self, placed: Placed, requests: int, width: int, context: int, *, once: bool
    ) -> float:
        """Give the seconds of a decoding or verification step.

        :raises NoPriceError: if there is no data, or attention cannot be told apart.
        """
        wide = self._step(placed, requests * width, context)
        if not once or width == 1:
            return _seconds(wide)
        narrow = self._step(placed, requests, context)
        attention = [op for op in narrow if op[0] == ATTENTION]
        if not attention:
            raise NoPriceError("its attention is one operation with other work")
        return _seconds([op for op in wide if op[0] != ATTENTION] + attention)

    def reading(self, placed: Placed, tokens: int) -> float:
        """Give the seconds per token of a prompt."""
        engine = self._engine(placed)
        spent = _asked(lambda: engine.predict_prefill_latency(1, tokens, 0))
        return float(spent) / 1000 / tokens

    def head(
        self, head: Head, requests: int, forwards: Sequence[Forward], context: int
    ) -> float:
        """Give the seconds of some forwards of a head, from operations of its sizes."""
        return sum(self._head(head, requests, one, context) for one in forwards)

    def _head(self, head: Head, requests: int, one: Forward, context: int) -> float:
        groups = (
            (_matrices(head, head.fusion), one.fused),
            (_matrices(head, head.body) + _norms(head), one.body),
            (_matrices(head, (head.output,)), one.output),
        )
        spent = sum(self._ops(g, requests * n, context) for g, n in groups if g and n)
        if head.attention is not None:
            spent += self._ops([_attention(head)], requests, context)
        return spent

    def _ops(self, ops: list[Any], tokens: int, context: int) -> float:
        from aiconfigurator_core.sdk.engine import build_ops_json

        found = _asked(
            lambda: self._tables.evaluate_ops_json(
                build_ops_json(ops), is_context=False, batch_size=tokens, s=context
            )
        )
        return _seconds(self._noted(found))

    @cached_property
    def _tables(self) -> Any:
        sdk = _sdk()
        from aiconfigurator_core.sdk import perf_database

        return _asked(
            lambda: sdk.EngineHandle.for_database(
                perf_database.get_database(self.system, BACKEND, SLOT)
            )
        )

    def _step(self, placed: Placed, batch: int, context: int) -> list[PerOp]:
        key = (placed, batch, context)
        if key not in self._steps:
            engine = self._engine(placed)
            _, found = _asked(
                lambda: engine.run_static_per_op(
                    batch_size=batch, isl=context - 1, osl=_ONE_STEP, mode="static_gen"
                )
            )
            self._steps[key] = self._noted(found)
        return self._steps[key]

    def _engine(self, placed: Placed) -> Any:
        if placed not in self._engines:
            self._engines[placed] = _compiled(placed, self.system)
        return self._engines[placed]

    def _noted(self, found: Sequence[PerOp]) -> list[PerOp]:
        for name, milliseconds, _, source in found:
            if milliseconds > 0:
                self.used[name] = source
        return list(found)


def kernels_of(system: str | None) -> Kernels:
    """Open the tables of a system.

    :raises NoPriceError: if the package is not here, or has none of this GPU.
    """
    try:
        _sdk()
    except ImportError:
        raise NoPriceError(
            f"{PACKAGE} is not installed: pip install 'trtspec[price]'"
        ) from None
    if system is None or SLOT not in (_slots(system) or {}):
        raise NoPriceError(f"{PACKAGE} {_version()} has no measured data of this GPU")
    return Kernels(system)


def _compiled(placed: Placed, system: str) -> Any:
    model, parallel = placed.model, placed.parallel
    directory = model.directory
    if directory is None or not (directory / CONFIG).is_file():
        raise NoPriceError(f"there is no {CONFIG} that its tables could be asked with")
    if parallel.pipeline > 1 or parallel.attention_dp:
        raise NoPriceError("pipelines and attention_dp are not priced")
    if placed.cache not in _CACHES:
        raise NoPriceError(f"there is no data of a KV cache in {placed.cache}")
    stored = model.quantization != "none"  # then the checkpoint's own files decide
    choice: dict[str, Any] = {}
    if not stored:
        choice["gemm_quant_mode"] = _WEIGHTS[placed.quantization]
    if experts(directory):
        choice |= {"moe_tp_size": parallel.tensor, "moe_ep_size": 1}
    return _asked(
        lambda: _sdk().EngineHandle.compile(
            str(directory),
            system,
            BACKEND,
            backend_version=SLOT,
            tp_size=parallel.tensor,
            kvcache_quant_mode=_CACHES[placed.cache],
            nextn=0,
            **choice,
        )
    )


def _matrices(head: Head, group: tuple[Matrix, ...]) -> list[Any]:
    from aiconfigurator_core.sdk import common, operations

    return [
        operations.GEMM(
            f"head_{m.name}",
            m.count,
            -(-m.rows // head.tensor_parallel),
            m.columns,
            common.GEMMQuantMode["bfloat16"],
        )
        for m in group
    ]


def _norms(head: Head) -> list[Any]:
    """The norms before a layer's two halves, and what GPUs that share it exchange."""
    from aiconfigurator_core.sdk import operations

    if head.attention is None:
        return []
    layers, width = head.attention.layers, head.output.columns
    ops = [operations.ElementWise("head_norm", 2 * layers, 2 * width, 2 * width, 0.8)]
    if head.tensor_parallel > 1:
        gpus = head.tensor_parallel
        ops.append(operations.CustomAllReduce("head_ar", 2 * layers, width, gpus))
    return ops


def _attention(head: Head) -> Any:
    from aiconfigurator_core.sdk import common, operations

    assert head.attention is not None
    shape, gpus = head.attention, head.tensor_parallel
    return operations.GenerationAttention(
        "head_attention",
        shape.layers,
        -(-shape.heads // gpus),
        -(-shape.kv_heads // gpus),
        common.KVCacheQuantMode[_CACHES[head.cache]],
        head_size=shape.head_size,
    )


def _seconds(ops: Sequence[PerOp]) -> float:
    return sum(op[1] for op in ops) / 1000


def _sdk() -> Any:
    from aiconfigurator_core import sdk

    # it warns of a backend that it then knows after all, once per model
    logging.getLogger("aiconfigurator_core").setLevel(logging.ERROR)
    return sdk


def _slots(system: str) -> Any:
    from aiconfigurator_core.sdk import perf_database

    return perf_database.get_version_slots(system, BACKEND)


def _version() -> str:
    try:
        return version(PACKAGE)
    except PackageNotFoundError:
        return "of unknown version"


def _asked(question: Any) -> Any:
    """Ask the package; what it has no data for, or does not know, becomes one error.

    Its own errors are ValueErrors and RuntimeErrors, a mode that it does not have is a
    KeyError.
    """
    try:
        return question()
    except UsageError:
        raise
    except (ValueError, RuntimeError, LookupError, OSError, TypeError) as error:
        told = str(error).splitlines() or [type(error).__name__]
        if isinstance(error, LookupError):
            told = [f"the configuration, or the package, has no {told[0]}"]
        raise NoPriceError(f"{PACKAGE}: {told[0][:200]}") from error
