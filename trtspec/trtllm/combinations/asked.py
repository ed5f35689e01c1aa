"""What a recipe for TensorRT-LLM asks for beside speculation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from trtspec.check.asked_requests import asked_for, asked_where, workload_controls
from trtspec.check.memory.cache_types import target_cache_type
from trtspec.check.rules.gpu_support import gpu_is_supported
from trtspec.check.subject import Subject
from trtspec.methods import DraftTarget, Eagle, Lookahead, Medusa, Method, ReDrafter
from trtspec.models.drafter import DrafterInfo
from trtspec.models.info import ModelInfo
from trtspec.recipe.engine import EngineOptions
from trtspec.recipe.pytorch import PyTorchOptions
from trtspec.trtllm.capability import capability_of, shown

_SWITCHES = {
    "overlap_scheduler": "overlap_scheduler",
    "cuda_graphs": "cuda_graphs",
    "block_reuse": "kv_reuse",
    "chunked_prefill": "chunked_prefill",
    "attention_dp": "attention_dp",
}
"""Key of ``pytorch`` → the feature that it switches on."""
_LORA_FLAGS = ("lora_plugin", "lora_dir", "lora_target_modules", "max_lora_rank")
_REQUEST_FIELDS = {"lora_request": "lora", "disaggregated_params": "disaggregated"}
"""Field of a request → the feature that the server must have for it."""
_HALF = ("bfloat16", "float16")
_INSIDE = (Medusa, Eagle, ReDrafter, Lookahead)
"""Methods that are part of the target's engine, and so of its quantization."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A feature that the recipe, its workload or the GPU brings along.

    :param feature: its name in the facts.
    :param where: place of what asks for it.
    :param shown: the key with its value.
    :param value: the number or word that it depends on.
    :param stated: whether the recipe says so, or it is so unless it is said otherwise.
    :param key: of ``pytorch.llm_args`` that asks for it; empty if another place does.
    """

    feature: str
    where: str
    shown: str
    value: int | str | None = None
    stated: bool = True
    key: str = ""


def asked_of_server(subject: Subject) -> Iterator[Asked]:
    """Give what a recipe of backend pytorch asks for."""
    options = subject.recipe.pytorch or PyTorchOptions()
    yield from _switches(subject, options)
    yield from _keys(subject, options)
    yield from _requests(subject)
    yield from _of_models(subject, options)
    yield from _gpu(subject)


def asked_of_engines(subject: Subject) -> Iterator[Asked]:
    """Give what a recipe of backend tensorrt asks for."""
    flags = (subject.recipe.engine or EngineOptions()).build_flags
    for name, value in flags.items():
        where = subject.where("engine", "build_flags", name)
        if name in _LORA_FLAGS and value not in (False, "disable"):
            yield Asked("lora", where, f"{name}: {value}")
        if name == "max_beam_width" and _above_one(value):
            yield Asked("beams", where, f"{name}: {value}")
    kind = subject.recipe.target.quantization
    if kind != "none" and isinstance(subject.recipe.speculation, _INSIDE):
        where = subject.where("target", "quantization")
        yield Asked("quantization", where, f"quantization: {kind}", kind)
    yield from _gpu(subject)


def _switches(subject: Subject, options: PyTorchOptions) -> Iterator[Asked]:
    for key, feature in _SWITCHES.items():
        if getattr(options, key):
            stated = key in options.model_fields_set
            where = subject.where("pytorch", key)
            yield Asked(feature, where, f"{key}: true", stated=stated)
    if options.guided_decoding != "none":
        where = subject.where("pytorch", "guided_decoding")
        says = f"guided_decoding: {options.guided_decoding}"
        value = subject.recipe.speculation.longest_draft
        yield Asked("guided_decoding", where, says, value)


def _above_one(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 1


def _is_on(value: object) -> bool:
    return value not in (None, False)


_KEYS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "pipeline_parallel_size": ("pipeline_parallel", _above_one),
    "context_parallel_size": ("context_parallel", _above_one),
    "enable_lora": ("lora", _is_on),
    "lora_config": ("lora", _is_on),
    "cache_transceiver_config": ("disaggregated", _is_on),
    "batched_logits_processor": ("logits_processor", _is_on),
    "gather_generation_logits": ("generation_logits", _is_on),
    "max_beam_width": ("beams", _above_one),
}
"""Key of the LLM API → its feature, and which values ask for it."""


def _keys(subject: Subject, options: PyTorchOptions) -> Iterator[Asked]:
    seen: set[str] = set()
    for key, value in options.llm_args.items():
        feature, asks = _KEYS.get(key, ("", _is_on))
        if feature and feature not in seen and asks(value):
            seen.add(feature)
            where = subject.where("pytorch", "llm_args", key)
            says = key if isinstance(value, dict) else _line(key, value)
            yield Asked(feature, where, says, key=key)


def _line(key: str, value: object) -> str:
    return f"{key}: {str(value).lower() if isinstance(value, bool) else value}"


def _requests(subject: Subject) -> Iterator[Asked]:
    for name, one in workload_controls(subject).items():
        if feature := _REQUEST_FIELDS.get(name):
            yield Asked(feature, asked_where(subject, one), asked_for(one))


def _of_models(subject: Subject, options: PyTorchOptions) -> Iterator[Asked]:
    target, method = subject.target, subject.recipe.speculation
    if target is not None and target.sliding_window is not None:
        says = f"the target looks back {target.sliding_window} tokens"
        where = subject.where("target", "model")
        yield Asked("sliding_window", where, says, stated=False)
    own = "tensor_parallel" in method.model_fields_set
    if isinstance(method, DraftTarget) and own:
        size, of_target = method.tensor_parallel, subject.recipe.target.tensor_parallel
        if size != of_target:
            where = subject.where("speculation", "tensor_parallel")
            says = (
                f"tensor_parallel: {size} of the draft model, {of_target} of the target"
            )
            yield Asked("draft_tensor_parallel", where, says, size)
    drafts = subject.draft or subject.drafter
    if target_cache_type(subject.recipe, target) == "fp8" and _is_half(method, drafts):
        stated = "kv_cache" in options.model_fields_set
        says = f"kv_cache fp8, and the drafter's weights are {drafts and drafts.dtype}"
        where = subject.where("pytorch", "kv_cache")
        yield Asked("draft_precision", where, says, stated=stated)


def _is_half(method: Method, drafts: ModelInfo | DrafterInfo | None) -> bool:
    return method.method != "mtp" and drafts is not None and drafts.dtype in _HALF


def _gpu(subject: Subject) -> Iterator[Asked]:
    """Give the oldest GPU, unless a rule about the GPU alone refuses it already."""
    capability = capability_of(subject)
    if capability is not None and not any(gpu_is_supported(subject)):
        where = subject.where("speculation", "method")
        says = f"compute capability {shown(capability)}"
        yield Asked("compute_capability", where, says, capability)
