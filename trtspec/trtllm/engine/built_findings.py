"""Whether built engines run here: what running them would refuse, as findings."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from packaging.version import Version

from trtspec.build.command_line import OUTPUT
from trtspec.check.finding import Finding
from trtspec.errors import TrtspecError
from trtspec.gpus import Gpu
from trtspec.recipe.schema import Recipe
from trtspec.trtllm import facts
from trtspec.trtllm.engine.compile import mode_of, target_command
from trtspec.trtllm.engine.engine_config import EngineConfig
from trtspec.trtllm.engine.run.demands import Place
from trtspec.trtllm.engine.run.gate import Fault, faults
from trtspec.trtllm.engine.run.load import Engines
from trtspec.trtllm.engine.sizes import target_sizes
from trtspec.trtllm.engine.toolchain import Toolchain
from trtspec.trtllm.installation import assumed_for

_STAND_IN_WORKER = "bin/executorWorker"


class Built(NamedTuple):
    """Engines with what they are to do.

    :param where: their directory.
    """

    recipe: Recipe
    engines: Engines
    where: Path


def engine_findings(
    built: Built, version: Version, gpus: Sequence[Gpu], worker: object | None
) -> list[Finding]:
    """Say all that keeps engines from running, and end in one command to rebuild.

    :param version: of the TensorRT-LLM that is to run them.
    :param gpus: that are to run them; empty if that is not known, and nothing is then
        said of how many there are.
    :param worker: executable of worker processes; None if it is not here.
    """
    known = gpus or (None,) * built.engines.target.tp_size
    place = Place(version, gpus, len(known), worker or _STAND_IN_WORKER)
    found = _told_once(list(faults(built.recipe, built.engines, place)), built.engines)
    findings = [
        finding for fault in found for finding in _findings(fault, built, place)
    ]
    if any(finding.blocks for finding in findings):
        findings.append(_rebuild(built, version))
    if built.engines.capability is None:
        findings.append(_of_unknown_gpu(built))
    return findings


def _of_unknown_gpu(built: Built) -> Finding:
    """Say that an engine's config.json does not tell what GPU it is for."""
    return Finding(
        "engine-gpu",
        "note",
        str(built.where),
        "which GPU it was built on is not recorded",
        "an engine runs on GPUs of the compute capability that it was built on",
        "run it on the kind of GPU that built it",
    )


def _told_once(found: list[Fault], engines: Engines) -> list[Fault]:
    """Leave the mode out where the engine has no drafts at all, which is told too."""
    rules = {fault.rule for fault in found}
    if "engine-drafts" in rules and engines.target.max_draft_len == 0:
        return [
            fault
            for fault in found
            if fault.rule != "engine-mode" or not _is_target(fault)
        ]
    return found


def _is_target(fault: Fault) -> bool:
    return fault.error.problems[0].where == "target engine"


def _findings(fault: Fault, built: Built, place: Place) -> Iterator[Finding]:
    for problem in fault.error.problems:
        yield Finding(
            fault.rule,
            "blocking",
            f"{built.where}: {problem.where}",
            problem.what + _mode_beside(fault, built.engines.target),
            f"what runs it takes: {problem.allowed}" if problem.allowed else "",
            problem.action,
            values=_values(fault.rule, built, place),
        )


def _mode_beside(fault: Fault, target: EngineConfig) -> str:
    if fault.rule != "engine-drafts" or target.max_draft_len:
        return ""
    names = {bit: name for name, bit in facts.modes().items()}
    name = names.get(target.mode, str(target.mode))
    return f" and speculative_decoding_mode {name}"


def _values(rule: str, built: Built, place: Place) -> dict[str, object]:
    """Both values of what differs: the engine's and the one that is wanted."""
    target, method = built.engines.target, built.recipe.speculation
    here = next((gpu.compute_capability for gpu in place.gpus), None)
    pairs: dict[str, tuple[object, object]] = {
        "engine-version": (target.version, str(place.version)),
        "engine-gpu": (built.engines.capability, here),
        "engine-drafts": (target.max_draft_len, method.longest_draft),
        "engine-mode": (target.mode, facts.modes()[mode_of(built.recipe)]),
        "engine-cache": (target.paged_context_fmha, True),
        "engine-beams": (target.max_beam_width, 1),
    }
    if rule not in pairs:
        return {}
    built_with, wanted = pairs[rule]
    return {"built_with": built_with, "wanted": wanted}


def _rebuild(built: Built, version: Version) -> Finding:
    """Give the one command that mends all of it."""
    finding = Finding(
        "engine-rebuild",
        "note",
        str(built.where),
        "all of this is mended by building once more",
        "",
        "build the recipe again: trtspec build RECIPE",
    )
    command = rebuild_command(built.recipe, version)
    if command:
        action = f"{finding.action}; an engine made by hand is built so:"
        return replace(finding, action=action, snippet=command)
    return finding


def rebuild_command(recipe: Recipe, version: Version) -> str:
    """Give the call of trtllm-build for a recipe's target engine, in one line.

    Empty where the version has no builder, or is not known to take its flags.
    """
    if not facts.has_backend(version):
        return ""
    try:
        tools = Toolchain(assumed_for(str(version)))
        sizes = target_sizes(recipe, version)
        command = target_command(tools, recipe, sizes, "checkpoint")
    except TrtspecError:
        return ""
    paths = {"checkpoint": "CHECKPOINT", OUTPUT.strip("{}"): "ENGINE"}
    program, *arguments = command.resolved(paths)
    return shlex.join((program.strip("{}"), *arguments))
