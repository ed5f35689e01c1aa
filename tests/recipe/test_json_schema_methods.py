"""The JSON Schema accepts and refuses the values of methods and engine as we do."""

import json

import pytest
from hypothesis import given
from pydantic import ValidationError

from tests.methods.samples import SMALLEST, SPECULATION
from trtspec.recipe import Recipe, recipe_json_schema

MINIMAL = {
    "schema": "trtspec/v1",
    "name": "x",
    "target": {"model": "a"},
    "speculation": {"method": "none"},
}


@pytest.fixture(scope="module")
def validator():
    jsonschema = pytest.importorskip("jsonschema")
    return jsonschema.Draft202012Validator(recipe_json_schema())


def is_recipe(text):
    try:
        Recipe.model_validate_json(text)
    except ValidationError:
        return False
    return True


@given(keys=SPECULATION)
def test_any_method_is_valid(validator, keys):
    text = json.dumps(MINIMAL | {"speculation": keys})
    assert is_recipe(text)
    assert validator.is_valid(json.loads(text))


def verdicts(validator, section, keys):
    text = json.dumps(MINIMAL | {section: keys})
    return is_recipe(text), validator.is_valid(json.loads(text))


TOO_MANY = [*[[rank] for rank in range(256)], [0, 0]]
METHOD_KEYS = [
    ("ngram", "allow_lossy", [True, False], [1, "yes", None]),
    ("ngram", "acceptance", ["exact"], ["typical", None]),
    ("draft_target", "family", ["llama", None], ["", 3]),
    ("draft_target", "quantization", ["int8_sq", "int8_wo", "fp8"], ["int8", None]),
    ("draft_target", "tensor_parallel", [1, 1024], [0, 1025, "2", True]),
    ("draft_target", "use_draft_logits", [True], ["true", 0]),
    ("draft_target", "revision", ["main", None], ["", 12]),
    ("medusa", "num_heads", [4, 32], [0, 33, "4", None]),
    ("medusa", "num_layers", [1, 16], [0, 17]),
    ("medusa", "max_draft_tokens", [63, 256], [0, 257]),
    ("medusa", "draft_length", [], [4]),
    (
        "medusa",
        "tree",
        ["mc_sim_7b_63", [[0]], [[0], [1], [0, 255]]],
        ["dynamic", "", [], [0], [[]], [[-1]], [[256]], [["0"]], [[0], [0]], TOO_MANY],
    ),
    ("medusa", "tree", [], [None, True, 3, {}]),
    ("medusa", "acceptance", ["exact"], ["relaxed", None]),
    ("medusa", "posterior_threshold", [None], [1.0, -0.1, "0.1"]),
    ("eagle", "num_layers", [4], [0, 257]),
    ("eagle", "max_non_leaves_per_layer", [10, 256], [0, 257]),
    ("eagle", "dynamic_top_k", [None], [0, 257, "8"]),
    ("eagle", "acceptance", ["exact"], ["relaxed", None]),
    ("eagle", "posterior_threshold", [None], [1.0, -0.1, "0.1"]),
    ("redrafter", "num_beams", [1, 51], [0, 257]),
    ("redrafter", "draft_length_per_beam", [1, 51], [0, 257]),
    ("redrafter", "greedy_search", [True, False], [1, None]),
    ("lookahead", "window_size", [1, 64], [0, 257]),
    ("lookahead", "ngram_size", [2, 8], [0, 257]),
    ("lookahead", "verification_set_size", [0, 64], [-1, 257]),
    ("lookahead", "model", [], ["d"]),
    ("suffix", "max_matching_ngram", [1, 64, None], [0, 4097]),
    ("suffix", "global_pool", [True, False], [1, None]),
    ("eagle3", "draft_length", [4, {"8": 4}], [0, {}, {"x": 1}]),
    ("eagle3", "tree", [[[0]], None], ["none", [], [[]]]),
    ("eagle3", "tree_top_k", [None], [0, 257]),
    ("eagle3", "layers_to_capture", [[1, 15, 28], [-1], None], [[], [-2], ["1"], 3]),
    ("eagle3", "two_model", [True, False, None], [1, "yes"]),
    ("eagle3", "rejection_sampling", [True, False], [None]),
    ("eagle3", "suffix_threshold", [1, 1024, None], [0, 1025]),
    ("mtp", "acceptance", ["exact"], ["typical", None]),
    ("mtp", "model", ["d", None], ["", 3]),
    ("mtp", "revision", [None], ["", 12]),
    ("mtp", "vanilla", [True, False], [None, 1]),
    ("mtp", "tree", [None], [[[0]], "yes"]),
    ("mtp", "relaxed_delta", [None], [-0.1, 1.1]),
    ("pard", "mask_token_id", [0, None], [-1, "0"]),
    ("dflash", "target_layers", [[0], None], [[], 1]),
    ("user", "drafter", ["a:b", "a.b:C_1"], ["a.b", "a:", ":b", "a:b:c", "a b:c", 3]),
    ("user", "resource_manager", ["a:b", None], ["a"]),
    ("auto", "draft_length", [], [4]),
]


@pytest.mark.parametrize(
    ("method", "key", "right", "wrong"), METHOD_KEYS, ids=lambda v: str(v)[:20]
)
def test_keys_of_methods(validator, method, key, right, wrong):
    for value in right:
        keys = SMALLEST[method] | {key: value}
        assert verdicts(validator, "speculation", keys) == (True, True), value
    for value in wrong:
        keys = SMALLEST[method] | {key: value}
        assert verdicts(validator, "speculation", keys) == (False, False), value


@pytest.mark.parametrize("method", ["medusa", "eagle", "redrafter", "eagle3", "pard"])
def test_drafter_is_required(validator, method):
    assert verdicts(validator, "speculation", {"method": method}) == (False, False)


def test_keys_that_need_each_other(validator):
    dynamic = SMALLEST["eagle"] | {"tree": "dynamic", "dynamic_top_k": 8}
    typical = dynamic | {"acceptance": "typical", "posterior_threshold": 0.0}
    for keys in (dynamic, typical):
        assert verdicts(validator, "speculation", keys) == (True, True)


ENGINE_KEYS = [
    ("max_draft_length", [1, 256, None], [0, 257, "4"]),
    ("max_num_tokens", [1, 2**24, None], [0, 2**24 + 1]),
    ("kv_cache", ["auto", "fp8", "int8"], ["fp16", None]),
    ("gemm_plugin", ["auto", None], ["", 3]),
    ("calibration_dataset", ["a", None], ["", 3]),
    ("calibration_samples", [1, None], [0, "many"]),
    (
        "build_flags",
        [{}, {"a": "b", "C-3": 1, "d_": True}, {"a": ""}],
        [{"a": 1.5}, {"a": None}, {"a": []}, {"--a": 1}, {"": 1}, {"3": 1}, [], None],
    ),
    ("zzz", [], [1]),
]


@pytest.mark.parametrize(("key", "right", "wrong"), ENGINE_KEYS)
def test_keys_of_the_engine(validator, key, right, wrong):
    for value in right:
        assert verdicts(validator, "engine", {key: value}) == (True, True), value
    for value in wrong:
        assert verdicts(validator, "engine", {key: value}) == (False, False), value


PYTORCH_KEYS = [
    ("max_num_tokens", [1, None], [0, "8192"]),
    ("kv_cache", ["auto", "fp8", "nvfp4"], ["int8", None]),
    ("block_reuse", [True, False], [None, 1]),
    ("cuda_graph_batch_sizes", [[1, 2, 8], None], [[], [0], [1.5], 8]),
    ("expert_parallel", [1, None], [0]),
    ("guided_decoding", ["none", "xgrammar", "llguidance"], ["outlines", None]),
    ("attention_backend", ["TRTLLM", "FLASHINFER"], ["trtllm", None]),
    (
        "acceptance_gate",
        [{"window": 100, "min_acceptance_rate": 0.3}, None],
        [{}, {"window": 0, "min_acceptance_rate": 0.3}, {"window": 9}],
    ),
    ("acceptance_gate", [], [{"window": 9, "min_acceptance_rate": 1.0}]),
    ("llm_args", [{}, {"stream_interval": 2, "moe_config": {"a": [1]}}], [[], None]),
    ("calibration_samples", [1], [0, None]),
    ("zzz", [], [1]),
]


@pytest.mark.parametrize(("key", "right", "wrong"), PYTORCH_KEYS)
def test_keys_of_pytorch(validator, key, right, wrong):
    for value in right:
        assert verdicts(validator, "pytorch", {key: value}) == (True, True), value
    for value in wrong:
        assert verdicts(validator, "pytorch", {key: value}) == (False, False), value


@pytest.mark.parametrize("engine", [{}, None])
def test_engine_may_be_empty(validator, engine):
    assert verdicts(validator, "engine", engine) == (True, True)


@pytest.mark.parametrize("family", ["llama", None])
def test_target_may_name_its_family(validator, family):
    target = {"model": "a", "family": family, "quantization": "int8_sq"}
    assert verdicts(validator, "target", target) == (True, True)
    assert verdicts(validator, "target", target | {"family": ""}) == (False, False)


def test_examples_of_every_method_are_valid(validator):
    for name, node in recipe_json_schema()["$defs"].items():
        method = node["properties"].get("method", {}).get("const")
        for key, value in node["properties"].items():
            for example in value.get("examples", []) if method else []:
                keys = SMALLEST[method] | {key: example}
                error = f"{name}.{key}"
                text = json.dumps(MINIMAL | {"speculation": keys})
                assert validator.is_valid(json.loads(text)), error
