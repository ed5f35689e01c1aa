"""Which keys each method has of its own in ``speculative_config``."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from trtspec.methods import DFlash, DraftTarget, Eagle3, Mtp, NGram, Pard, Suffix
from trtspec.trtllm.pytorch.compile.features import (
    relaxed_settings,
    suffix_settings,
    tree_settings,
)
from trtspec.trtllm.pytorch.compile.lengths import length_settings
from trtspec.trtllm.pytorch.compile.subject import Item, Subject, blocking
from trtspec.trtllm.pytorch.settings import Remark, Setting

DRAFT = "draft"
"""Folder of the drafter in an artifact, from where everything runs."""


def _draft_model(subject: Subject) -> Setting:
    new = subject.knows("speculative_model")
    key = "speculative_model" if new else "speculative_model_dir"
    return Setting(key, DRAFT, "the drafter, a folder of this artifact")


def _eagle3(subject: Subject, class_name: str) -> Iterator[Item]:
    method = subject.method
    assert isinstance(method, Eagle3), "dispatched by method"
    yield from length_settings(subject, class_name)
    yield _draft_model(subject)
    yield from _two_models(subject, method, class_name)
    yield from tree_settings(subject, class_name)
    yield from suffix_settings(subject)
    if method.layers_to_capture is None:
        return
    if subject.knows("eagle3_layers_to_capture", class_name):
        why = "target layers whose hidden states the head reads"
        yield Setting("eagle3_layers_to_capture", method.layers_to_capture, why)
        return
    yield blocking(
        "layers-to-capture",
        ("speculation", "layers_to_capture"),
        f"TensorRT-LLM {subject.version} captures layers of its own choice",
        "eagle3_layers_to_capture came with 1.1",
        "delete layers_to_capture if the head reads layers 1, L/2-1 and L-4",
    )


def _two_models(subject: Subject, method: Eagle3, class_name: str) -> Iterator[Item]:
    if subject.shape == "two models" and subject.knows("eagle3_one_model", class_name):
        by_itself = method.two_model is None
        why = "a draft length by batch needs" if by_itself else "the recipe asks for"
        yield Setting("eagle3_one_model", False, f"{why} two models")
    elif method.two_model:
        yield blocking(
            "two-model",
            ("speculation", "two_model"),
            f"TensorRT-LLM {subject.version} runs head and target as one model",
            "two-model EAGLE-3 ended with 1.2",
            "delete two_model",
        )


def _draft_target(subject: Subject, class_name: str) -> Iterator[Item]:
    method = subject.method
    assert isinstance(method, DraftTarget), "dispatched by method"
    yield from length_settings(subject, class_name)
    yield _draft_model(subject)
    if method.use_draft_logits:
        yield Remark(
            "draft-logits",
            "warning",
            ("speculation", "use_draft_logits"),
            "use_draft_logits has no effect on backend pytorch",
            "it is a setting of backend tensorrt",
            "delete use_draft_logits",
        )
    of_target = subject.recipe.target.tensor_parallel
    own = "tensor_parallel" in method.model_fields_set
    if own and method.tensor_parallel != of_target:
        yield Remark(
            "draft-parallel",
            "warning",
            ("speculation", "tensor_parallel"),
            f"the draft model's tensor_parallel {method.tensor_parallel} has no effect",
            "on backend pytorch the draft model is shared by the target's GPUs",
            "delete speculation.tensor_parallel",
            source="https://github.com/NVIDIA/TensorRT-LLM/pull/11838",
            values={"draft": method.tensor_parallel, "target": of_target},
        )


def _mtp(subject: Subject, class_name: str) -> Iterator[Item]:
    method = subject.method
    assert isinstance(method, Mtp), "dispatched by method"
    yield from length_settings(subject, class_name)
    if method.vanilla:
        yield Setting("use_mtp_vanilla", True, "one head per drafted position")
    yield from tree_settings(subject, class_name)
    yield from suffix_settings(subject)
    yield from relaxed_settings(subject, class_name)


def _ngram(subject: Subject, class_name: str) -> Iterator[Item]:
    method = subject.method
    assert isinstance(method, NGram), "dispatched by method"
    yield from length_settings(subject, class_name)
    why = "longest n-gram that is looked up"
    yield Setting("max_matching_ngram_size", method.max_matching_ngram, why)


def _suffix(subject: Subject, class_name: str) -> Iterator[Item]:
    method = subject.method
    assert isinstance(method, Suffix), "dispatched by method"
    yield from length_settings(subject, class_name)
    longest = method.max_matching_ngram
    why = "longest suffix that is looked up" if longest else "as long as it matches"
    yield Setting("max_matching_ngram_size", longest or -1, why)
    if not method.global_pool:
        return
    yield Setting("enable_global_pool", True, "look in other requests' texts too")
    size = method.global_pool_size
    if size is None:
        return
    yield Setting("global_pool_size", size, "requests whose text the pool holds")
    if size < subject.batch:
        yield blocking(
            "global-pool",
            ("speculation", "global_pool_size"),
            f"global_pool_size {size} is below limits.max_batch_size {subject.batch}",
            "TensorRT-LLM wants the pool to hold every running request",
            f"write global_pool_size: {subject.batch}, or delete it",
            snippet=f"speculation:\n  global_pool_size: {subject.batch}",
            source="tensorrt_llm/llmapi/llm_args.py",
            values={"global_pool_size": size, "max_batch_size": subject.batch},
        )


def _pard(subject: Subject, class_name: str) -> Iterator[Item]:
    method = subject.method
    assert isinstance(method, Pard), "dispatched by method"
    yield from length_settings(subject, class_name)
    yield _draft_model(subject)
    if method.mask_token_id is not None:
        yield Setting("mask_token_id", method.mask_token_id, "the drafter's mask token")
    yield from suffix_settings(subject)


def _dflash(subject: Subject, class_name: str) -> Iterator[Item]:
    method = subject.method
    assert isinstance(method, DFlash), "dispatched by method"
    yield from length_settings(subject, class_name)
    yield _draft_model(subject)
    if method.mask_token_id is not None:
        yield Setting("mask_token_id", method.mask_token_id, "the drafter's mask token")
    if method.target_layers is not None:
        why = "target layers that the drafter reads"
        yield Setting("target_layer_ids", method.target_layers, why)


def _auto(subject: Subject, class_name: str) -> Iterator[Item]:
    yield from ()


OWN_KEYS: dict[str, Callable[[Subject, str], Iterator[Item]]] = {
    "eagle3": _eagle3,
    "draft_target": _draft_target,
    "mtp": _mtp,
    "ngram": _ngram,
    "suffix": _suffix,
    "pard": _pard,
    "dflash": _dflash,
    "auto": _auto,
}
"""Method → what gives its keys, for a subject and the class they are of."""
