"""Runners on strict stand-ins, for the engine that suits each method."""

from __future__ import annotations

import importlib
from pathlib import Path

from tests.standins.engines import bench, engine
from tests.trtllm.engine.run.artifacts import END, installation, recipe, write_tokenizer
from trtspec.trtllm.engine.run import EngineRunner

TREE = {"tree": [[0], [0, 0], [1], [0, 1], [0, 0, 0], [0, 0, 0, 0]]}
METHODS = {
    "none": {},
    "ngram": {},
    "draft_target": {},
    "medusa": TREE | {"num_heads": 4},
    "eagle": TREE | {"num_layers": 4},
    "redrafter": {"num_beams": 5, "draft_length_per_beam": 5},
    "lookahead": {},
}
EXTERNAL = {"mode": "draft_tokens_external", "flags": ("--max_draft_len", "6")}
BUILD = {
    "none": {},
    "ngram": EXTERNAL,
    "draft_target": EXTERNAL,
    "medusa": {"mode": "medusa"},
    "eagle": {"mode": "eagle"},
    "redrafter": {"mode": "explicit_draft_tokens"},
    "lookahead": {"mode": "lookahead_decoding", "flags": ("--max_draft_len", "11")},
}
LIMITS = {"max_batch_size": 3, "max_input_tokens": 20, "max_total_tokens": 40}
REPEATING = (5, 6, 7, 8, 5, 6, 7, 8, 5, 6)


def built(method: str, seed: int = 0, version: str = "1.2.1") -> Path:
    """An engine of a toy that suits a method."""
    options = dict(BUILD[method])
    flags = options.pop("flags", ())
    return engine(*flags, seed=seed, version=version, **options)


class StandInOpener:
    """Opens runners on stand-ins and closes them when the test ends."""

    def __init__(self, monkeypatch, root: Path) -> None:
        self._monkeypatch = monkeypatch
        self._root = root
        self.opened: list[EngineRunner] = []

    def arguments(self, method, version="1.2.1", ends=(END,), draft_seed=1, **options):
        """What ``EngineRunner`` is made of; the stand-ins are active from here on."""
        here = bench(version)
        here.standin.activate(self._monkeypatch)
        has_draft = method == "draft_target"
        return (
            recipe(method, limits=LIMITS, **{**METHODS[method], **options}),
            built(method, version=version),
            built("none", draft_seed, version) if has_draft else None,
            write_tokenizer(self._root / "tokenizer", ends),
            installation(version, worker=here.standin.worker),
        )

    def __call__(self, method, *given, **options):
        """Give a runner, and what the stand-in records of its engines."""
        arguments = self.arguments(method, *given, **options)
        module = importlib.import_module("tensorrt_llm.bindings.executor")
        module.RECORDS.clear()
        runner = EngineRunner(*arguments)
        self.opened.append(runner)
        return runner, module.RECORDS
