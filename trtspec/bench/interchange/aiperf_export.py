"""How a run of ours is written as results of AIPerf, one folder per load and arm."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
from pydantic import JsonValue

from trtspec import __version__
from trtspec.bench.arms import ArmInfo
from trtspec.bench.interchange.aiperf_facts import (
    HISTOGRAM,
    PERCENTILES,
    RECORD_UNITS,
    RECORDS_FILE,
    RUN_UNITS,
    SCHEMA_VERSION,
    SUMMARY_FILE,
)
from trtspec.bench.interchange.aiperf_records import (
    Sent,
    acceptance_of,
    histogram,
    record_of,
    values_of,
)
from trtspec.bench.paths import writing
from trtspec.bench.records import Block, Load, Sample
from trtspec.bench.rundir import BenchRun
from trtspec.files import write_atomic

_NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class _Profile:
    """One arm under one load."""

    run: BenchRun
    arm: ArmInfo
    load: Load
    blocks: Sequence[Block]
    sent: Sequence[Sent]

    @property
    def samples(self) -> list[Sample]:
        return [sent.sample for sent in self.sent]

    @property
    def seconds(self) -> float:
        """Wall time of its counted blocks; the other arms' between them left out."""
        return sum(block.wall_seconds for block in self.blocks)


def export_aiperf(run: BenchRun, directory: Path) -> tuple[Path, ...]:
    """Write a run as AIPerf 0.13.0 would have written each of its arms.

    In ``directory/LOAD-ARM/`` lie ``profile_export_aiperf.json`` and
    ``profile_export.jsonl``, with all counted requests of the arm. Definitions are
    AIPerf's: latencies from the time of sending, throughput over the whole time. A
    load under which a request failed is left out, as it has no numbers.

    :return: the folders.
    :raises RunError: if something cannot be written.
    """
    folders: dict[Path, None] = {}
    for profile in _profiles(run):
        if not profile.sent:
            continue
        folder = directory / _folder_name(profile)
        while folder in folders:  # names that differ in a sign that files cannot have
            folder = folder.with_name(f"{folder.name}-")
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            write_atomic(folder / RECORDS_FILE, _lines(profile))
            write_atomic(folder / SUMMARY_FILE, _document(_summary(profile)))
        folders[folder] = None
    return tuple(folders)


def _folder_name(profile: _Profile) -> str:
    name = f"{profile.load.key}-{profile.arm.name}"
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in name)


def _profiles(run: BenchRun) -> Iterable[_Profile]:
    for load in run.result.plan.settings.loads:
        raw = run.raw.under(load)
        if raw.failures:
            continue
        for arm in run.result.plan.arms:
            blocks = [b for b in raw.blocks if b.arm == arm.name and not b.warm_up]
            samples = [s for s in raw.samples if s.arm == arm.name]
            yield _Profile(run, arm, load, blocks, _sent(blocks, samples))


def _sent(blocks: Sequence[Block], samples: Sequence[Sample]) -> list[Sent]:
    started = {
        b.block: round(datetime.fromisoformat(b.started).timestamp() * _NS)
        for b in blocks
    }
    sent = [Sent(s, started[s.block]) for s in samples if s.block in started]
    return sorted(sent, key=lambda one: one.sent_ns)


def _lines(profile: _Profile) -> str:
    records = (
        record_of(sent, number, profile.arm) for number, sent in enumerate(profile.sent)
    )
    return "".join(json.dumps(r, allow_nan=False) + "\n" for r in records)


def _document(summary: dict[str, JsonValue]) -> str:
    return json.dumps(summary, indent=2, allow_nan=False) + "\n"


def _summary(profile: _Profile) -> dict[str, JsonValue]:
    """Give JsonExportData; what its model does not name, it allows."""
    plan = profile.run.result.plan
    summary: dict[str, JsonValue] = {
        "schema_version": SCHEMA_VERSION,
        "generated_by": f"trtspec {__version__}",
        **_per_request(profile.samples),
        **_per_run(profile),
        "is_complete": not profile.run.result.partial,
        "was_cancelled": False,
        "start_time": _iso(min(s.due_ns for s in profile.sent)),
        "end_time": _iso(max(s.ended_ns for s in profile.sent)),
        "trtspec": {
            "run": plan.name,
            "arm": profile.arm.model_dump(mode="json"),
            "load": profile.load.model_dump(mode="json"),
            "blocks": len(profile.blocks),
            "prompts": plan.prompts.model_dump(mode="json"),
            "settings": plan.settings.model_dump(mode="json"),
        },
    }
    if pooled := _pooled(profile):
        summary[HISTOGRAM] = {str(j): n for j, n in pooled.items()}
    return summary


def _iso(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds / _NS, timezone.utc).isoformat()


def _per_request(samples: Sequence[Sample]) -> dict[str, JsonValue]:
    """Summarize each metric over the requests that have a value."""
    by_tag: dict[str, list[float]] = {}
    for sample in samples:
        for tag, value in values_of(sample).items():
            several = value if isinstance(value, list) else [float(value)]
            by_tag.setdefault(tag, []).extend(several)
    return {tag: _stats(values, RECORD_UNITS[tag]) for tag, values in by_tag.items()}


def _stats(values: Sequence[float], unit: str) -> dict[str, JsonValue]:
    array = np.asarray(values)
    ranks = np.percentile(array, PERCENTILES)
    return {
        "unit": unit,
        "avg": float(array.mean()),
        **{f"p{p}": float(v) for p, v in zip(PERCENTILES, ranks, strict=True)},
        "min": float(array.min()),
        "max": float(array.max()),
        "std": float(array.std()),
        "count": len(array),
        "sum": float(array.sum()),
    }


def _per_run(profile: _Profile) -> dict[str, JsonValue]:
    samples, seconds = profile.samples, profile.seconds
    output = sum(s.output_tokens for s in samples)
    values: dict[str, float] = {
        "request_count": len(samples),
        "request_throughput": len(samples) / seconds,
        "output_token_throughput": output / seconds,
        "benchmark_duration": seconds,
        "total_osl": output,
    }
    if all(s.prompt_tokens is not None for s in samples):
        values["total_isl"] = sum(s.prompt_tokens or 0 for s in samples)
    values |= _drafting(samples)
    return {
        tag: {"unit": RUN_UNITS[tag], "avg": value} for tag, value in values.items()
    }


def _drafting(samples: Sequence[Sample]) -> dict[str, float]:
    """Sums over the requests that drafted, as AIPerf's sum over its records."""
    drafting = [s for s in samples if s.drafted and s.steps and s.accepted is not None]
    steps = sum(s.steps or 0 for s in drafting)
    drafted = sum(s.drafted or 0 for s in drafting)
    accepted = sum(s.accepted or 0 for s in drafting)
    if not drafting:
        return {}
    return {
        "total_spec_decode_steps": steps,
        "total_accepted_draft_tokens": accepted,
        "total_draft_tokens": drafted,
        "spec_decode_token_weighted_acceptance_length": 1 + accepted / steps,
        "spec_decode_overall_draft_acceptance_rate": 100 * accepted / drafted,
    }


def _pooled(profile: _Profile) -> dict[int, int]:
    """Add the histograms of all requests; empty if one that drafted has none."""
    drafting = [s for s in profile.samples if s.drafted]
    if not all(acceptance_of(s, profile.arm) for s in drafting):
        return {}
    pooled: Counter[int] = Counter()
    for sample in drafting:
        pooled.update(histogram(sample))
    return dict(sorted(pooled.items()))
