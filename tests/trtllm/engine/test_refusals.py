"""What could not end well is refused before any program is called."""

import pytest

from tests.models.drafters import write_eagle
from tests.trtllm.engine.projects import make_workshop
from trtspec.errors import BackendUnavailableError, FindingsError

SAMPLED = {"temperature": 0.8}


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    return make_workshop(tmp_path_factory.mktemp("workshop"))


@pytest.mark.parametrize(
    ("method", "fields", "said"),
    [
        (
            "draft_target",
            {"engine": {"kv_cache": "int8"}},
            "kv_cache int8 with draft_target and target.quantization none",
        ),
        (
            "ngram",
            {"engine": {"kv_cache": "fp8"}},
            "kv_cache fp8 with ngram and target.quantization none",
        ),
        (
            "draft_target",
            {"draft_length": 9, "engine": {"max_draft_length": 8}},
            "a draft of 9 tokens does not fit into an engine built for 8",
        ),
        ("ngram", {"sampling": SAMPLED}, "lossy: ngram on backend tensorrt"),
        ("draft_target", {"sampling": SAMPLED}, "lossy: draft_target on backend"),
        ("medusa", {"sampling": SAMPLED}, "lossy: medusa on backend tensorrt"),
        ("eagle", {"target": {"quantization": "fp8"}}, "quantization fp8 with method"),
        ("eagle", {"family": "qwen2"}, "of the family qwen2, which eagle cannot be"),
        ("eagle", {"limits": {"max_batch_size": 513}}, "max_batch_size 513 with"),
        ("none", {"target": {"tensor_parallel": 3}}, "tensor_parallel 3 does not"),
        ("none", {"target": {"family": "qwen2"}}, "family is qwen2, but the target"),
        ("none", {"engine": {"build_flags": {"workers": 2}}}, "workers: 2"),
        ("none", {"engine": {"build_flags": {"nonsense": 1}}}, "no flag --nonsense"),
        ("medusa", {"num_heads": 4}, "num_heads 4 is above the 3 heads"),
    ],
)
def test_recipe_is_refused_with_the_values_that_clash(workshop, method, fields, said):
    before = len(workshop.standin.calls())
    with pytest.raises(FindingsError) as caught:
        workshop.build(workshop.write(method, **fields))
    assert said in str(caught.value)
    assert len(workshop.standin.calls()) == before


def test_eagle_head_without_bias_is_refused(tmp_path):
    workshop = make_workshop(tmp_path)
    write_eagle(tmp_path / "eagle", bias=False)
    with pytest.raises(FindingsError, match=r"fc\.bias"):
        workshop.build(workshop.write("eagle"))
    assert workshop.standin.calls() == []


def test_sampling_that_is_lossy_is_built_where_it_is_allowed_and_told(workshop):
    workshop.told.clear()
    recipe = workshop.write("ngram", sampling=SAMPLED, allow_lossy=True)
    assert workshop.build(recipe).artifact.recipe.speculation.allow_lossy
    (warning,) = [line for line in workshop.told if "lossy" in line]
    assert warning.startswith("warning: ")
    assert "lossy: ngram on backend tensorrt, temperature 0.8" in warning


@pytest.mark.parametrize(
    ("version", "keys", "said"),
    [
        ("1.2.1", {"builder": False}, "has no builder"),
        ("1.2.1", {"examples": False}, "no example scripts to convert with"),
        ("1.2.1", {"examples_version": "1.0.0"}, "are of TensorRT-LLM 1.0.0"),
        ("1.3.0rc21", {"builder": False, "examples": False}, "removed upstream in"),
    ],
)
def test_installation_that_cannot_build_is_refused(tmp_path, version, keys, said):
    workshop = make_workshop(tmp_path, version, **keys)
    with pytest.raises(BackendUnavailableError) as caught:
        workshop.build(workshop.write("none"))
    assert said in str(caught.value)
    assert workshop.standin.calls() == []
    assert not workshop.engines.exists()


def test_machine_without_a_gpu_is_refused(tmp_path):
    workshop = make_workshop(tmp_path, gpus=0)
    with pytest.raises(FindingsError, match="no GPU is visible") as caught:
        workshop.build(workshop.write("none"))
    assert "the NVIDIA driver lists no GPU" in str(caught.value)
    assert workshop.standin.calls() == []
