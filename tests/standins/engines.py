"""Engines of toy models, and executors on them, for the executor's tests."""

from __future__ import annotations

import functools
import importlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.reference.toys import make_toy
from tests.standins import StandIn
from tests.standins.samples import (
    Bench,
    make_bench,
    succeeded,
    write_eagle,
    write_medusa,
    write_redrafter,
)
from trtspec.trtllm import facts

PAGED = ("--use_paged_context_fmha", "enable", "--gather_generation_logits")
LIMITS = ("--max_batch_size", "4", "--max_input_len", "40", "--max_seq_len", "80")
EXTERNAL = "draft_tokens_external"
PATTERNS = {failure.name: failure.pattern for failure in facts.failures()}
CHAIN = [[0], [0, 0], [1], [0, 1], [0, 0, 0]]


@functools.cache
def toy(seed: int = 0, vocabulary: int = 48) -> Any:
    """A Llama in float32."""
    shape = {"num_key_value_heads": 2, "head_dim": 8}
    return make_toy("llama", seed, vocabulary, **shape)


@torch.inference_mode()
def greedy(prompt: tuple[int, ...], tokens: int, seed: int = 0) -> list[int]:
    """Plain greedy decoding, one whole forward per token."""
    text = list(prompt)
    for _ in range(tokens):
        text.append(int(toy(seed)(torch.tensor([text])).logits[0, -1].argmax()))
    return text[len(prompt) :]


@functools.cache
def _scratch() -> Any:
    return tempfile.TemporaryDirectory()


@functools.cache
def bench(version: str = "1.2.1", gpus: int = 2) -> Bench:
    """One installation for all tests that only read engines."""
    folder = Path(_scratch().name) / f"{version}-{gpus}"
    made = make_bench(folder, version, gpus=gpus)
    for seed, vocabulary in ((0, 48), (1, 48), (2, 56)):
        toy(seed, vocabulary).save_pretrained(folder / f"hf{seed}")
    return made


@functools.cache
def engine(
    *flags: str,
    mode: str | None = None,
    seed: int = 0,
    version: str = "1.2.1",
    convert: tuple[str, ...] = (),
) -> Path:
    """Convert and build; the engine's folder.

    :param flags: for trtllm-build, after the usual ones.
    :param convert: for the convert script.
    """
    here = bench(version)
    name = f"engine{len(list(here.folder.glob('engine*')))}"
    _convert(here, mode, seed, name, convert)
    given = () if mode is None else ("--speculative_decoding_mode", mode)
    io = ("--checkpoint_dir", f"checkpoint-{name}", "--output_dir", name)
    succeeded(here.call("trtllm-build", *io, *LIMITS, *PAGED, *given, *flags))
    return here.folder / name


def _convert(
    here: Bench, mode: str | None, seed: int, name: str, flags: tuple[str, ...]
) -> None:
    hf, folder = here.folder / f"hf{seed}", here.folder
    program, given = "llama", ("--model_dir", str(hf))
    if mode == "medusa":
        heads = write_medusa(folder / "heads")
        program, given = "medusa", (*given, "--medusa_model_dir", str(heads))
    elif mode == "eagle":
        head = write_eagle(folder / "head")
        program, given = "eagle", (*given, "--eagle_model_dir", str(head))
    elif mode == "explicit_draft_tokens":
        here.convert_plain(hf, f"base-{name}")
        drafter = str(write_redrafter(folder / "drafter"))
        base = ("--base_model_checkpoint_dir", f"base-{name}")
        program, given = "redrafter", (*base, "--drafter_model_dir", drafter)
    out = ("--dtype", "float32", "--output_dir", f"checkpoint-{name}")
    succeeded(here.script(program, *given, *out, *flags))


@dataclass
class Session:
    """The stand-in module, imported, with short ways to use it."""

    standin: StandIn

    @property
    def module(self) -> Any:
        return importlib.import_module("tensorrt_llm.bindings.executor")

    def config(self, **options: Any) -> Any:
        reuse = self.module.KvCacheConfig(enable_block_reuse=True)
        return self.module.ExecutorConfig(**{"kv_cache_config": reuse, **options})

    def open(self, folder: Path, **options: Any) -> Any:
        kind = self.module.ModelType.DECODER_ONLY
        return self.module.Executor(folder, kind, self.config(**options))

    def request(
        self, prompt: tuple[int, ...] = (3, 9, 4), tokens: int = 12, **options: Any
    ) -> Any:
        """A greedy request with metrics, whose output leaves the prompt out."""
        output = self.module.OutputConfig(
            exclude_input_from_output=True, return_perf_metrics=True
        )
        return self.module.Request(
            list(prompt), tokens, **{"output_config": output, **options}
        )

    def sampling(self, **options: Any) -> Any:
        return self.module.SamplingConfig(**options)

    def draft(self, tokens: list[int], **options: Any) -> Any:
        return self.module.ExternalDraftTokensConfig(tokens, **options)

    def decoding(self, mode: str, **options: Any) -> Any:
        chosen = getattr(self.module.DecodingMode, mode)()
        return self.module.DecodingConfig(decoding_mode=chosen, **options)

    def run(self, executor: Any, *requests: Any) -> list[Any]:
        """Final results, in order of the requests."""
        ids = executor.enqueue_requests(list(requests))
        return [responses[-1].result for responses in executor.await_responses(ids)]


def external(*flags: str) -> Path:
    """An engine that takes up to 4 drafts."""
    return engine("--max_draft_len", "4", *flags, mode=EXTERNAL)


def refused(session: Session, folder: Path, pattern: str, **options: Any) -> None:
    """Opening an engine fails with this message, and leaves nothing behind."""
    with pytest.raises(RuntimeError, match=pattern):
        session.open(folder, **options)
    assert session.module.RECORDS == []
