"""How many tokens are drafted, and for which batches: the keys that say so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trtspec.methods import Eagle3
from trtspec.recipe.dump import flow_text
from trtspec.trtllm.pytorch.compile import schedule
from trtspec.trtllm.pytorch.compile.length_warnings import (
    KEY,
    RULE,
    SCHEDULE,
    goes_stale,
    in_recipe,
    may_end,
)
from trtspec.trtllm.pytorch.compile.subject import (
    EARLY,
    Item,
    Subject,
    blocking,
)
from trtspec.trtllm.pytorch.settings import Remark, Setting

HEADS = "num_nextn_predict_layers"
LENGTH = "max_draft_len"
CUT_OFF = "max_concurrency"


def length_settings(subject: Subject, class_name: str) -> Iterator[Item]:
    """Give the draft length and, for a map, what changes it by the batch."""
    length = subject.length
    longest = schedule.longest(length)
    if subject.knows(HEADS, class_name):
        why = "tokens drafted per step: this count decides, not max_draft_len"
        yield Setting(HEADS, longest, why)
    else:
        most = "most tokens" if subject.has_schedule else "tokens"
        yield Setting(LENGTH, longest, f"{most} drafted per step")
    if not isinstance(length, int):
        yield from _by_batch(subject, length)
    yield from _left_out(subject, length)


def _by_batch(subject: Subject, length: Mapping[int, int]) -> Iterator[Item]:
    if not schedule.starts_longest(length):
        yield _starts_short(length)
    elif subject.has_schedule:
        yield from _schedule(subject, length)
    elif len(length) == 1 and can_cut_off(subject):
        yield from _cut_off(subject, length)
    else:
        yield _not_by_batch(subject, length)


def can_cut_off(subject: Subject) -> bool:
    """Whether speculation can be left out above a number of running requests.

    The object that drives a drafter from outside the target's engine looks at
    ``max_concurrency`` (tensorrt_llm/_torch/speculative/drafter.py); a one-model engine
    has none: up to 1.2 it ignores the key (_torch/pyexecutor/model_engine.py), and the
    newest releases make a schedule of it.
    """
    return subject.is_driven and subject.knows(CUT_OFF)


def _schedule(subject: Subject, length: Mapping[int, int]) -> Iterator[Item]:
    if subject.family == "main":
        bounds = dict(length)
        why = "up to so many requests: so many tokens; then none"
    else:
        bounds = schedule.to_lower_bounds(length, subject.batch)
        why = "from so many requests on: so many tokens"
    yield Setting(SCHEDULE, bounds, why)
    yield from _two_models_for_it(subject)
    yield from _local_batches(subject)
    if subject.drafting.vanilla:
        yield may_end()
    if subject.family == "main" and schedule.reaches_zero(length, subject.batch):
        yield goes_stale(subject, length)


def _cut_off(subject: Subject, length: Mapping[int, int]) -> Iterator[Item]:
    yield Setting(CUT_OFF, max(length), "no drafting above so many running requests")
    yield from _two_models_for_it(subject)
    yield from _local_batches(subject)


def _left_out(subject: Subject, length: schedule.DraftLength) -> Iterator[Remark]:
    given = getattr(subject.method, "draft_length", length)
    if isinstance(given, int) or len(given) == 1:
        return
    needed = [key for key in given if key < subject.batch]
    if len(given) > len(needed) + 1:
        written = length if isinstance(length, int) else dict(length)
        yield Remark(
            RULE,
            "note",
            KEY,
            f"draft_length {flow_text(dict(given))} is read as {flow_text(written)}",
            f"no batch has more than {subject.batch} requests",
            snippet=in_recipe(flow_text(written)),
            values={"draft_length": dict(given), "max_batch_size": subject.batch},
        )


def _two_models_for_it(subject: Subject) -> Iterator[Remark]:
    if not subject.by_batch_as_two_models or subject.shape != "two models":
        return
    overlap = ", without the overlap scheduler" if subject.has_schedule else ""
    yield Remark(
        RULE,
        "note",
        KEY,
        f"head and target run as two models (eagle3_one_model: false){overlap}",
        f"TensorRT-LLM {subject.version} changes the draft length by the batch in "
        "two-model engines alone",
        "write one number for speculation.draft_length to run them as one",
    )


def _local_batches(subject: Subject) -> Iterator[Remark]:
    if subject.options.attention_dp:
        yield Remark(
            RULE,
            "note",
            KEY,
            "with attention_dp the draft length goes by the requests of one GPU",
            "each GPU counts the batch that it attends for",
        )


def _starts_short(length: Mapping[int, int]) -> Remark:
    first, most = length[min(length)], max(length.values())
    capped = flow_text({key: min(k, first) for key, k in length.items()})
    raised = flow_text({min(length): most} | dict(list(length.items())[1:]))
    return blocking(
        RULE,
        KEY,
        f"draft_length {flow_text(dict(length))} drafts more for larger batches than "
        "for the smallest",
        "TensorRT-LLM wants the first entry to be the longest draft",
        f"write {raised}, or {capped}",
        snippet=in_recipe(raised),
        source="tensorrt_llm/llmapi/llm_args.py",
        values={"draft_length": dict(length)},
    )


def _not_by_batch(subject: Subject, length: Mapping[int, int]) -> Remark:
    return blocking(
        RULE,
        KEY,
        f"draft_length {flow_text(dict(length))} cannot be had from "
        f"{subject.method.method} on TensorRT-LLM {subject.version}",
        _why_not(subject, length),
        _nearest(subject, length),
        values={
            "draft_length": dict(length),
            "method": subject.method.method,
            "version": str(subject.version),
        },
    )


def _nearest(subject: Subject, length: Mapping[int, int]) -> str:
    most, last = schedule.longest(length), max(length)
    nearest = f"write draft_length: {most}"
    if isinstance(subject.method, Eagle3) and subject.family in ("1.1", "1.2"):
        if subject.method.two_model is False:
            return f"{nearest}, or delete two_model"
        possible = True
    else:
        possible = can_cut_off(subject)
    if possible and last < subject.batch:
        nearest += f", or {{{last}: {most}}} to draft nothing above {last} requests"
    return nearest


def _why_not(subject: Subject, length: Mapping[int, int]) -> str:
    if subject.family == "1.0":
        return "1.0 has one draft length for every batch"
    method = subject.method
    apart = isinstance(method, Eagle3) and method.two_model is not False
    if subject.family in EARLY and subject.shape == "one model" and not apart:
        return (
            "up to 1.2 a one-model engine drafts for every batch, and ignores "
            f"{CUT_OFF} and {SCHEDULE}"
        )
    if subject.family == "1.1" and subject.method.method != "user":
        return f"1.1 knows {CUT_OFF} alone: one draft length up to a number of requests"
    return "its drafter has no draft length by batch"
