"""What a rule finds in a recipe on an installation."""

from dataclasses import replace

from packaging.version import Version

from tests.trtllm.machines import H200
from trtspec.check.subject import Subject, key_itself
from trtspec.gpu_kinds import kind_of
from trtspec.trtllm.installation import Installation


def on_gpu(compute_capability):
    """Give a GPU of a compute capability, such as 9.0."""
    return H200.model_copy(update={"compute_capability": compute_capability})


def findings(
    rule, made, version="1.2.1", *, target=None, draft=None, gpus=(), drafter=None
):
    """Give all that the rule finds."""
    installation = Installation(version=version and Version(version), gpus=tuple(gpus))
    kinds = tuple(map(kind_of, gpus))
    subject = Subject(made, key_itself, target, draft, drafter=drafter, gpus=kinds)
    return list(rule(installation, subject))


def only(*arguments, **keys):
    """Give the one finding, which must say what, why and what to do."""
    (finding,) = findings(*arguments, **keys)
    assert finding.what
    assert finding.why
    return finding


def variant(model, **changes):
    """Give a model that differs in some facts."""
    return replace(model, **changes)
