"""Is speculation lossless by what configuration and environment say: the gate.

It asks no engine anything. What it cannot see, such as the environment of somebody
else's server, and what no source settles leaves it at "cannot tell".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from trtspec.build.artifact import Artifact
from trtspec.forced_acceptance import SGLANG, TENSORRT_LLM, VLLM, forced_settings
from trtspec.recipe.schema import Recipe
from trtspec.trtllm.facts.families import family_of
from trtspec.verify.gate.asked import Asked
from trtspec.verify.gate.by_method import by_method
from trtspec.verify.gate.environment import (
    Variables,
    by_environment,
    by_greedy_ngram,
)
from trtspec.verify.gate.fates import by_fates, dropped_by_release
from trtspec.verify.gate.files import Configuration
from trtspec.verify.gate.llm_args import Read, by_llm_args
from trtspec.verify.gate.result import (
    GateResult,
    Inspected,
    judge,
    lossless,
    lossy,
    untold,
)
from trtspec.verify.gate.sglang import by_sglang, drafts_ngrams, speculates
from trtspec.verify.gate.vllm import by_vllm

REFERENCE = "reference"
_COMPILED = "LLM-API YAML compiled from the recipe"
_ARTIFACT_YAML = Path("launch") / "llm_args.yaml"
_OURS_ONLY = "trtspec refuses requests with it on this backend"
_CONFIG_ONLY = "configuration alone: whether the engine does what it says is not seen"

Environment = Mapping[str, str] | None
"""Of the engine's process; None if it is not known."""


def gate(
    recipe: Recipe,
    *,
    version: Version | None = None,
    environment: Environment,
    asked: Asked | None = None,
    llm_args: Mapping[str, Any] | None = None,
) -> GateResult:
    """Judge a resolved recipe.

    :param version: of TensorRT-LLM, for a backend of its; None if it is not known.
    :param environment: of the process that runs the engine; None if it is not known.
    :param asked: the requests; those of the recipe's own sampling if None.
    :param llm_args: what the LLM API is started with, for backend pytorch; compiled
        from the recipe if None.
    """
    asked = asked or Asked.by_recipe(recipe)
    backend, method = recipe.backend, recipe.speculation
    mode = asked.mode(ties_share=backend == REFERENCE)
    sampled = mode == "sampled"
    found = list(by_method(method, backend, version, sampled=sampled))
    caveats = [_CONFIG_ONLY]
    if backend == "pytorch":
        read = _compiled(recipe, version, asked, llm_args)
        found += _by_yaml(read) if read and method.method != "user" else []
        if method.method != "none":
            found += _controls(read, asked, version)
            caveats += _lost(read, asked, version)
    else:
        found += _refused(asked)
    engine = REFERENCE if backend == REFERENCE else TENSORRT_LLM
    variables = Variables.of(environment, {})
    found += by_environment(variables, engine, reads=_speculates(recipe))
    name = f"{engine}, backend {backend}" if engine != backend else engine
    return judge(name, version, mode, found, caveats)


def _speculates(recipe: Recipe) -> bool:
    """Whether the backend reads what forces acceptance; one without drafts does not."""
    return recipe.backend == "pytorch" and recipe.speculation.method != "none"


def gate_artifact(
    artifact: Artifact, *, environment: Environment, asked: Asked | None = None
) -> GateResult:
    """Judge an artifact by its recipe, its configuration and what it was built with."""
    recipe = artifact.recipe
    told = artifact.manifest.versions.get("tensorrt_llm")
    version = None
    if told is not None and recipe.backend != REFERENCE:
        try:
            version = Version(told)
        except InvalidVersion:
            version = None
    prompts = artifact.workload
    asked = asked or Asked.by_recipe(recipe, prompts)
    return gate(
        recipe,
        version=version,
        environment=environment,
        asked=asked,
        llm_args=_yaml_of(artifact.path),
    )


def gate_configuration(
    found: Configuration,
    *,
    version: Version | None = None,
    environment: Environment = None,
    asked: Asked,
    backend: str = "pytorch",
    accelerator: str = "",
) -> GateResult:
    """Judge what somebody else's server is started with.

    :param version: of the engine; None if it is not known.
    :param environment: of the server; what its command line sets is added. None if it
        is not known: then acceptance could be forced, and the gate cannot tell.
    :param backend: of TensorRT-LLM: pytorch or tensorrt.
    :param accelerator: what runs the server, such as ``nvidia``; empty if not known.
    """
    seen = Variables.of(environment, found.environment)
    if found.kind == "trtllm":
        inspected, engine = _by_trtllm(found, version, asked, backend, seen)
    elif found.kind == "vllm":
        inspected, engine = list(by_vllm(found.settings, asked, found.source)), VLLM
    else:
        inspected = list(_by_sglang(found, asked, accelerator, seen))
        engine = SGLANG
    return judge(engine, version, asked.mode(), inspected, [_CONFIG_ONLY])


def _by_sglang(
    found: Configuration, asked: Asked, accelerator: str, seen: Variables
) -> Iterator[Inspected]:
    settings = found.settings
    yield from by_sglang(settings, asked, found.source, accelerator)
    if speculates(settings):
        yield from by_environment(seen, SGLANG)
        if drafts_ngrams(settings):
            yield by_greedy_ngram(seen, sampled=asked.mode() == "sampled")


def _by_trtllm(
    found: Configuration,
    version: Version | None,
    asked: Asked,
    backend: str,
    seen: Variables,
) -> tuple[list[Inspected], str]:
    told = found.settings.get("backend", backend)
    backend = "tensorrt" if told in ("tensorrt", "trt") else "pytorch"
    read = Read(found.settings, version, backend, asked, found.source)
    inspected = list(_by_yaml(read))
    if read.spec and backend == "pytorch":
        inspected += _controls(read, asked, version)
        inspected += by_environment(seen, TENSORRT_LLM)
    elif read.spec:
        inspected += _unread(asked)
    return inspected, f"{TENSORRT_LLM}, backend {backend}"


def _unread(asked: Asked) -> Iterator[Inspected]:
    """Leave open what engines do with further fields next to drafts of their own."""
    for name, value in asked.asks_for().items():
        what = "what the engine does with it next to drafts is not established"
        yield untold(name, asked.where, value, what)


def _by_yaml(read: Read) -> Iterator[Inspected]:
    yield from by_llm_args(read)
    for forced in forced_settings(read.config):
        source = forced.switch.source
        yield lossy(forced.switch.name, read.where, forced.value, str(forced), source)


def _controls(
    read: Read | None, asked: Asked, version: Version | None
) -> Iterator[Inspected]:
    shape = read.shape if read else None
    if read is None or shape is None:
        for name, value in asked.asks_for().items():
            why = "where the drafter runs in this release is not established"
            yield untold(name, asked.where, value, why)
        return
    yield from by_fates(asked, version, shape, read.flags)


def _lost(read: Read | None, asked: Asked, version: Version | None) -> list[str]:
    if read is None or read.shape is None:
        return []
    return list(dropped_by_release(asked, version, read.shape))


def _refused(asked: Asked) -> Iterator[Inspected]:
    for name, value in asked.asks_for().items():
        yield lossless(name, asked.where, value, _OURS_ONLY)


def _compiled(
    recipe: Recipe,
    version: Version | None,
    asked: Asked,
    llm_args: Mapping[str, Any] | None,
) -> Read | None:
    """Give what the LLM API is started with; None if the release has no family.

    A drafter of the user's own has no YAML: what is said of the method is all there is.
    """
    if llm_args is not None:
        return Read(llm_args, version, "pytorch", asked, str(_ARTIFACT_YAML))
    if version is None or family_of(version) is None:
        return None
    from trtspec.trtllm.pytorch.compile import compile_args

    compiled = compile_args(recipe, version).args.to_dict()
    return Read(compiled, version, "pytorch", asked, _COMPILED)


def _yaml_of(path: Path) -> Mapping[str, Any] | None:
    """Read the configuration that an artifact's server starts with, if it has one."""
    from trtspec.verify.gate.files import read_configuration

    file = path / _ARTIFACT_YAML
    if not file.is_file():
        return None
    return read_configuration(file, "trtllm").settings
