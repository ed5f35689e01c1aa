"""A stand-in for aiconfigurator_core 0.12 that knows what the real one was asked.

``answers.json`` holds what the real package answered (record.py made it). A question
that was not recorded is a fault of the test; one that the real package would not
understand raises what that raises.
"""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

ANSWERS = Path(__file__).with_name("answers.json")
SLOTS = {"current": "1.3.0rc20", "next": "1.3.0rc23"}
MEASURED = ("h200_sxm", "h100_sxm")
ARCHITECTURES = ("LlamaForCausalLM", "Qwen3ForCausalLM")
NAME = "aiconfigurator_core"


class PerfDataNotAvailableError(RuntimeError):
    """As aiconfigurator_core.sdk raises it."""


class MissingSystemFlopsError(ValueError):
    """As aiconfigurator_core.sdk raises it."""


class GEMMQuantMode(Enum):
    bfloat16 = "bfloat16"
    fp8 = "fp8"
    fp8_static = "fp8_static"
    nvfp4 = "nvfp4"
    int4_wo = "int4_wo"
    int8_wo = "int8_wo"
    sq = "sq"


class KVCacheQuantMode(Enum):
    bfloat16 = "bfloat16"
    fp8 = "fp8"
    int8 = "int8"


def engine_key(config: dict[str, Any], system: str, **choice: Any) -> str:
    """Name an engine by its shape and what was asked of it."""
    size = f"{config['hidden_size']}x{config['num_hidden_layers']}"
    given = ",".join(f"{k}={v}" for k, v in sorted(choice.items()) if v is not None)
    return f"{size}|{system}|{given}"


def gemm(
    name: str, scale: float, n: int, k: int, quant: GEMMQuantMode
) -> dict[str, Any]:
    return {
        "Gemm": {
            "name": name,
            "scale_factor": float(scale),
            "n": n,
            "k": k,
            "quant_mode": quant.name,
            "scale_num_tokens": 1,
            "low_precision_input": False,
            "seq_split": 1,
            "below_grid_sol": False,
        }
    }


def generation_attention(
    name: str,
    scale: float,
    n: int,
    n_kv: int,
    cache: KVCacheQuantMode,
    *,
    head_size: int,
) -> dict[str, Any]:
    return {
        "GenerationAttention": {
            "name": name,
            "scale_factor": float(scale),
            "n": n,
            "n_kv": n_kv,
            "head_size": head_size,
            "window_size": 0,
            "kv_cache_dtype": cache.name,
            "lane_order": ["default"],
        }
    }


def elementwise(
    name: str, scale: float, dim_in: int, dim_out: int, ratio: float
) -> dict[str, Any]:
    assert 0 < ratio <= 1
    return {
        "Elementwise": {
            "name": name,
            "scale_factor": float(scale),
            "bytes_per_token": 2.0 * (dim_in + dim_out),
            "scale_num_tokens": 1,
            "seq_split": 1,
        }
    }


def all_reduce(name: str, scale: float, hidden: int, gpus: int) -> dict[str, Any]:
    return {
        "CustomAllReduce": {
            "name": name,
            "scale_factor": float(scale),
            "hidden_size": hidden,
            "tp_size": gpus,
            "quant": "half",
            "seq_split": 1,
        }
    }


def ops_json(ops: list[dict[str, Any]]) -> str:
    return json.dumps(ops, separators=(",", ":"))


class EngineHandle:
    """The two ways in, and the three questions that are asked."""

    answers: ClassVar[dict[str, Any]] = {}

    def __init__(self, key: str, quant: str | None, system: str) -> None:
        self.key, self.quant, self.system = key, quant, system

    @classmethod
    def compile(
        cls,
        model_path: str,
        system: str,
        backend: str,
        *,
        backend_version: str,
        tp_size: int,
        kvcache_quant_mode: str | None = None,
        nextn: int,
        gemm_quant_mode: str | None = None,
        moe_tp_size: int | None = None,
        moe_ep_size: int | None = None,
    ) -> EngineHandle:
        assert backend == "trtllm"
        assert nextn == 0, "it would read the cache once per token"
        if backend_version not in (*SLOTS, *SLOTS.values()):
            raise ValueError(
                f"trtllm/{backend_version!r} looks like an old-style query"
            )
        if gemm_quant_mode is not None:
            GEMMQuantMode[gemm_quant_mode]
        if kvcache_quant_mode is not None:
            KVCacheQuantMode[kvcache_quant_mode]
        config = json.loads((Path(model_path) / "config.json").read_text())
        (architecture,) = config["architectures"]
        if architecture not in ARCHITECTURES:
            raise ValueError(
                f"The model's architecture {architecture} is not supported."
            )
        key = engine_key(
            config, system, tp=tp_size, gemm=gemm_quant_mode, kv=kvcache_quant_mode
        )
        return cls(key, gemm_quant_mode, system)

    @classmethod
    def for_database(cls, database: str) -> EngineHandle:
        return cls(database, None, database)

    def run_static_per_op(
        self, *, batch_size: int, isl: int, osl: int, mode: str
    ) -> tuple[list[Any], list[Any]]:
        assert (osl, mode) == (2, "static_gen")
        self._require_data()
        found = self._recorded(f"{self.key}|step|{batch_size}|{isl}")
        return [], [(name, ms, 0.0, source) for name, ms, source in found]

    def predict_prefill_latency(self, batch: int, tokens: int, prefix: int) -> float:
        assert (batch, prefix) == (1, 0)
        return float(self._recorded(f"{self.key}|prefill|{tokens}"))

    def evaluate_ops_json(
        self, ops: str, *, is_context: bool, batch_size: int, s: int
    ) -> list[Any]:
        assert not is_context
        found = self._recorded(f"{self.key}|ops|{batch_size}|{s}|{ops}")
        return [(name, ms, 0.0, source) for name, ms, source in found]

    def _require_data(self) -> None:
        if self.quant == "int4_wo":
            raise PerfDataNotAvailableError(
                "perf database error: GEMM perf data missing for quant 'int4_wo'"
            )
        if self.quant == "nvfp4" and self.system in MEASURED:
            raise MissingSystemFlopsError(
                "missing system flops: quant mode 'nvfp4' needs 'fp4_tc_flops'"
            )
        if "576x" in self.key:
            raise PerfDataNotAvailableError(
                "perf database error: generation attention data missing for n_kv 3"
            )

    def _recorded(self, question: str) -> Any:
        assert question in self.answers, f"not recorded: {question}"
        return self.answers[question]


def get_version_slots(system: str, backend: str) -> dict[str, str] | None:
    assert backend == "trtllm"
    return SLOTS if system in MEASURED else None


def get_database(system: str, backend: str, version: str) -> str:
    assert (backend, version) == ("trtllm", "current")
    return system


def modules() -> dict[str, ModuleType]:
    """Give what stands in for the package, by the names of its modules."""
    EngineHandle.answers = json.loads(ANSWERS.read_text())
    contents: dict[str, dict[str, Any]] = {
        NAME: {},
        f"{NAME}.sdk": {"EngineHandle": EngineHandle},
        f"{NAME}.sdk.engine": {"build_ops_json": ops_json},
        f"{NAME}.sdk.common": {
            "GEMMQuantMode": GEMMQuantMode,
            "KVCacheQuantMode": KVCacheQuantMode,
        },
        f"{NAME}.sdk.operations": {
            "GEMM": gemm,
            "GenerationAttention": generation_attention,
            "ElementWise": elementwise,
            "CustomAllReduce": all_reduce,
        },
        f"{NAME}.sdk.perf_database": {
            "get_version_slots": get_version_slots,
            "get_database": get_database,
        },
    }
    made = {}
    for name, content in contents.items():
        module = ModuleType(name)
        vars(module).update(content)
        made[name] = module
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(made[parent], last, module)
    return made
