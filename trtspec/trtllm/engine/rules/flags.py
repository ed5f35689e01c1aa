"""Whether further flags and the GEMM plugin are such that trtllm-build takes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject
from trtspec.trtllm import facts
from trtspec.trtllm.engine.compile import build_flags
from trtspec.trtllm.engine.sizes import options
from trtspec.trtllm.engine.toolchain import value_fault
from trtspec.trtllm.installation import Installation

OURS = frozenset({
    "checkpoint_dir", "output_dir", "gemm_plugin", "use_paged_context_fmha",
    "max_batch_size", "max_input_len", "max_seq_len", "max_num_tokens",
    "max_beam_width", "max_draft_len", "speculative_decoding_mode", "workers",
    "remove_input_padding", "gather_generation_logits", "gather_context_logits",
    "gather_all_token_logits", "build_config", "model_config", "kv_cache_type",
    "paged_kv_cache", "dry_run",
})  # fmt: skip
"""Flags that follow from the recipe, or that no speculation method survives."""


class Refused(NamedTuple):
    """A flag that an engine of ours does not survive.

    :ivar values: those that are refused; empty if all but false.
    """

    values: tuple[str | int | bool, ...]
    why: str


_OTHER_SPLIT = Refused(
    (),
    "it splits the model in another way than its checkpoint was converted for "
    "(target.tensor_parallel) (tensorrt_llm/commands/build.py)",
)
_OTHER_MODEL = Refused(
    (),
    "it builds from Python code of your own, of which nothing is known here "
    "(tensorrt_llm/commands/build.py)",
)
REFUSED = {
    "context_fmha": Refused(
        ("disable",),
        "it switches paged context FMHA off too, and with it the reuse of KV cache "
        "blocks (tensorrt_llm/builder.py)",
    ),
    "streamingllm": Refused(
        ("enable",),
        "it switches paged context FMHA off, and with it the reuse of KV cache blocks "
        "(tensorrt_llm/builder.py)",
    ),
    "auto_parallel": _OTHER_SPLIT,
    "gpus_per_node": _OTHER_SPLIT,
    "cluster_key": _OTHER_SPLIT,
    "model_cls_file": _OTHER_MODEL,
    "model_cls_name": _OTHER_MODEL,
    "strip_plan": Refused(
        (),
        "it leaves the weights out of the engine, which must then be refitted before "
        "it runs; trtspec does not (trtllm-build --help)",
    ),
}
PATHS = (
    "input_timing_cache",
    "output_timing_cache",
    "lora_dir",
    "visualize_network",
)
"""Flags whose value is a file or a folder; each stage runs in a folder of its own."""

_NOT_ON_SM100 = (
    "gemm_swiglu_plugin",
    "fp8_rowwise_gemm_plugin",
    "low_latency_gemm_plugin",
    "low_latency_gemm_swiglu_plugin",
    "bert_context_fmha_fp32_acc",
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
        if name in OURS:
            why = "it follows from the recipe's other keys"
            action = "delete it, and set what it follows from"
            yield _fault(subject, name, value, why, action)
        elif f"--{name}" not in known:
            why = f"trtllm-build {version} has no flag --{name}"
            yield _fault(subject, name, value, why, "delete it")
        elif fault := _fault_of_value(known[f"--{name}"], name, value):
            yield _fault(subject, name, value, fault)


def flags_do_no_harm(installation: Installation, subject: Subject) -> Iterator[Finding]:
    """Refuse flags with which the engine would not be built, or not run."""
    chosen = options(subject.recipe).build_flags
    for name, value in chosen.items():
        refused = REFUSED.get(name)
        is_given = value is not False
        if refused and is_given and (not refused.values or value in refused.values):
            yield _fault(subject, name, value, refused.why, "delete it")
        if name in PATHS and isinstance(value, str) and not Path(value).is_absolute():
            why = "a stage runs in a folder of its own, where such a path leads nowhere"
            yield _fault(subject, name, value, why, "write an absolute path")
        if name in _NOT_ON_SM100 and value != "disable" and _is_sm100(installation):
            why = "the builder refuses it on compute capability 10.0 "
            why += "(tensorrt_llm/plugin/plugin.py)"
            yield _fault(subject, name, value, why, "delete it")
    if chosen.get("multiple_profiles") == "enable" and "opt_num_tokens" in chosen:
        why = "the builder refuses it together with multiple_profiles: enable "
        why += "(tensorrt_llm/commands/build.py)"
        value = chosen["opt_num_tokens"]
        yield _fault(subject, "opt_num_tokens", value, why, "keep one of the two")


def _fault(
    subject: Subject, name: str, value: str | int | bool, why: str, action: str = ""
) -> Finding:
    where = subject.where("engine", "build_flags", name)
    return Finding("build-flags", "blocking", where, f"{name}: {value}", why, action)


def _fault_of_value(fact: facts.Flag, name: str, value: str | int | bool) -> str:
    if fact.kind == "switch" and value is False:
        return ""  # left out
    return value_fault(fact, [str(v) for v in build_flags({name: value})][1:])


def _is_sm100(installation: Installation) -> bool:
    first = next(iter(installation.gpus), None)
    return first is not None and first.compute_capability == "10.0"
