"""How conditions, warnings and verdicts are put into words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trtspec.bench.arms import ArmInfo
from trtspec.bench.cells import BreakEven, Cell, Comparison
from trtspec.bench.compare import THROUGHPUT
from trtspec.bench.conditions import Conditions
from trtspec.bench.metrics.base import MIN_SAMPLES
from trtspec.bench.outputs import Outputs
from trtspec.bench.ratio import Ratio
from trtspec.bench.result import BenchResult, Plan, Settings
from trtspec.forced_acceptance import forced_variables

BUSY = 0.25
"""Cores in use by other programs from which on the reader is warned."""

CLIENT_ONLY = "CPU time and memory are the client's: those of servers are not seen."
_GIB = 1 << 30
_OF_ARMS = (
    "AL: acceptance length; rate: acceptance rate; draft%: drafting; tok/s: output",
    "tokens/s; same: prompts with the output of off, of all. *: lossy.",
)


def condition_lines(result: BenchResult) -> list[str]:
    """Say in a few lines what was measured, on what, with what, and how."""
    plan = result.plan
    settings, prompts = plan.settings, plan.prompts
    return [
        *(arm_line(arm) for arm in plan.arms if arm.role != "control"),
        machine_line(plan),
        software_line(plan),
        f"{prompts.count} prompts ({prompts.file}, sha256 {prompts.sha256[:12]}), "
        f"{'exactly' if settings.fixed_length else 'up to'} {settings.output_tokens} "
        f"tokens, {sampling_words(settings)}",
        f"{settings.repeats} blocks per arm after {settings.warm_up_blocks} warm-up, "
        "interleaved"
        + (", off run twice a round (A/A)" if settings.control else "")
        + _cached_words(plan),
    ]


def _cached_words(plan: Plan) -> str:
    """Say whether prompts were seen before; what a server keeps, only it knows."""
    if not plan.settings.prompts_cached:
        return ""
    if over_http(plan):
        return ", every prompt sent once before"
    return ", every prompt in the KV cache"


def over_http(plan: Plan) -> bool:
    """Whether servers were measured: then the machine that is known is the client's."""
    return any(arm.endpoint for arm in plan.arms)


def arm_line(arm: ArmInfo) -> str:
    """Name an arm, what it ran on and how it drafted."""
    where = ""
    if arm.artifact:
        where = f"{arm.artifact.name}-{arm.artifact.fingerprint[:12]}"
    elif arm.endpoint:
        where = f"{arm.endpoint.url} ({arm.endpoint.model}, {arm.endpoint.api})"
    return f"{arm.name}: {where}: {describe_speculation(arm.speculation)}"


def sampling_words(settings: Settings) -> str:
    """Say how tokens are chosen."""
    if settings.greedy:
        return "greedy"
    return (
        f"temperature {settings.temperature:g}, top-k {settings.top_k}, "
        f"top-p {settings.top_p:g}, seed {settings.seed}"
    )


def describe_speculation(speculation: object) -> str:
    """Name the method and its parameters."""
    if not isinstance(speculation, Mapping):
        return "speculation unknown"
    details = [
        f"{str(key).replace('_', ' ')} {_shown(key, value)}"
        for key, value in speculation.items()
        if key != "method" and value not in (None, False, "none")
    ]
    return ", ".join([f"speculation {speculation.get('method')}", *details])


def _shown(key: object, value: object) -> object:
    """Write a map of draft lengths as a recipe means it; anything else as it is."""
    if key != "draft_length" or not isinstance(value, Mapping):
        return value
    rungs = [f"{length} up to {most}" for most, length in value.items()]
    return f"{' / '.join(rungs)} running requests / none above"


def machine_line(plan: Plan) -> str:
    """Name the machine and what of it the engine uses."""
    hardware = plan.conditions.hardware
    runner = plan.conditions.runner
    client = ["sent from (the servers' machines are not known):"]
    parts = [
        hardware.cpu,
        f"{hardware.usable_cores or hardware.logical_cores} usable cores",
        f"{hardware.memory_bytes / _GIB:.0f} GiB",
        *(gpu.name for gpu in hardware.gpus),
        *(f"{key} {runner[key]}" for key in ("device", "threads") if key in runner),
    ]
    return " ".join([*(client if over_http(plan) else ()), ", ".join(parts)])


def software_line(plan: Plan) -> str:
    """Name the versions that decide the numbers; of servers, those of the client."""
    conditions = plan.conditions
    named = {"python": conditions.python, **conditions.versions}
    shown = ["python", "trtspec"]
    if not over_http(plan):
        shown += ["torch", "transformers", "tensorrt_llm"]
    parts = [f"{name} {named[name]}" for name in shown if named.get(name)]
    if dtype := conditions.runner.get("dtype"):
        parts.append(str(dtype))
    return ", ".join(parts)


def warning_lines(result: BenchResult) -> list[str]:
    """Say what makes the numbers doubtful."""
    conditions = result.plan.conditions
    warnings = [line for line in [busy_warning(conditions)] if line]
    if result.partial:
        warnings.append("warning: partial: the run ended before all its blocks ran")
    for forced in forced_variables(conditions.environment):
        warnings.append(f"warning: ${forced.switch.name}: {forced}")
    for cell in result.cells:
        warnings.extend(f"warning: {line}" for line in _cell_warnings(cell))
    return list(dict.fromkeys(warnings))


def _cell_warnings(cell: Cell) -> Iterator[str]:
    for name, comparison in cell.comparisons.items():
        outputs = comparison.outputs
        if outputs.off_repeats < outputs.prompts:
            yield (
                f"{cell.load.words}: off repeats its own output for "
                f"{outputs.off_repeats}/{outputs.prompts} prompts only"
            )
        for doubt in comparison.doubts:
            if not doubt.fatal:
                yield f"{cell.load.words}, {name}: {doubt.what}"


def busy_warning(conditions: Conditions) -> str:
    """Say that the machine was not idle; empty if it was."""
    busy = conditions.hardware.busy_cores
    if busy < BUSY:
        return ""
    return f"warning: other programs used {busy:.1f} cores just before the start"


def footnote_lines(result: BenchResult) -> list[str]:
    """Say how to read the table."""
    confidence = f"{result.plan.settings.confidence:.0%}"
    p95, p99 = MIN_SAMPLES[95], MIN_SAMPLES[99]
    return [
        f"p50/p95/p99: over the requests of all blocks; p95 needs {p95}, p99 {p99}.",
        f"arm / off: geometric mean over paired blocks [{confidence} interval]; "
        "latencies: p50.",
        "drafting, target forward: share of decode step time. -: no value.",
        *([CLIENT_ONLY] if over_http(result.plan) else ()),
        *(_OF_ARMS if len(result.plan.candidates) > 1 else ()),
    ]


def verdict_lines(cell: Cell) -> Iterator[tuple[str, str]]:
    """Say what may be said under one load; each line with its verdict's word."""
    start = f"{cell.load.words}"
    if cell.failures:
        first = cell.failures[0]
        what = " ".join(first.what.split())
        who = f"{first.prompt_id}: " if first.prompt_id else ""
        yield (
            f"{start}: no numbers, {len(cell.failures)} requests of arm {first.arm} "
            f"failed; {who}{what}",
            "",
        )
        return
    if not cell.comparisons:
        why = "no whole round was measured" if not cell.blocks else "no off arm"
        yield f"{start}: nothing to compare: {why}", ""
    for name, comparison in cell.comparisons.items():
        yield f"{start}, {name}: {verdict_text(comparison)}", comparison.verdict.word
    if cell.control:
        yield f"{start}, off again: {control_text(cell)}", ""


def verdict_text(comparison: Comparison) -> str:
    """Say speed, outputs and verdict of one comparison."""
    parts = [_speed(comparison.ratios), outputs_text(comparison.outputs)]
    if comparison.lossy:
        parts.append(f"LOSSY: {comparison.lossy}")
    verdict = comparison.verdict
    reason = f" ({verdict.reason})" if verdict.reason else ""
    return f"{'; '.join(filter(None, parts))} -> {verdict.word}{reason}"


def control_text(cell: Cell) -> str:
    """Say what the off arm shows against itself."""
    assert cell.control is not None
    text = _speed(cell.control.comparison.ratios)
    if cell.control.visible is None:
        return f"{text}; too unsure for any difference to be seen"
    return f"{text}; differences of {cell.control.visible:.1%} and more can be seen"


def break_even_text(found: BreakEven) -> str:
    """Say from which concurrency on speculation no longer pays."""
    if found.kind == "no claim":
        return f"no claim ({found.reason})"
    if found.concurrency is None or found.interval is None:
        return f"{found.kind} on this ladder"
    low, high = found.interval
    return f"at {found.concurrency:.1f} requests [{low:.1f}, {high:.1f}]"


def _speed(ratios: Mapping[str, Ratio | None]) -> str:
    parts = []
    if throughput := ratios.get(THROUGHPUT):
        parts.append(f"{throughput.estimate:.2f}x output throughput")
        parts[-1] += _interval(throughput)
    if e2e := ratios.get("e2e.p50"):
        parts.append(f"E2E p50 ratio {e2e.estimate:.2f}{_interval(e2e)}")
    return ", ".join(parts)


def _interval(ratio: Ratio) -> str:
    if ratio.interval is None:
        return ""
    return f" [{ratio.interval[0]:.2f}, {ratio.interval[1]:.2f}]"


def outputs_text(outputs: Outputs) -> str:
    """Say for how many prompts both arms gave the same."""
    if outputs.identical is None:
        return "sampled, so outputs are not compared"
    what = "texts" if outputs.by == "text" else "outputs"
    text = f"{outputs.identical}/{outputs.prompts} {what} identical"
    if differing := len(outputs.differences):
        text += f", {differing} differing"
    return text
