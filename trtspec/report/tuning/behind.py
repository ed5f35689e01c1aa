"""Which recipe follows, under which conditions, and how to find it again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

import yaml

from trtspec.recipe.dump import flow_text
from trtspec.report import numbers
from trtspec.report.document import Block, Code, Details, Facts, Section, Text
from trtspec.report.secrets import without_secrets
from trtspec.report.tuning.load import LoadedTuning
from trtspec.tune.result import CandidateResult, TuneResult
from trtspec.tune.tuned_recipe import tuned_section

_GIB = 1 << 30
_RECIPE = (
    "What the tuned recipe has in place of the draft length that it had, and the block "
    "that says where it comes from."
)


def recipe_section(found: LoadedTuning) -> Section:
    """Show what the tuned recipe says."""
    result = found.result
    block = yaml.safe_dump({"tuned": tuned_section(result)}, sort_keys=False)
    return Section(
        "The tuned recipe",
        (
            Code(_speculation(result.best)),
            Details("The tuned: block", (Code(block.rstrip()),)),
        ),
        _RECIPE,
    )


def _speculation(best: CandidateResult) -> str:
    if best.draft_length is None:
        return "speculation: {method: none}"
    lines = ["speculation:", f"  method: {best.speculation.get('method')}"]
    if best.tree:
        lines.append(f"  tree: {flow_text([list(path) for path in best.tree])}")
    elif best.cut_anywhere:
        lines.append(f"  draft_length: {flow_text(best.draft_length)}")
    else:
        lines.append("  # all else as it is in the recipe")
    return "\n".join(lines)


def conditions_section(found: LoadedTuning) -> Section:
    """Say under which conditions the figures hold."""
    result = found.result
    conditions, prompts = result.conditions, result.prompts
    fields = conditions.hardware.model_dump(mode="json")
    hardware = {name.replace("_", " "): value for name, value in fields.items()}
    short = {
        "times hold for": f"{result.hardware} ({result.costs})",
        "machine": _machine(result),
        "software": _software(result),
        "prompts": f"{prompts.count} of {prompts.file}",
        "answers": f"up to {result.output_tokens} tokens, greedy",
        "candidates": ", ".join(f"{c.name} ({c.recipe})" for c in result.candidates),
    }
    blocks: list[Block] = [
        Facts(tuple(_shown(short))),
        _details("Machine", {**hardware, "system": conditions.system}),
        _details("Software", {"python": conditions.python, **conditions.versions}),
        _details("Environment variables that change speed", conditions.environment),
        _details("Engine", conditions.runner),
    ]
    return Section("Conditions", tuple(blocks))


def _machine(result: TuneResult) -> str:
    hardware, runner = result.conditions.hardware, result.conditions.runner
    parts = [
        hardware.cpu,
        f"{hardware.usable_cores or hardware.logical_cores} usable cores",
        f"{hardware.memory_bytes / _GIB:.0f} GiB",
        *(gpu.name for gpu in hardware.gpus),
        *(f"{key} {runner[key]}" for key in ("device", "threads") if key in runner),
    ]
    return ", ".join(parts)


def _software(result: TuneResult) -> str:
    conditions = result.conditions
    named = {"python": conditions.python, **conditions.versions}
    shown = ("python", "trtspec", "torch", "transformers", "tensorrt_llm")
    parts = [f"{name} {named[name]}" for name in shown if named.get(name)]
    return ", ".join([*parts, *filter(None, [str(conditions.runner.get("dtype", ""))])])


def _details(summary: str, values: Mapping[str, object]) -> Details:
    pairs = tuple(_shown(values)) or (("none", numbers.NOTHING),)
    return Details(summary, (Facts(pairs),))


def _shown(values: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        yield name, without_secrets(numbers.value_text(value))


def reproduce_section(found: LoadedTuning) -> Section:
    """Give the command, the files, and the hashes of what it must find again."""
    result = found.result
    blocks: list[Block] = []
    if result.command:
        words = shlex.join(("trtspec", "tune", *result.command))
        blocks.append(Code(without_secrets(words)))
    else:
        blocks.append(Text("The command line was not recorded."))
    return Section("How to reproduce", (*blocks, Facts(tuple(_facts(found)))))


def _facts(found: LoadedTuning) -> Iterator[tuple[str, str]]:
    result = found.result
    yield "tuning", found.path.resolve().name
    yield "begun", result.started
    yield "trtspec", result.conditions.versions.get("trtspec") or "not recorded"
    for one in result.candidates:
        yield f"artifact {one.recipe}", one.fingerprint
    yield "prompts", f"the first {result.prompts.count} of {result.prompts.file}"
    yield "SHA-256 of the file", result.prompts.sha256
    yield "SHA-256 of the token ids", result.prompts.rendered_sha256 or numbers.NOTHING
    yield "traces, to be used again", f"--traces {found.path.resolve().name}"
    if result.confirmation:
        run = f"{found.path.resolve().name}/{result.confirmation.run}"
        yield "the bench, a run of its own", f"trtspec report {run}"
