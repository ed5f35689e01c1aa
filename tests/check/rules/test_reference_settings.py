"""Settings that only TensorRT-LLM has are told, or refused where they matter."""

from dataclasses import replace

import pytest

from tests.check.rules.drafters import MEDUSA, only
from tests.check.samples import DRAFT_TARGET, MODEL, recipe
from trtspec.check.rules.reference_settings import ignored_settings, ignored_sizes
from trtspec.check.subject import Subject, key_itself

EAGLE3 = {"method": "eagle3", "model": "./d", "draft_length": 2}
REDRAFTER = {"method": "redrafter", "model": "./d"}
MEDUSA_METHOD = {"method": "medusa", "model": "./d", "tree": [[0], [0, 0]]}


def subject(speculation, drafter=None, backend="reference"):
    made = recipe(backend=backend, speculation=speculation)
    return Subject(made, key_itself, MODEL, drafter=drafter)


@pytest.mark.parametrize(
    ("method", "key", "value", "shown"),
    [
        (EAGLE3, "rejection_sampling", True, "true"),
        (EAGLE3, "two_model", False, "false"),
        (DRAFT_TARGET, "use_draft_logits", True, "true"),
        (REDRAFTER, "greedy_search", False, "false"),
    ],
)
def test_a_setting_without_effect_is_told(method, key, value, shown):
    found = only(ignored_settings(subject({**method, key: value})))
    assert (found.severity, found.where) == ("note", f"speculation.{key}")
    assert found.what == f"{key} {shown} has no effect on backend reference"
    assert not list(ignored_settings(subject(method)))
    assert not list(ignored_settings(subject({**method, key: value}, None, "tensorrt")))


@pytest.mark.parametrize(
    ("key", "value"), [("quantization", "fp8"), ("tensor_parallel", 2)]
)
def test_a_draft_model_cannot_be_quantized_or_split(key, value):
    found = only(ignored_settings(subject({**DRAFT_TARGET, key: value})))
    assert (found.severity, found.where) == ("blocking", f"speculation.{key}")
    assert found.what == f"{key} {value} does not exist on backend reference"


def test_sizes_of_heads_are_those_of_the_checkpoint():
    sizes = {**MEDUSA_METHOD, "num_heads": 5, "num_layers": 2}
    found = list(ignored_sizes(subject(sizes, MEDUSA)))
    assert [f.where for f in found] == [
        "speculation.num_heads",
        "speculation.num_layers",
    ]
    assert found[0].why == "the checkpoint has 3 heads, and these are taken"
    assert {f.severity for f in found} == {"note"}


def test_sizes_that_nobody_chose_are_not_mentioned():
    assert not list(ignored_sizes(subject(MEDUSA_METHOD, MEDUSA)))
    two = replace(MEDUSA, heads=2, head_layers=2)
    written = {**MEDUSA_METHOD, "num_heads": 4, "num_layers": 1}
    assert not list(ignored_sizes(subject(MEDUSA_METHOD, two)))
    assert not list(ignored_sizes(subject(written, two)))
    assert not list(ignored_sizes(subject(MEDUSA_METHOD)))
