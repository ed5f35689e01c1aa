"""How little must be accepted before TensorRT-LLM gives speculation up for good.

A recipe gives a rate, accepted / drafted tokens. 1.2 compares the mean over finished
requests of their tokens per iteration less one, and the prefill is an iteration: of s
verification steps, accepted / (s + 1), which is s / (s + 1) of what was accepted per
step (tensorrt_llm/_torch/speculative/speculation_gate.py). The newest releases compare
the rate itself, over iterations (pull requests 7283 and 12905).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from trtspec.recipe.pytorch import AcceptanceGate
from trtspec.trtllm.pytorch.compile.subject import Item, Subject, blocking
from trtspec.trtllm.pytorch.settings import Remark, Setting

RULE = "acceptance-gate"
KEY = ("pytorch", "acceptance_gate")
_DELETE = "delete pytorch.acceptance_gate"
_OTHERWISE = "another release counts something else"
_COUNTS_REQUESTS = (
    f"its window counts finished requests: {_OTHERWISE}; the prefill counts as a step, "
    "so that an output of s verification steps reads s/(s+1) of what was accepted per "
    "step, and short outputs can trip it"
)
_COUNTS_ITERATIONS = f"its window counts iterations: {_OTHERWISE}"
_DIGITS = 17
"""Digits that tell any two floating-point numbers apart."""


def accepted_per_step(rate: float, draft_length: int) -> float:
    """Turn an acceptance rate into accepted draft tokens per step.

    :param rate: accepted / drafted tokens, 0 to 1.
    :param draft_length: tokens drafted in every step.
    :returns: the decimal of fewest digits that leads back to the rate; without one the
        product, to the last digit.
    """
    return _shortest(
        _exact(rate) * draft_length, lambda t: float(t / draft_length) == rate
    )


def acceptance_rate(accepted: float, draft_length: int) -> float:
    """Turn accepted draft tokens per step into an acceptance rate.

    :param accepted: mean accepted draft tokens per step, bonus token not counted.
    :param draft_length: tokens drafted in every step.
    :returns: the decimal of fewest digits that leads back to the number; without one
        the quotient, to the last digit.
    """
    return _shortest(
        _exact(accepted) / draft_length, lambda r: float(r * draft_length) == accepted
    )


def _exact(value: float) -> Fraction:
    """Read a number as it is written: 0.7 is 7/10, not the nearest binary number."""
    return Fraction(repr(value))


def _shortest(value: Fraction, leads_back: Callable[[Fraction], bool]) -> float:
    for digits in range(1, _DIGITS + 1):
        candidate = float(f"{float(value):.{digits}g}")
        if leads_back(_exact(candidate)):
            return candidate
    return float(value)


def gate_settings(subject: Subject) -> Iterator[Item]:
    """Give the keys of the gate, if the recipe asks for one."""
    gate = subject.options.acceptance_gate
    if gate is None:
        return
    if subject.shape == "none":
        yield Remark(
            RULE,
            "note",
            KEY,
            "pytorch.acceptance_gate has no effect",
            "the method is none: nothing is drafted",
        )
        return
    if refusal := _refusal(subject):
        yield refusal
        return
    if subject.family == "1.2":
        yield from _by_length(subject, gate)
    else:
        yield from _by_rate(gate)
    yield Remark(
        RULE,
        "warning",
        KEY,
        "what the gate switches off stays off until the server is restarted",
        _COUNTS_REQUESTS if subject.family == "1.2" else _COUNTS_ITERATIONS,
        "watch the acceptance rate that the server reports",
        source="tensorrt_llm/_torch/speculative/speculation_gate.py",
        values={
            "min_acceptance_rate": gate.min_acceptance_rate,
            "window": gate.window,
        },
    )


def _by_length(subject: Subject, gate: AcceptanceGate) -> Iterator[Item]:
    length = subject.length
    assert isinstance(length, int), "a map is refused"
    rate = gate.min_acceptance_rate
    yield Setting(
        "acceptance_window", gate.window, "finished requests that are averaged"
    )
    yield Setting(
        "acceptance_length_threshold",
        accepted_per_step(rate, length),
        f"rate {rate:g} x draft length {length}: accepted draft tokens per step",
    )


def _by_rate(gate: AcceptanceGate) -> Iterator[Item]:
    yield Setting(
        "acceptance_rate_window_size", gate.window, "iterations that are averaged"
    )
    yield Setting(
        "acceptance_rate_threshold",
        gate.min_acceptance_rate,
        "speculation ends below this accepted / drafted",
    )


def _refusal(subject: Subject) -> Remark | None:
    version = subject.version
    if subject.family in ("1.0", "1.1"):
        why = "the first release with a gate is 1.2"
        return blocking(RULE, KEY, f"TensorRT-LLM {version} has no gate", why, _DELETE)
    if subject.family == "1.2":
        return _refusal_on_1_2(subject)
    if not subject.knows("acceptance_rate_threshold"):
        why = "the gate's keys changed between 1.3.0rc20 and rc23"
        what = f"which keys the gate has in {version} is not established"
        return blocking(RULE, KEY, what, why, f"{_DELETE}, or take 1.3.0rc23 or later")
    if subject.shape != "one model":
        what = f"{version} has no gate for method {subject.method.method}"
        why = "it watches drafters inside the target's engine"
        return blocking(RULE, KEY, what, why, _DELETE)
    return None


def _refusal_on_1_2(subject: Subject) -> Remark | None:
    method = subject.method.method
    if method == "ngram":
        what = f"min_acceptance_rate has no equivalent for ngram on {subject.version}"
        why = (
            "1.2 averages accepted tokens over all iterations, also over those in "
            "which nothing or little was found to draft: rate x draft length does not "
            "hold there"
        )
        return blocking(RULE, KEY, what, why, _DELETE)
    if subject.shape != "two models":
        action = _DELETE
        if method == "eagle3":
            action += ", or write speculation.two_model: true"
        what = f"{subject.version} has a gate by rate for two-model engines alone"
        why = f"{method} runs otherwise here"
        return blocking(RULE, KEY, what, why, action)
    if not isinstance(subject.length, int):
        what = "min_acceptance_rate has no equivalent under a map of draft lengths"
        why = "1.2 counts accepted tokens per step, and a step's draft length changes"
        action = f"{_DELETE}, or write one number for speculation.draft_length"
        return blocking(RULE, KEY, what, why, action)
    return None
