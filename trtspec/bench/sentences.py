"""How conditions, warnings and verdicts are put into words."""

from __future__ import annotations

from collections.abc import Mapping

from trtspec.bench.conditions import Conditions
from trtspec.bench.metrics.base import MIN_SAMPLES
from trtspec.bench.outputs import Outputs
from trtspec.bench.ratio import Ratio
from trtspec.bench.result import BenchResult
from trtspec.bench.summary import Cell
from trtspec.forced_acceptance import forced_variables

BUSY = 0.25
"""Cores in use by other programs from which on the reader is warned."""

_GIB = 1 << 30


def condition_lines(result: BenchResult) -> list[str]:
    """Say in four lines what was measured, on what, with what, and how."""
    settings, prompts = result.settings, result.prompts
    recipe = result.artifact.recipe
    sampling = (
        "greedy"
        if settings.greedy
        else f"temperature {settings.temperature:g}, top-k {settings.top_k}, "
        f"top-p {settings.top_p:g}, seed {settings.seed}"
    )
    return [
        f"{result.artifact.name}-{result.artifact.fingerprint[:12]}: "
        + describe_speculation(recipe.get("speculation")),
        machine_line(result.conditions),
        software_line(result.conditions),
        f"{prompts.count} prompts ({prompts.file}, sha256 {prompts.sha256[:12]}), "
        f"up to {settings.output_tokens} tokens, {sampling}",
        f"{settings.repeats} blocks per arm after {settings.warm_up_blocks} warm-up, "
        "interleaved: off on, on off, ..."
        + (", every prompt in the KV cache" if settings.prompts_cached else ""),
    ]


def describe_speculation(speculation: object) -> str:
    """Name the method and its parameters."""
    if not isinstance(speculation, Mapping):
        return "speculation unknown"
    details = [
        f"{str(key).replace('_', ' ')} {value}"
        for key, value in speculation.items()
        if key != "method" and value not in (None, False, "none")
    ]
    return ", ".join([f"speculation {speculation.get('method')}", *details])


def machine_line(conditions: Conditions) -> str:
    """Name the machine and what of it the engine uses."""
    hardware = conditions.hardware
    runner = conditions.runner
    parts = [
        hardware.cpu,
        f"{hardware.usable_cores or hardware.logical_cores} usable cores",
        f"{hardware.memory_bytes / _GIB:.0f} GiB",
        *(gpu.name for gpu in hardware.gpus),
        *(f"{key} {runner[key]}" for key in ("device", "threads") if key in runner),
    ]
    return ", ".join(parts)


def software_line(conditions: Conditions) -> str:
    """Name the versions that decide the numbers."""
    named = {"python": conditions.python, **conditions.versions}
    shown = ("python", "trtspec", "torch", "transformers", "tensorrt_llm")
    parts = [f"{name} {named[name]}" for name in shown if named.get(name)]
    if dtype := conditions.runner.get("dtype"):
        parts.append(str(dtype))
    return ", ".join(parts)


def warning_lines(result: BenchResult) -> list[str]:
    """Say what makes the numbers doubtful."""
    warnings = [line for line in [busy_warning(result.conditions)] if line]
    for forced in forced_variables(result.conditions.environment):
        warnings.append(f"warning: ${forced.switch.name}: {forced}")
    for cell in result.cells:
        if cell.outputs is not None and cell.outputs.off_repeats < cell.outputs.prompts:
            warnings.append(
                f"warning: concurrency {cell.concurrency}: off repeats its own output "
                f"for {cell.outputs.off_repeats}/{cell.outputs.prompts} prompts only"
            )
    return warnings


def busy_warning(conditions: Conditions) -> str:
    """Say that the machine was not idle; empty if it was."""
    busy = conditions.hardware.busy_cores
    if busy < BUSY:
        return ""
    return f"warning: other programs used {busy:.1f} cores just before the start"


def footnote_lines(result: BenchResult) -> list[str]:
    """Say how to read the table."""
    confidence = f"{result.settings.confidence:.0%}"
    p95, p99 = MIN_SAMPLES[95], MIN_SAMPLES[99]
    return [
        f"p50/p95/p99: over the requests of all blocks; p95 needs {p95}, p99 {p99}.",
        f"on / off: geometric mean over paired blocks [{confidence} interval]; "
        "latencies: p50.",
        "drafting, target forward: share of decode step time. -: no value.",
    ]


def verdict_line(cell: Cell) -> str:
    """Say what may be said about one concurrency."""
    start = f"concurrency {cell.concurrency}:"
    if cell.failure is not None:
        failure = " ".join(cell.failure.split())
        return f"{start} no numbers, a request failed: {failure}"
    assert cell.verdict is not None
    assert cell.outputs is not None
    parts = [_speed(cell.ratios), _outputs(cell.outputs)]
    if cell.lossy:
        parts.append(f"LOSSY: {cell.lossy}")
    reason = f" ({cell.verdict.reason})" if cell.verdict.reason else ""
    return f"{start} {'; '.join(filter(None, parts))} -> {cell.verdict.word}{reason}"


def _speed(ratios: Mapping[str, Ratio | None]) -> str:
    parts = []
    if throughput := ratios.get("output_throughput"):
        parts.append(
            f"speculation {throughput.estimate:.2f}x output throughput"
            + _interval(throughput)
        )
    if e2e := ratios.get("e2e"):
        parts.append(f"E2E p50 ratio {e2e.estimate:.2f}" + _interval(e2e))
    return ", ".join(parts)


def _interval(ratio: Ratio) -> str:
    if ratio.interval is None:
        return ""
    return f" [{ratio.interval[0]:.2f}, {ratio.interval[1]:.2f}]"


def _outputs(outputs: Outputs) -> str:
    if outputs.identical is None:
        return "sampled, so outputs are not compared"
    text = f"{outputs.identical}/{outputs.prompts} outputs identical"
    if differing := len(outputs.differences):
        text += f", {differing} differing"
    return text
