"""What a completion's steps and accepted tokens are, as far as the release tells."""

from __future__ import annotations

from contextlib import suppress

from trtspec.errors import RunError
from trtspec.recipe.pytorch import PyTorchOptions
from trtspec.run import Note
from trtspec.trtllm.pytorch.metrics import Acceptance, from_response, unavailable
from trtspec.trtllm.pytorch.run.request import StreamedRequest
from trtspec.trtllm.pytorch.run.source import Source


def count(request: StreamedRequest, *, drafts: bool) -> None:
    """Fill the counts of a finished request.

    ``drafted`` is told by counters of the request's own, where the release fills them,
    and stays 0 elsewhere. Where the release tells nothing, or nonsense, all counts stay
    0.

    :param drafts: whether the engine speculates; else each token but the first is a
        step.
    """
    completion = request.completion
    if not drafts:
        completion.steps = max(0, len(completion.tokens) - 1)
        return
    with suppress(RunError):
        told = from_response(request.per_iteration, request.generated)
        completion.steps = told.steps or 0
        completion.accepted = told.accepted or 0
    counted = request.counted
    if counted and counted.drafted and completion.steps:
        completion.drafted = counted.drafted
        completion.accepted = counted.accepted or 0


def engine_note(source: Source, options: PyTorchOptions) -> Note:
    """Say what TensorRT-LLM itself counted of drafts, over all requests.

    They have their answers by then, so nothing fails any more: counters that cannot be
    read are not available.

    :param options: the recipe's.
    """
    try:
        counted = source.acceptance(
            interval=options.llm_args.get("iter_perf_stats_interval") or 1,
            attention_dp=options.attention_dp,
        )
    except Exception as error:  # noqa: BLE001 - whatever a client or a release raises
        said = str(error) or type(error).__name__
        counted = unavailable(source.name, f"its counters cannot be read: {said}")
    return Note(counted.says(), {"acceptance": _record(counted)})


def _record(counted: Acceptance) -> dict[str, object]:
    """Give acceptance figures for machines: null is what is not known."""
    return {
        "source": counted.source,
        "drafted": counted.drafted,
        "accepted": counted.accepted,
        "steps": counted.steps,
        "acceptance_rate": counted.acceptance_rate,
        "acceptance_length": counted.acceptance_length,
        "note": counted.note or None,
        "unavailable": counted.unavailable or None,
    }
