"""What TensorRT-LLM's engine backend would refuse, or quietly do differently."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from trtspec.check.finding import Finding
from trtspec.check.rules import Rule
from trtspec.check.subject import Subject
from trtspec.trtllm.engine.rules import models, options, precision
from trtspec.trtllm.installation import Installation

EngineRule = Callable[[Installation, Subject], Iterable[Finding]]

ENGINE_RULES: tuple[EngineRule, ...] = (
    models.family_is_stated_right,
    models.family_is_supported,
    models.heads_divide,
    models.vocabulary_rows_for_logits,
    models.one_kv_pool,
    precision.quantized_eagle,
    precision.quantized_redrafter,
    precision.kv_cache_is_reusable,
    precision.gpu_has_the_type,
    precision.format_exists,
    precision.documented_type,
    options.batch_of_eagle,
    options.draft_capacity_holds,
    options.capacity_is_settable,
    options.tree_is_known,
    options.lookahead_drafts,
    options.flags_are_known,
    options.known_trouble,
)


def engine_rules(installation: Installation) -> tuple[Rule, ...]:
    """Give the rules for what is installed, or assumed to be."""
    return tuple(partial(rule, installation) for rule in ENGINE_RULES)
