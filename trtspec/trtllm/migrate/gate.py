"""What the acceptance gate becomes: other keys, another unit, another window.

1.2 compares the mean number of accepted draft tokens per step, main their rate (pull
request 12905): accepted per step = rate x draft length.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from trtspec.trtllm.migrate.batch import SCHEDULE
from trtspec.trtllm.migrate.change import Change, blocked, removed, warned
from trtspec.trtllm.migrate.config import Config
from trtspec.trtllm.migrate.pausing import named
from trtspec.trtllm.pytorch.compile.gate import acceptance_rate, accepted_per_step

_TOKENS = ("acceptance_window", "acceptance_length_threshold")
_RATE = ("acceptance_rate_window_size", "acceptance_rate_threshold")
_SHORT = (
    "1.2 counts the prefill as a step: an output of s steps reads s/(s+1) of what was "
    "accepted per step, short outputs read lower"
)


def gate(config: Config) -> Iterator[Change]:
    """Write the gate with the target's keys, in its unit."""
    ours, other = _TOKENS, _RATE
    if config.family == "main":
        ours, other = _RATE, _TOKENS
    kept = {key: config.spec[key] for key in ours if config.spec.get(key) is not None}
    given = {key: config.spec[key] for key in other if config.spec.get(key) is not None}
    refusal = _refusal(config) or (_not_comparable(config) if given else "")
    if refusal:
        for key, value in {**kept, **given}.items():
            yield blocked(config.at(key), value, refusal)
        return
    for old, new in zip(other, ours, strict=True):
        if old in given:
            yield _converted(config, old, new, given[old])


def _refusal(config: Config) -> str:
    version = config.version
    wanted = _RATE[0] if config.family == "main" else _TOKENS[0]
    if not config.knows(wanted):
        when = "1.3.0rc23" if config.family == "main" else "1.2"
        return (
            f"TensorRT-LLM {version} has no acceptance gate (since {when}): delete it"
        )
    if config.becomes.gate_counts:
        return ""
    where = "drafters inside the target's engine"
    if config.family == "1.2":
        where = "two-model engines, NGram and drafters of one's own"
    why = f"TensorRT-LLM {version} has its gate for {where} only"
    return f"{why}, not for {named(config)} as it is here: delete it"


def _not_comparable(config: Config) -> str:
    """Say why tokens per step are no rate; empty if they are."""
    if config.method not in ("ngram", "user"):
        return ""
    return (
        f"with {named(config)} 1.2 averages also over steps for which little or "
        "nothing was found to draft: its threshold is no rate x draft length. "
        "Delete the gate"
    )


def _converted(config: Config, old: str, new: str, value: Any) -> Change:
    path, becomes = config.at(old), config.at(new)
    if old in (_TOKENS[0], _RATE[0]):
        samples = ("finished requests", "iterations")
        was, now = samples if old == _TOKENS[0] else samples[::-1]
        why = f"counts {now}, where it counted {was}: set it anew by your load"
        return Change("warned", path, value, value, why, becomes)
    length = config.draft_length
    if config.spec.get(SCHEDULE) or length is None:
        return blocked(path, value, _several(config, old, value))
    if not _is_number(value):
        return blocked(path, value, "is no number")
    result, why = _in_other_unit(old, value, length)
    if config.family == "main" and result > 1:
        return blocked(path, value, f"{why}, and a rate is at most 1: it always ended")
    return Change("converted", path, value, result, f"{why}. {_SHORT}", becomes)


def _is_number(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value)  # type: ignore[arg-type]


def _several(config: Config, old: str, value: Any) -> str:
    """Say why one threshold has no equivalent where the draft length varies."""
    why = "accepted per step = rate x draft length, and no single length is given"
    lengths = sorted({k for k in (config.spec.get(SCHEDULE) or {}).values() if k})
    if not _is_number(value) or not lengths:
        return f"{why}: delete the gate, or add {config.length_key}"
    results = (_in_other_unit(old, value, k)[0] for k in lengths)
    each = ", ".join(f"{r:g} at {k}" for r, k in zip(results, lengths, strict=True))
    return (
        "accepted per step = rate x draft length, and the schedule has several "
        f"lengths ({each}): delete the gate or the schedule, then set it anew"
    )


def _in_other_unit(old: str, value: float, length: int) -> tuple[float, str]:
    if old == _TOKENS[1]:
        rate = acceptance_rate(value, length)
        why = f"accepted tokens per step {value} / draft length {length} = rate"
        return rate, f"{why} {rate}"
    tokens = accepted_per_step(value, length)
    why = f"rate {value} x draft length {length} = {tokens} accepted per step"
    return tokens, why


def gate_without_effect(config: Config) -> Iterator[Change]:
    """Leave out half a gate; say of a whole one that did nothing that it did."""
    ours = _RATE if config.source == "main" else _TOKENS
    for pair in (_TOKENS, _RATE):
        given = [key for key in pair if key in config.spec]
        if len(given) == 1:
            missing = next(key for key in pair if key not in given)
            why = f"no effect without {missing}"
            yield removed(config.at(given[0]), config.spec[given[0]], why)
        elif given and pair == ours and not _acted(config):
            yield from _ignored(config, pair)


def _acted(config: Config) -> bool:
    """Whether the gate counted, or is blocked since it compares with nothing."""
    to_tokens = config.source == "main" and config.family == "1.2"
    return config.meant.gate_counts or (to_tokens and bool(_not_comparable(config)))


def _ignored(config: Config, pair: tuple[str, str]) -> Iterator[Change]:
    watched = "drafters inside the target's engine"
    if config.source != "main":
        watched = "two-model engines, NGram and drafters of one's own"
    why = f"no effect on {config.source}: its gate is for {watched} only"
    for key in pair:
        value = config.spec[key]
        if config.becomes.gate_counts and not _refusal(config):
            yield warned(config.at(key), value, f"begins to act; it had {why}")
        else:
            yield removed(config.at(key), value, why)
