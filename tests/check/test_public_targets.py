"""Published models as targets: which backend refuses which, and for what reason."""

import pytest
import yaml

from tests.check.samples import NGRAM, content
from tests.models.public import TARGETS, with_one_expert, write_target
from trtspec.check import check_recipe
from trtspec.cli.common import backend_for
from trtspec.recipe.load import load_recipe

LIMITS = {"max_batch_size": 4, "max_input_tokens": 512, "max_total_tokens": 1024}
WITH_SCRIPTS = {"llama", "mistral", "mixtral", "qwen2"}
"""Families here that scripts of the engine backend convert in 1.0.0."""

EVERY = pytest.mark.parametrize("name", list(TARGETS))


def blocking(directory, name, backend, version=None):
    record = TARGETS[name]
    write_target(directory / "target", with_one_expert(record))
    dtype = record["config"].get("torch_dtype", "bfloat16")
    target = {"model": "./target", "dtype": dtype}
    recipe = content(backend=backend, target=target, speculation=NGRAM, limits=LIMITS)
    path = directory / "recipe.yaml"
    path.write_text(yaml.safe_dump(recipe, sort_keys=False))
    loaded = load_recipe(path)
    there = backend_for(loaded.recipe, trtllm=version)
    found = check_recipe(
        loaded, rules=there.rules, version=there.version, free_memory=2**50
    )
    return {finding.rule for finding in found if finding.severity == "blocking"}


@EVERY
def test_backend_pytorch_takes_it(tmp_path, name):
    assert blocking(tmp_path, name, "pytorch", "1.2.1") == set()


@EVERY
def test_the_engine_backend_takes_families_that_it_has_scripts_for(tmp_path, name):
    refused = "family" in blocking(tmp_path, name, "tensorrt", "1.0.0")
    assert refused == (TARGETS[name]["config"]["model_type"] not in WITH_SCRIPTS)


@EVERY
def test_the_reference_backend_takes_plain_weights(tmp_path, name):
    quantized = TARGETS[name].get("quantization", "none") != "none"
    expected = {"stored-quantization"} if quantized else set()
    assert blocking(tmp_path, name, "reference") == expected
