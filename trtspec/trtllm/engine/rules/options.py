"""Whether limits, capacities and flags are such that trtllm-build takes them."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject
from trtspec.methods import Eagle, Lookahead
from trtspec.trtllm import facts
from trtspec.trtllm.engine.compile import build_flags, mode_of
from trtspec.trtllm.engine.sizes import (
    drafts_come_from_outside,
    options,
    target_sizes,
)
from trtspec.trtllm.engine.toolchain import value_fault
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.versions import contains

_MOST_EAGLE_REQUESTS = 512

OURS = frozenset({
    "checkpoint_dir", "output_dir", "gemm_plugin", "use_paged_context_fmha",
    "max_batch_size", "max_input_len", "max_seq_len", "max_num_tokens",
    "max_beam_width", "max_draft_len", "speculative_decoding_mode", "workers",
    "remove_input_padding", "gather_generation_logits", "gather_context_logits",
    "gather_all_token_logits", "build_config", "model_config", "kv_cache_type",
    "paged_kv_cache", "dry_run",
})  # fmt: skip
"""Flags that follow from the recipe, or that no speculation method survives."""


def batch_of_eagle(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Refuse EAGLE for more requests than its builder takes."""
    batch = subject.recipe.limits.max_batch_size
    if isinstance(subject.recipe.speculation, Eagle) and batch > _MOST_EAGLE_REQUESTS:
        yield Finding(
            "batch-size",
            "blocking",
            subject.where("limits", "max_batch_size"),
            f"max_batch_size {batch} with method eagle",
            f"the builder takes up to {_MOST_EAGLE_REQUESTS} (tensorrt_llm/builder.py)",
            f"set limits.max_batch_size to {_MOST_EAGLE_REQUESTS} or less",
        )


def draft_capacity_holds(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Refuse drafts that are longer than what the engine is built for."""
    recipe = subject.recipe
    capacity = options(recipe).max_draft_length
    longest = recipe.speculation.longest_draft
    if capacity is not None and longest > capacity:
        yield Finding(
            "draft-length",
            "blocking",
            subject.where("speculation", "draft_length"),
            f"a draft of {longest} tokens does not fit into an engine built for "
            f"{capacity} (engine.max_draft_length)",
            "the runtime refuses drafts that are longer than built for",
            "lower draft_length, or raise engine.max_draft_length",
        )


def capacity_is_settable(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Point at a capacity that has no effect, and at one that the builder raises."""
    recipe, chosen = subject.recipe, options(subject.recipe)
    if chosen.max_draft_length is not None and not drafts_come_from_outside(recipe):
        yield Finding(
            "draft-length",
            "blocking",
            subject.where("engine", "max_draft_length"),
            f"max_draft_length {chosen.max_draft_length} with method "
            f"{recipe.speculation.method}",
            "only drafts from outside (draft_target, ngram) have such a capacity; here "
            "it follows from the method's own parameters",
            "delete engine.max_draft_length",
        )
    used = target_sizes(recipe).max_num_tokens
    if chosen.max_num_tokens is not None and chosen.max_num_tokens < used:
        yield Finding(
            "num-tokens",
            "warning",
            subject.where("engine", "max_num_tokens"),
            f"max_num_tokens {chosen.max_num_tokens} is below {used}, a step of the "
            "whole batch",
            "the builder raises it to max_batch_size x (draft tokens + 1)",
            f"write {used}, or lower limits.max_batch_size",
        )


def tree_is_known(installation: Installation, subject: Subject) -> Iterator[Finding]:
    """Refuse EAGLE-2 where it is not established that the version has it."""
    method, version = subject.recipe.speculation, installation.version
    if not isinstance(method, Eagle) or not method.is_dynamic:
        return
    if version is None or not facts.has_backend(version):
        return
    if "use_dynamic_tree" not in facts.fields("EagleConfig", version):
        yield Finding(
            "dynamic-tree",
            "blocking",
            subject.where("speculation", "tree"),
            f"tree: dynamic (EAGLE-2) is not established for TensorRT-LLM {version}",
            "its runtime argument is first seen in a later version",
            "use a fixed tree, or a later version",
        )


def lookahead_drafts(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Refuse lookahead sizes with which nothing is verified."""
    method = subject.recipe.speculation
    if isinstance(method, Lookahead) and not method.longest_draft:
        yield Finding(
            "lookahead",
            "blocking",
            subject.where("speculation", "window_size"),
            f"window_size {method.window_size}, ngram_size {method.ngram_size}, "
            f"verification_set_size {method.verification_set_size} draft no token",
            "an engine for lookahead needs a max_draft_len above 0 "
            "(cpp/tensorrt_llm/runtime/gptJsonConfig.cpp)",
            "the smallest useful are 2, 2, 1; for plain decoding write method: none",
        )


def flags_are_known(installation: Installation, subject: Subject) -> Iterator[Finding]:
    """Hold further flags and the GEMM plugin against this version's own list."""
    version = installation.version
    if version is None or not facts.has_backend(version):
        return
    chosen, known = options(subject.recipe), facts.flags("trtllm-build", version)
    if chosen.gemm_plugin:
        fact = known["--gemm_plugin"]
        if fault := value_fault(fact, [chosen.gemm_plugin]):
            where = subject.where("engine", "gemm_plugin")
            what = f"gemm_plugin {chosen.gemm_plugin}"
            yield Finding("build-flags", "blocking", where, what, fault)
    for name, value in chosen.build_flags.items():
        what = f"{name}: {value}"
        where = subject.where("engine", "build_flags", name)
        if name in OURS:
            why = "it follows from the recipe's other keys"
            action = "delete it, and set what it follows from"
            yield Finding("build-flags", "blocking", where, what, why, action)
        elif f"--{name}" not in known:
            why = f"trtllm-build {version} has no flag --{name}"
            yield Finding("build-flags", "blocking", where, what, why, "delete it")
        elif fault := _fault_of_value(known[f"--{name}"], name, value):
            yield Finding("build-flags", "blocking", where, what, fault)


def _fault_of_value(fact: facts.Flag, name: str, value: str | int | bool) -> str:
    if fact.kind == "switch" and value is False:
        return ""  # left out
    return value_fault(fact, [str(v) for v in build_flags({name: value})][1:])


def known_trouble(installation: Installation, subject: Subject) -> Iterator[Finding]:
    """Warn of versions with reported failures of the method."""
    version, method = installation.version, subject.recipe.speculation
    if version is None:
        return
    if isinstance(method, Lookahead) and contains(">=0.20,<0.21", version):
        yield Finding(
            "known-trouble",
            "warning",
            subject.where("speculation", "method"),
            f"lookahead on TensorRT-LLM {version}",
            'reported to fail there with "invalid configuration argument" (#5451)',
            "use 0.21 or later if it does",
        )
    if mode_of(subject.recipe) == "eagle" and isinstance(method, Eagle):
        batch = subject.recipe.limits.max_batch_size
        if method.is_dynamic and batch > _LARGE_BATCH:
            yield Finding(
                "known-trouble",
                "warning",
                subject.where("limits", "max_batch_size"),
                f"EAGLE-2 with max_batch_size {batch}",
                "an assertion has been reported at large batches (#4787)",
                "lower limits.max_batch_size if it occurs",
            )


_LARGE_BATCH = 64
