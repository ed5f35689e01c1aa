"""Checkpoints of heads that are not what their name or recipe says."""

import json

import pytest
from click.testing import CliRunner

from tests.check.kinds.asking import (
    EAGLE,
    EAGLE3,
    MEDUSA,
    NEWEST,
    NGRAM,
    TREE,
    ask,
    bad,
    faults,
    good,
    innocents,
    passes,
    tells,
)
from tests.models.heads import medusa_tensors
from tests.models.large import write_headers
from trtspec.cli.main import cli

OLD = {"backend": "tensorrt", "version": "0.21.0"}
NARROW = {
    "hidden_size": 2048,
    "target_hidden_size": 4096,
    "intermediate_size": 8192,
    "num_attention_heads": 16,
}


@pytest.fixture(scope="module")
def heads(place):
    """Heads of many layouts beside the place's own."""
    put = place.put
    put("two-numbers", "eagle3", config={"draft_vocab_size": 16000})
    put("four-states", "eagle3", states=4)
    put("two-states", "eagle3", states=2)
    put("in-layers", "eagle3", prefix="layers.0.")
    put("no-map", "eagle3", drafted=128256, table=False)
    put("no-number", "eagle3", drafted=128256, table=False, config={})
    config = {"eagle_aux_hidden_state_layer_ids": None, "rope_scaling": None}
    put("nulls", "eagle3", config={**config, "draft_vocab_size": 32000})
    put("narrow", "eagle3", width=2048, target=4096, inner=8192, config=NARROW)
    put("no-bias", "eagle", bias=False)
    put("three-heads", "medusa", 3)
    put("two-layers", "medusa", 4, layers=2)
    quantized = place.root / "fp8-heads"
    if not quantized.exists():
        shapes = medusa_tensors(4, rows=128256)
        tensors = {name: ("F8_E4M3", shape) for name, shape in shapes.items()}
        write_headers(quantized, {}, tensors)
        weights = quantized / "model.safetensors"
        weights.rename(quantized / "medusa_lm_head.safetensors")
    half = put("half", "eagle3") / "model.safetensors"
    if half.stat().st_size > 1 << 20:
        with half.open("r+b") as stream:
            stream.truncate(1 << 20)
    return place


def eagle3(name, **fields):
    return {**EAGLE3, "model": f"./{name}", **fields}


def medusa(name, **fields):
    return {**MEDUSA, "model": f"./{name}", **fields}


@faults(
    bad(
        "config and table disagree on the draft's tokens",
        ask(eagle3("two-numbers"), "1.2.1"),
        "checkpoint", "blocking", "draft_vocab_size is 16000", "32000",
    ),
    bad(
        "a head that fuses four states, three are captured",
        ask(eagle3("four-states"), "1.2.1"),
        "captured-layers", "blocking", "reads 4 hidden states", "3",
    ),
    bad(
        "a head that fuses two states, three are named",
        ask(eagle3("two-states", layers_to_capture=[0, 1, -1]), NEWEST),
        "eagle3-head", "blocking", "names 3 layers", "2",
    ),
    bad(
        "layers under a name that 1.2 may not find",
        ask(eagle3("in-layers"), "1.2.1"),
        "eagle3-head", "warning", "layers.", "midlayer.", "1.2.1",
    ),
    bad(
        "a public head without the bias that conversion reads",
        ask({**EAGLE, "model": "./no-bias"}, **OLD),
        "eagle-bias", "blocking", "bias",
    ),
    bad(
        "five heads asked for, three there",
        ask(medusa("three-heads", num_heads=5, tree=TREE), **OLD),
        "medusa-heads", "blocking", "num_heads 5", "3 heads",
    ),
    bad(
        "heads of two layers, one asked for",
        ask(medusa("two-layers", tree=TREE), **OLD),
        "medusa-heads", "blocking", "num_layers", "2",
    ),
    bad(
        "half a download",
        ask(eagle3("half"), "1.2.1"),
        "checkpoint", "blocking", "model.safetensors",
    ),
    bad(
        "quantized heads on the embedded engine",
        ask({"method": "medusa", "model": "./fp8-heads", "tree": TREE}),
        "stored-quantization", "blocking", "float8_e4m3", "medusa",
    ),
    bad(
        "Medusa heads as a target",
        ask(NGRAM, "1.2.1", target="medusa"),
        "checkpoint", "blocking", "medusa_lm_head.safetensors",
    ),
    bad(
        "quantized Medusa heads on engines",
        ask(medusa("fp8-heads", tree=TREE), **OLD),
        "stored-quantization", "warning", "float8_e4m3", "medusa", "0.11",
    ),
    bad(
        "Medusa heads as an EAGLE drafter",
        ask({**EAGLE, "model": "./medusa"}, **OLD),
        "checkpoint", "blocking", "Medusa", "method: medusa",
    ),
    bad(
        "a whole model as an EAGLE-3 head",
        ask(eagle3("small"), "1.2.1"),
        "checkpoint", "blocking", "language model", "method: draft_target",
    ),
    bad(
        "layers that the target does not have",
        ask({**EAGLE3, "layers_to_capture": [0, 1, 40]}, "1.2.1"),
        "captured-layers", "blocking", "layer 40", "2 layers",
    ),
)  # fmt: skip
def test_heads_that_are_not_what_is_asked_for(heads, asked, told):
    """TensorRT-LLM #2588, #6492, #2115; Medusa #76, #81; SGLang PR 21272."""
    tells(heads.check(**asked), *told)


@innocents(
    good("a full vocabulary without a map", ask(eagle3("no-map"), "1.2.1")),
    good("no draft vocabulary size either", ask(eagle3("no-number"), NEWEST)),
    good("layer ids and scaling of null", ask(eagle3("nulls"), "1.2.1")),
    good("narrower than its target", ask(eagle3("narrow"), "1.2.1")),
    good("no bias, and none needed", ask({**EAGLE, "model": "./no-bias"})),
    good(
        "fewer heads than were trained",
        ask(medusa("medusa", num_heads=2, tree=TREE[:2]), **OLD),
    ),
    good(
        "the layers that the target has",
        ask(eagle3("two-states", layers_to_capture=[0, 1]), NEWEST),
    ),
    good("layers. on a release that reads it", ask(eagle3("in-layers"), NEWEST)),
)
def test_unusual_heads_that_are_good(heads, asked, rules):
    """executorch PR 20149; SGLang PR 4716; vLLM PR 6830; speculators PR 358."""
    passes(heads.check(**asked), "checkpoint", "eagle3-head", "drafter-tensors")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("two-numbers", ("16000", "32000")),
        ("narrow", ("EAGLE-3 head", "4096")),
        ("fp8-heads", ("Medusa heads", "float8_e4m3")),
        ("in-layers", ("EAGLE-3 head", "layers.")),
        ("no-bias", ("EAGLE-1 or EAGLE-2", "8192")),
    ],
)
def test_inspect_says_what_each_of_them_is(heads, name, words):
    asked = ["inspect", str(heads.root / name), "--trtllm", "1.2.1"]
    result = CliRunner(env={"COLUMNS": "200"}).invoke(cli, asked)
    told = result.stdout + str(result.exception or "")
    assert all(word in told for word in words), told


def test_inspect_tells_of_a_head_of_another_rotary_base(heads):
    """Automodel PR 2399: acceptance fades with the position; no fault by itself."""
    head = heads.put("other-base", "eagle3", config={"rope_theta": 20000.0})
    asked = ["inspect", str(head), "--target", str(heads.put("llama")), "--json"]
    fit = json.loads(CliRunner().invoke(cli, asked).stdout)["fit"]
    (found,) = [one for one in fit if "20000" in json.dumps(one)]
    assert found["verdict"] == "note"
    assert "500000" in json.dumps(found)
