"""How one request of ours reads as a record of AIPerf."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

from pydantic import JsonValue

from trtspec.bench.arms import ArmInfo
from trtspec.bench.interchange.aiperf_facts import RECORD_UNITS
from trtspec.bench.records import Sample

Values = dict[str, float | int | list[float]]

_MS = 1000.0
_NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Sent:
    """A request and when its block began.

    :param block_started_ns: wall clock, nanoseconds since 1970.
    """

    sample: Sample
    block_started_ns: int

    @property
    def due_ns(self) -> int:
        """When it was to be sent."""
        return self.block_started_ns + round(self.sample.submitted * _NS)

    @property
    def sent_ns(self) -> int:
        """When it was sent: AIPerf's latencies count from here."""
        return self.due_ns + round(self.sample.late * _NS)

    @property
    def ended_ns(self) -> int:
        """When its last token was there."""
        return self.due_ns + round(self.sample.e2e * _NS)


def record_of(sent: Sent, number: int, arm: ArmInfo) -> dict[str, JsonValue]:
    """Write a request as MetricRecordInfo: metadata, metrics, acceptance.

    :param number: of the request in its arm, from 0.
    """
    record: dict[str, JsonValue] = {
        "metadata": _metadata(sent, number),
        "metrics": {
            tag: {"value": _plain(value), "unit": RECORD_UNITS[tag]}
            for tag, value in values_of(sent.sample).items()
        },
    }
    if acceptance := acceptance_of(sent.sample, arm):
        record["spec_decode_acceptance"] = acceptance
    return record


def _plain(value: float | int | list[float]) -> JsonValue:
    return [*value] if isinstance(value, list) else value


def _metadata(sent: Sent, number: int) -> dict[str, JsonValue]:
    sample = sent.sample
    return {
        "session_num": number,
        "x_request_id": f"{sample.prompt_id}/{sample.load}/{sample.arm}/{sample.block}",
        "conversation_id": sample.prompt_id,
        "turn_index": 0,
        "credit_issued_ns": sent.due_ns,
        "request_start_ns": sent.sent_ns,
        "request_end_ns": sent.ended_ns,
        "worker_id": "trtspec",
        "record_processor_id": "trtspec",
        "benchmark_phase": "profiling",
        "was_cancelled": False,
    }


def values_of(sample: Sample) -> Values:
    """Give a request's metrics by AIPerf's tags and in its units.

    AIPerf counts from the time of sending, ours from the time due; its inter-token
    latency divides by tokens - 1, as our TPOT does.
    """
    latency, first = sample.e2e - sample.late, sample.ttft - sample.late
    values: Values = {
        "request_latency": latency * _MS,
        "time_to_first_token": first * _MS,
        "output_sequence_length": sample.output_tokens,
    }
    if sample.prompt_tokens is not None:
        values["input_sequence_length"] = sample.prompt_tokens
    if sample.tpot:
        values["inter_token_latency"] = sample.tpot * _MS
        values["output_token_throughput_per_user"] = 1 / sample.tpot
    if len(sample.chunks) > 1:
        gaps = [after - before for (before, _), (after, _) in pairwise(sample.chunks)]
        values["inter_chunk_latency"] = [gap * _MS for gap in gaps]
    return values | _drafting_values(sample)


def _drafting_values(sample: Sample) -> Values:
    steps, drafted, accepted = sample.steps, sample.drafted, sample.accepted
    if not steps or not drafted or accepted is None:
        return {}
    return {
        "spec_decode_acceptance_length": 1 + accepted / steps,
        "spec_decode_draft_acceptance_rate": 100 * accepted / drafted,
        "spec_decode_accepted_per_verified": (accepted + steps) / (drafted + steps),
        "spec_decode_steps": steps,
        "spec_decode_accepted_draft_tokens": accepted,
        "spec_decode_draft_tokens": drafted,
    }


def acceptance_of(sample: Sample, arm: ArmInfo) -> dict[str, JsonValue] | None:
    """Write a request's drafting as SpecDecodeAcceptanceRecord.

    :return: None if nothing was drafted, or the engine does not tell single steps,
        which AIPerf's histogram is made of.
    """
    steps = sample.draft_steps
    if not steps or not sample.drafted or sample.accepted is None:
        return None
    accepted = [step.accepted for step in steps]
    drafted = [step.drafted for step in steps]
    if sum(accepted) != sample.accepted or sum(drafted) != sample.drafted:
        return None
    return {
        "engine": str(
            arm.engine.get("backend") or arm.engine.get("server") or "trtspec"
        ),
        "mean_acceptance_length": 1 + sum(accepted) / len(steps),
        "draft_acceptance_rate": sum(accepted) / sum(drafted),
        "acceptance_histogram": {str(j): n for j, n in histogram(sample).items()},
        "num_accepted_draft_tokens": sum(accepted),
        "num_draft_tokens": sum(drafted),
        "num_spec_steps": len(steps),
        "num_spec_tokens": _bound(arm, max(drafted)),
        "completion_tokens": sample.output_tokens,
        "per_step_accepted": [*accepted],
        "per_step_drafted": [*drafted],
    }


def histogram(sample: Sample) -> dict[int, int]:
    """Count the steps by the draft tokens that they accepted."""
    return dict(sorted(Counter(s.accepted for s in sample.draft_steps or ()).items()))


def _bound(arm: ArmInfo, most: int) -> int | None:
    """Give the draft length if it is one fixed number that no step went beyond."""
    length = arm.speculation.get("draft_length")
    fixed = isinstance(length, int) and not isinstance(length, bool)
    return length if fixed and isinstance(length, int) and length >= most else None
