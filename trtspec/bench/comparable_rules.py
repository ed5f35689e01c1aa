"""Which parts of a plan must agree, may differ, or do not matter for a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

Kind = Literal["must agree", "shown", "irrelevant"]
"""must agree: numbers are not comparable otherwise. shown: it may differ, and a report
says so. irrelevant: it differs from run to run, or follows from something else."""

_MUST: Final = (
    # arms: what is under the speculation; a server's model and interface
    "arms.*.artifact.target_sha256",
    "arms.*.artifact.recipe.backend",
    "arms.*.artifact.recipe.target",
    "arms.*.artifact.recipe.limits",
    "arms.*.artifact.recipe.engine",
    "arms.*.artifact.recipe.pytorch",
    "arms.*.artifact.recipe",
    "arms.*.endpoint.model",
    "arms.*.endpoint.api",
    # what every engine says of itself and would run otherwise on
    *(
        f"{engine}.{key}"
        for engine in ("arms.*.engine", "conditions.runner")
        for key in (
            "backend",
            "server",
            "owned_by",
            "version",
            "proxy",
            "device",
            "device_name",
            "dtype",
            "quantization",
            "threads",
            "packed_weights",
            "torch",
            "transformers",
            "tensorrt_llm",
            "tensorrt",
            "cuda",
            "driver",
            "gpus",
            "process",
            "kv_cache_block_reuse",
        )
    ),
    "prompts.sha256",
    "prompts.rendered_sha256",
    "prompts.messages_sha256",
    "prompts.count",
    "prompts.turns",
    "settings.warm_up_blocks",
    "settings.prompts_cached",
    "settings.output_tokens",
    "settings.fixed_length",
    "settings.temperature",
    "settings.top_k",
    "settings.top_p",
    "settings.goodput",
    "settings.confidence",
    "conditions.hardware.cpu",
    "conditions.hardware.physical_cores",
    "conditions.hardware.logical_cores",
    "conditions.hardware.usable_cores",
    "conditions.hardware.cpu_quota",
    "conditions.hardware.gpus",
    "conditions.python",
    "conditions.versions",
    "conditions.environment",
)

_SHOWN: Final = (
    # what reports compare
    "arms.candidates",
    "arms.*.name",
    "arms.*.artifact.name",
    "arms.*.artifact.fingerprint",
    "arms.*.artifact.recipe.name",
    "arms.*.artifact.recipe.speculation",
    "arms.*.endpoint.url",
    "arms.*.speculation",
    # an engine with a drafter says more of itself than one without
    "arms.*.engine",
    "conditions.runner",
    # how wide intervals are, and which cells there are, not what is measured in one
    "settings.loads",
    "settings.repeats",
    "settings.control",
    "settings.seed",
    "settings.arrival_seed",
    "settings.break_even_draws",
    "settings.break_even_seed",
    "conditions.hardware.memory_bytes",
    "conditions.hardware.no_gpus_because",
    "conditions.system",
    # used for files and hashes only
    "conditions.versions.numpy",
    "conditions.versions.safetensors",
    "conditions.versions.tokenizers",
)

_IRRELEVANT: Final = (
    "name",
    "started",
    "command",
    "arms.*.role",
    "arms.*.artifact.recipe.schema",
    # the settings and the prompts say what was really asked
    "arms.*.artifact.recipe.sampling",
    "arms.*.artifact.recipe.workload",
    # its hash says more
    "prompts.file",
    # follows from the prompts
    "prompts.doubts",
    # of one moment; clocks under load are in the blocks
    "conditions.hardware.available_bytes",
    "conditions.hardware.load_average",
    "conditions.hardware.busy_cores",
    "conditions.hardware.gpus.*.sm_clock_mhz",
)

_BY_KIND: Final[dict[Kind, tuple[str, ...]]] = {
    "must agree": _MUST,
    "shown": _SHOWN,
    "irrelevant": _IRRELEVANT,
}

RULES: Final[dict[tuple[str, ...], Kind]] = {
    tuple(rule.split(".")): kind for kind, rules in _BY_KIND.items() for rule in rules
}
"""By path; * stands for any one name. The rule of the longest beginning counts."""


def rule_of(path: Sequence[str]) -> Kind | None:
    """Give the rule for a path, which may be one for what it is part of."""
    for length in range(len(path), 0, -1):
        for rule, kind in RULES.items():
            if len(rule) == length and all(
                ours in ("*", theirs) for ours, theirs in zip(rule, path, strict=False)
            ):
                return kind
    return None


def kind_of(path: Sequence[str]) -> Kind:
    """Give what a path means; what no rule names must agree."""
    return rule_of(path) or "must agree"
