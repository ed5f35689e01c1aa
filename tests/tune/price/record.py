"""Ask the real aiconfigurator-core what the tests ask, and keep its answers.

python -m tests.tune.price.record     (with trtspec[price] installed)
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from tests.tune.price.fake_kernels import ANSWERS, engine_key
from tests.tune.price.questions import ask_all


def main() -> None:
    from aiconfigurator_core.sdk import engine

    handle, answers = engine.EngineHandle, {}
    real = {
        name: getattr(handle, name)
        for name in (
            "run_static_per_op",
            "predict_prefill_latency",
            "evaluate_ops_json",
        )
    }
    compile_, for_database = handle.compile, handle.for_database

    def compiled(path: str, system: str, backend: str, **asked: Any) -> Any:
        made = compile_(path, system, backend, **asked)
        config = json.loads((Path(path) / "config.json").read_text())
        made.key = engine_key(
            config,
            system,
            tp=asked["tp_size"],
            gemm=asked.get("gemm_quant_mode"),
            kv=asked["kvcache_quant_mode"],
        )
        return made

    def opened(database: Any, **asked: Any) -> Any:
        made = for_database(database, **asked)
        made.key = database.system
        return made

    def step(self: Any, *, batch_size: int, isl: int, osl: int, mode: str) -> Any:
        found = real["run_static_per_op"](
            self, batch_size=batch_size, isl=isl, osl=osl, mode=mode
        )
        answers[f"{self.key}|step|{batch_size}|{isl}"] = _short(found[1])
        return found

    def prefill(self: Any, batch: int, tokens: int, prefix: int) -> float:
        found = real["predict_prefill_latency"](self, batch, tokens, prefix)
        answers[f"{self.key}|prefill|{tokens}"] = round(found, 6)
        return found

    def ops(self: Any, given: str, *, is_context: bool, batch_size: int, s: int) -> Any:
        found = real["evaluate_ops_json"](
            self, given, is_context=is_context, batch_size=batch_size, s=s
        )
        answers[f"{self.key}|ops|{batch_size}|{s}|{given}"] = _short(found)
        return found

    handle.compile, handle.for_database = compiled, opened
    handle.run_static_per_op, handle.predict_prefill_latency = step, prefill
    handle.evaluate_ops_json = ops
    with tempfile.TemporaryDirectory() as directory:
        ask_all(Path(directory))
    lines = (f"{json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(answers.items()))
    ANSWERS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _short(ops: Any) -> list[Any]:
    return [[name, round(ms, 6), source] for name, ms, _, source in ops]


if __name__ == "__main__":
    main()
