"""Engine directories, recipes and installations for tests of the runner."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tokenizers
from packaging.version import Version

from tests.trtllm.engine.run.fakes import VOCABULARY, target_token
from tests.trtllm.machines import H200
from trtspec.recipe import Recipe
from trtspec.run import Request, SamplingParams
from trtspec.trtllm import facts
from trtspec.trtllm.engine.engine_config import EngineConfig
from trtspec.trtllm.engine.run import EngineRunner
from trtspec.trtllm.installation import Installation

END, OTHER_END = 1, 2
MODES = {
    "none": {},
    "ngram": {"draft_length": 4, "max_matching_ngram": 2},
    "draft_target": {"model": "./draft", "draft_length": 4},
    "medusa": {"model": "./heads", "tree": [[0], [0, 0], [1]], "num_heads": 2},
    "eagle": {"model": "./heads", "tree": [[0], [0, 0], [1]], "num_layers": 2},
    "redrafter": {"model": "./heads", "num_beams": 2, "draft_length_per_beam": 3},
    "lookahead": {"window_size": 3, "ngram_size": 3, "verification_set_size": 3},
}
CAPACITY = {
    "none": 0,
    "ngram": 6,
    "draft_target": 6,
    "medusa": 63,
    "eagle": 63,
    "redrafter": 6,
    "lookahead": 11,
}
EXTRAS = {
    "medusa": {"num_medusa_heads": 2},
    "eagle": {"num_eagle_layers": 2, "max_non_leaves_per_layer": 10},
    "redrafter": {
        "redrafter_num_beams": 2,
        "redrafter_draft_len_per_beam": 3,
        "redrafter_greedy_search": True,
    },
}
LIMITS = {"max_batch_size": 2, "max_input_tokens": 20, "max_total_tokens": 60}


def recipe(
    method: str = "none", *, limits=None, tensor_parallel=1, **options
) -> Recipe:
    """A recipe of the engine backend; ``options`` are the method's."""
    return Recipe.model_validate(
        {
            "schema": "trtspec/v1",
            "name": "toy",
            "backend": "tensorrt",
            "target": {"model": "./target", "tensor_parallel": tensor_parallel},
            "speculation": {"method": method, **MODES[method], **options},
            "limits": {**LIMITS, **(limits or {})},
        }
    )


def engine(method: str = "none", **changes: Any) -> EngineConfig:
    """What an engine that suits ``recipe(method)`` says of itself."""
    capacity = CAPACITY[method]
    values = {
        "version": "1.2.1",
        "architecture": "LlamaForCausalLM",
        "mode": facts.modes()[facts.architectures()[method].mode],
        "max_draft_len": capacity,
        "max_batch_size": 2,
        "max_input_len": 60,
        "max_seq_len": 60 + capacity,
        "max_num_tokens": 8192,
        "max_beam_width": 1,
        "paged_context_fmha": True,
        "gather_generation_logits": False,
        "kv_cache_quant": None,
        "quant": None,
        "dtype": "float16",
        "vocab_size": VOCABULARY,
        "tp_size": 1,
        "extras": EXTRAS.get(method, {}),
    }
    return EngineConfig(**{**values, **changes})


def write_engine(directory: Path, config: EngineConfig) -> Path:
    """Write the config.json that says so."""
    directory.mkdir(parents=True, exist_ok=True)
    document = {
        "version": config.version,
        "pretrained_config": {
            "architecture": config.architecture,
            "dtype": config.dtype,
            "vocab_size": config.vocab_size,
            "mapping": {"tp_size": config.tp_size},
            "quantization": {
                "quant_algo": config.quant,
                "kv_cache_quant_algo": config.kv_cache_quant,
            },
            **config.extras,
        },
        "build_config": {
            "speculative_decoding_mode": config.mode,
            "max_draft_len": config.max_draft_len,
            "max_batch_size": config.max_batch_size,
            "max_input_len": config.max_input_len,
            "max_seq_len": config.max_seq_len,
            "max_num_tokens": config.max_num_tokens,
            "max_beam_width": config.max_beam_width,
            "gather_generation_logits": config.gather_generation_logits,
            "plugin_config": {"use_paged_context_fmha": config.paged_context_fmha},
        },
    }
    (directory / "config.json").write_text(json.dumps(document))
    return directory


def write_tokenizer(directory: Path, ends=(END,)) -> Path:
    """A tokenizer whose token i is the word ``w<i>``, and the ids that end output."""
    directory.mkdir(parents=True, exist_ok=True)
    words = {f"w{i}": i for i in range(VOCABULARY)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="w0"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer.decoder = tokenizers.decoders.WordPiece(prefix="##", cleanup=False)
    tokenizer.save(str(directory / "tokenizer.json"))
    config = {"eos_token_id": list(ends)}
    (directory / "generation_config.json").write_text(json.dumps(config))
    return directory


def installation(version: str = "1.2.1", gpus: int = 1, **changes: Any) -> Installation:
    """An installation that has everything."""
    values = {
        "version": Version(version),
        "tensorrt": "10.0",
        "executor": True,
        "worker": Path("tensorrt_llm/bin/executorWorker"),
        "cuda": "12.9",
        "driver": H200.driver,
        "gpus": (H200,) * gpus,
    }
    return Installation(**{**values, **changes})


class Opener:
    """Opens runners in a folder and closes them when the test ends."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.opened: list[EngineRunner] = []

    def __call__(
        self,
        method="none",
        *,
        target=None,
        draft=None,
        ends=(END,),
        version="1.2.1",
        installed=None,
        **options,
    ) -> EngineRunner:
        """Open a runner; ``target`` and ``draft`` change what the engines say."""
        changes = {"version": version}
        write_engine(
            self.root / "target", engine(method, **{**changes, **(target or {})})
        )
        if method == "draft_target":
            write_engine(self.root / "draft", engine(**{**changes, **(draft or {})}))
        runner = EngineRunner(
            recipe(method, **options),
            self.root / "target",
            self.root / "draft" if method == "draft_target" else None,
            write_tokenizer(self.root / "tokenizer", ends),
            installed or installation(version),
        )
        self.opened.append(runner)
        return runner


def ask(name="r", prompt=(3, 9, 4), tokens=12, **options) -> Request:
    """A greedy request that only its length ends, unless told otherwise."""
    return Request(name, tuple(prompt), tokens, **{"ignore_eos": True, **options})


def sampled(seed=0, **options) -> SamplingParams:
    """Sampling at temperature 0.7, unless told otherwise."""
    return SamplingParams(**{"temperature": 0.7, "seed": seed, **options})


def greedy_tokens(prompt=(3, 9, 4), count=12, token=target_token) -> list[int]:
    """What plain greedy decoding with the fake target emits."""
    tokens = list(prompt)
    for _ in range(count):
        tokens.append(token(tokens))
    return tokens[len(prompt) :]


def finish(runner: EngineRunner, *requests: Request):
    """Run requests together; their completions by id, and the step records."""
    for request in requests:
        runner.submit(request)
    done, records = {}, []
    while runner.busy:
        result = runner.advance()
        records += result.records
        done |= {c.request_id: c.completion for c in result.chunks if c.completion}
    return done, records
