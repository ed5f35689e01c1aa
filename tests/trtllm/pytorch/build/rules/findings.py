"""What the rules find in a recipe with its checkpoints, on an installation."""

from __future__ import annotations

from dataclasses import replace

from packaging.version import Version

from tests.trtllm.machines import H200
from tests.trtllm.pytorch.build.projects import write_project
from trtspec.check.finding import Finding
from trtspec.check.resolve import resolve
from trtspec.check.subject import Subject, key_itself
from trtspec.gpu_kinds import kind_of
from trtspec.recipe import load_recipe
from trtspec.trtllm.installation import Installation


def on_gpu(compute_capability, count=1):
    """Give GPUs of a compute capability, such as 9.0."""
    gpu = H200.model_copy(update={"compute_capability": compute_capability})
    return (gpu,) * count


def subject_of(folder, method="none", *, known=True, **keys) -> Subject:
    """Write a recipe, and give what the rules look at.

    :param known: whether the models are on this machine.
    """
    loaded = load_recipe(write_project(folder, method, **keys))
    target, draft = resolve(loaded, "target"), resolve(loaded, "draft")
    if not known:
        return Subject(loaded.recipe, key_itself, base=loaded.base)
    return Subject(
        loaded.recipe,
        key_itself,
        target.info,
        draft.info,
        loaded.base,
        drafter=draft.drafter,
    )


def found(rule, subject, version="1.2.1", **parts) -> list[Finding]:
    """Give all that a rule finds; an installation is not assumed unless told."""
    made = Installation(version=version and Version(version), **parts)
    seen = tuple(map(kind_of, made.gpus)) or subject.gpus
    return list(rule(made, replace(subject, gpus=seen)))


def only(*arguments, **parts) -> Finding:
    """Give the one finding, which must say what, why and, unless a note, what to do."""
    (finding,) = found(*arguments, **parts)
    assert finding.what
    assert finding.why
    assert finding.action or finding.severity == "note"
    return finding
