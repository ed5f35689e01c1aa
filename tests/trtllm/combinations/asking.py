"""Recipes that ask for something beside speculation, and what is found in them."""

from packaging.version import Version

from tests.methods.samples import SMALLEST
from tests.trtllm.machines import H200
from trtspec.check.subject import Subject, key_itself
from trtspec.gpu_kinds import kind_of
from trtspec.recipe import Recipe
from trtspec.trtllm.combinations.engines import go_together_on_engines
from trtspec.trtllm.combinations.served import go_together_served
from trtspec.trtllm.installation import Installation

LIMITS = {"max_batch_size": 64, "max_input_tokens": 1024, "max_total_tokens": 2048}


def recipe(method, *, backend="pytorch", options=None, target=None, **fields):
    """Make a recipe; ``options`` are the backend's section."""
    section = "engine" if backend == "tensorrt" else "pytorch"
    return Recipe.model_validate(
        {
            "schema": "trtspec/v1",
            "name": "asking",
            "backend": backend,
            "target": {"model": "org/target", "family": "llama", **(target or {})},
            "speculation": SMALLEST[method] | fields,
            "limits": LIMITS,
            section: options or {},
        }
    )


def gpu(capability):
    """A GPU of a compute capability, such as 12.0."""
    return H200.model_copy(update={"compute_capability": capability})


def found(made, version, *, capability=None, **models):
    """Give all findings about what does not go together."""
    gpus = (gpu(capability),) if capability else ()
    here = Installation(version=version and Version(version), gpus=gpus)
    rule = go_together_served
    if made.backend == "tensorrt":
        rule = go_together_on_engines
    seen = {"gpus": tuple(map(kind_of, gpus))} | models
    return list(rule(here, Subject(made, key_itself, **seen)))


def told(made, version, feature, **machine):
    """Give the findings about one feature, but for the summary of defaults."""
    listed = found(made, version, **machine)
    return [one for one in listed if one.values.get("feature") == feature]


def only(made, version, feature, **machine):
    """Give the one finding about a feature, which must say all that there is to say."""
    (finding,) = told(made, version, feature, **machine)
    assert finding.what
    assert finding.why
    assert finding.action
    return finding
