"""How long prompts and outputs may be, by the workload and the model's context."""

from __future__ import annotations

from dataclasses import dataclass

from trtspec.advise.workload import WorkloadFacts
from trtspec.recipe.section import MAX_TOKENS

TEMPLATE = 128
"""Tokens set aside for a chat template, which is not run here: an assumption."""
OUTPUT = 256
"""Tokens of output where the workload does not tell: long enough for TPOT to settle."""
_INPUT = 2048
_STEP = 256


@dataclass(frozen=True, slots=True)
class Lengths:
    """Limits in tokens, each with why it is that.

    :param cut: why not all of the workload fits; empty if it does.
    """

    max_input: int
    max_total: int
    output: int
    input_told: str
    total_told: str
    cut: str = ""


def lengths(
    workload: WorkloadFacts | None,
    context: int | None,
    room: int,
    drafter: int | None = None,
) -> Lengths:
    """Choose limits that hold the workload, as far as the models' contexts go.

    A drafter that was made for less than the target bounds a guess. It does not bound
    what a workload needs: behind its context it drafts worse, and the target goes on.

    :param context: tokens that the model was made for; None if it is not known.
    :param room: tokens that drafts need beyond prompt and output.
    :param drafter: tokens that what drafts was made for; None if it is not known.
    """
    made_for = context
    whose = "model"
    if drafter is not None and workload is None and drafter < (context or MAX_TOKENS):
        made_for, whose = drafter, "drafter"
    return _within(workload, made_for, room, whose)


def _within(
    workload: WorkloadFacts | None, context: int | None, room: int, whose: str
) -> Lengths:
    """Choose limits within a context.

    :param whose: the model that it is of.
    """
    wanted, told = _input(workload)
    output = _output(workload)
    total = wanted + output
    total_told = "prompt and output together"
    longest = MAX_TOKENS if context is None else max(context - room, 2)
    if total <= longest:
        if context is not None:
            total_told += f"; the {whose} goes to {context}"
        return Lengths(wanted, total, output, told, total_told)
    output = max(1, min(output, longest // 4))
    kept = min(wanted, longest - output)
    if context is not None:
        total_told += f": the {whose}'s {context}, less {room} for drafts"
    return Lengths(
        kept, longest, output, told, total_told, _cut(workload, kept, context)
    )


def _input(workload: WorkloadFacts | None) -> tuple[int, str]:
    if workload is None:
        return (
            _INPUT,
            "longest prompt, chat template included: without a workload, a guess",
        )
    longest = workload.longest_prompt
    how = "by the target's tokenizer" if workload.counted else "estimated from its size"
    told = f"longest prompt {longest} tokens, {how}; {TEMPLATE} for a chat template"
    return _rounded(longest + TEMPLATE), told


def _output(workload: WorkloadFacts | None) -> int:
    longest = workload.longest_answer if workload else None
    return OUTPUT if longest is None else _rounded(max(longest, 1))


def _rounded(tokens: int) -> int:
    return -(-tokens // _STEP) * _STEP


def _cut(workload: WorkloadFacts | None, kept: int, context: int | None) -> str:
    longest = workload.longest_prompt if workload else 0
    if longest <= kept:
        return ""
    told = f"the longest prompt has {longest} tokens, and max_input_tokens is {kept}"
    return told if context is None else f"{told}: the model was made for {context}"
