"""Whether the method's parameters are such that this version runs them."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject
from trtspec.methods import Eagle, Lookahead
from trtspec.trtllm import facts
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.versions import contains

_LARGE_BATCH = 64


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


def top_k_is_sampled(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Refuse a top-k that the runtime would quietly lower."""
    top_k, most = subject.recipe.sampling.top_k, facts.most_top_k()
    if top_k > most:
        yield Finding(
            "top-k",
            "blocking",
            subject.where("sampling", "top_k"),
            f"top_k {top_k} is above {most}",
            "the runtime goes by no more "
            "(cpp/tensorrt_llm/kernels/samplingTopKKernels.h, TOP_K_MAX)",
            f"set sampling.top_k to {most} or less, or to 0 for all tokens",
        )


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
    batch = subject.recipe.limits.max_batch_size
    if isinstance(method, Eagle) and method.is_dynamic and batch > _LARGE_BATCH:
        yield Finding(
            "known-trouble",
            "warning",
            subject.where("limits", "max_batch_size"),
            f"EAGLE-2 with max_batch_size {batch}",
            "an assertion has been reported at large batches (#4787)",
            "lower limits.max_batch_size if it occurs",
        )
