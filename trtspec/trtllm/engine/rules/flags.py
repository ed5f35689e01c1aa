"""Whether further flags and the GEMM plugin are such that trtllm-build takes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject
from trtspec.trtllm import facts
from trtspec.trtllm.capability import capability_of
from trtspec.trtllm.engine.compile import build_flags
from trtspec.trtllm.engine.sizes import options
from trtspec.trtllm.engine.toolchain import value_fault
from trtspec.trtllm.installation import Installation

_SET_HERE = "trtspec sets it itself"
_NO_METHOD = "no speculation method works with it"
_FROM_DRAFTS = (
    "engine.max_draft_length for drafts from outside, else the method's sizes"
)
OURS = {
    "checkpoint_dir": _SET_HERE,
    "output_dir": _SET_HERE,
    "use_paged_context_fmha": _SET_HERE,
    "remove_input_padding": _SET_HERE,
    "kv_cache_type": _SET_HERE,
    "paged_kv_cache": _SET_HERE,
    "build_config": _SET_HERE,
    "model_config": _SET_HERE,
    "dry_run": "trtspec plan shows what would be built",
    "max_beam_width": _NO_METHOD,
    "gather_context_logits": _NO_METHOD,
    "gather_all_token_logits": _NO_METHOD,
}
"""Flags that a recipe does not give, with the reason."""
KEYS = {
    "gemm_plugin": "engine.gemm_plugin",
    "workers": "target.tensor_parallel",
    "max_batch_size": "limits.max_batch_size",
    "max_input_len": "limits.max_input_tokens",
    "max_seq_len": "limits.max_total_tokens",
    "max_num_tokens": "engine.max_num_tokens",
    "max_draft_len": _FROM_DRAFTS,
    "speculative_decoding_mode": "speculation.method",
    "gather_generation_logits": "speculation.use_draft_logits",
}
"""Flags that follow from other keys of the recipe."""


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

_SM100 = 100
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
            action = "write one of these, or delete the line"
            yield Finding("build-flags", "blocking", where, what, fault, action)
    for name, value in chosen.build_flags.items():
        if name in OURS:
            yield _fault(subject, name, value, OURS[name], "delete it")
        elif name in KEYS:
            why = f"it follows from {KEYS[name]}"
            yield _fault(subject, name, value, why, f"delete it, and set {KEYS[name]}")
        elif f"--{name}" not in known:
            why = f"trtllm-build {version} has no flag --{name}"
            yield _fault(subject, name, value, why, "delete it")
        elif fault := _fault_of_value(known[f"--{name}"], name, value):
            action = "delete it" if "no value" in fault else "correct it, or delete it"
            yield _fault(subject, name, value, fault, action)


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
        if name in _NOT_ON_SM100 and value != "disable" and _is_sm100(subject):
            why = "the builder refuses it on compute capability 10.0 "
            why += "(tensorrt_llm/plugin/plugin.py)"
            yield _fault(subject, name, value, why, "delete it")
    if chosen.get("multiple_profiles") == "enable" and "opt_num_tokens" in chosen:
        why = "the builder refuses it together with multiple_profiles: enable "
        why += "(tensorrt_llm/commands/build.py)"
        value = chosen["opt_num_tokens"]
        yield _fault(subject, "opt_num_tokens", value, why, "keep one of the two")


def _fault(
    subject: Subject, name: str, value: str | int | bool, why: str, action: str
) -> Finding:
    where = subject.where("engine", "build_flags", name)
    return Finding("build-flags", "blocking", where, f"{name}: {value}", why, action)


def _fault_of_value(fact: facts.Flag, name: str, value: str | int | bool) -> str:
    if fact.kind == "switch" and value is False:
        return ""  # left out
    return value_fault(fact, [str(v) for v in build_flags({name: value})][1:])


def _is_sm100(subject: Subject) -> bool:
    return capability_of(subject) == _SM100
