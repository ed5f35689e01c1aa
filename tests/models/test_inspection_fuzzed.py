"""Whatever a checkpoint's files hold, inspect tells of it and never raises."""

import json
import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.models.heads import (
    eagle3_config,
    eagle3_tensors,
    eagle_tensors,
    medusa_tensors,
)
from tests.models.large import write_headers
from tests.models.tiny import CONFIG, shapes
from trtspec.methods.catalogue import PLACES
from trtspec.models.inspection import inspect
from trtspec.models.inspection_fit import fits
from trtspec.models.inspection_services import needs, services

LIKE = {
    "model": (CONFIG, shapes()),
    "mtp": (
        {**CONFIG, "num_nextn_predict_layers": 1},
        {**shapes(), "model.layers.2.eh_proj.weight": (8, 16)},
    ),
    "eagle3": (eagle3_config(draft_vocab_size=32000), eagle3_tensors()),
    "eagle": (eagle3_config(), eagle_tensors()),
    "medusa": ({"medusa_num_heads": 3}, medusa_tensors(3)),
    "speculators": (
        {
            "speculators_model_type": "eagle3",
            "transformer_layer_config": {**CONFIG, "hidden_size": 4096},
        },
        eagle3_tensors(prefix="layers."),
    ),
    "dflash": (
        {**CONFIG, "model_type": "qwen3", "dflash_config": {"target_layer_ids": [0]}},
        {"hidden_norm.weight": (8,), "fc.weight": (8, 8)},
    ),
    "redrafter": ({**CONFIG, "exit_dim": 16}, {"rnn_u.weight": (8, 8)}),
    "quantized": (
        {**CONFIG, "quantization_config": {"quant_method": "fp8", "config_groups": {}}},
        {**shapes(), "lm_head.weight_scale": ("F32", (1,))},
    ),
}
ODD = st.sampled_from(
    [None, True, 0, -1, 1.5, 10**30, "", "8", [], [1, "a"], {}, {"a": {}}, [None]]
)
SHAPES = st.lists(st.integers(0, 9), max_size=3).map(tuple)
CHANGES = st.dictionaries(
    st.sampled_from([
        *CONFIG, "draft_vocab_size", "quantization_config", "rope_scaling", "head_dim",
        "eagle_config", "dflash_config", "speculators_model_type", "auto_map", "dtype",
        "transformer_layer_config", "text_config", "layer_types", "kv_lora_rank", "rnn",
        "num_nextn_predict_layers", "eagle_aux_hidden_state_layer_ids", "pard_token",
        "medusa_num_heads", "target_hidden_size", "exit_dim", "rope_parameters",
    ]),
    ODD,
    max_size=4,
)  # fmt: skip
QUIETLY = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def everything(directory):
    """Ask for all that the command shows."""
    found = inspect(directory)
    assert found.title
    json.dumps({fact.key: fact.value for fact in found.facts})
    services(found, PLACES)
    needs(found, None)
    fits(found, found)
    return found


@pytest.mark.parametrize("like", LIKE)
@QUIETLY
@given(changes=CHANGES, odd=SHAPES, data=st.data())
def test_odd_configurations_and_shapes_are_told(tmp_path, like, changes, odd, data):
    config, tensors = LIKE[like]
    name = data.draw(st.sampled_from(sorted(tensors)))
    lost = data.draw(st.sampled_from(sorted(tensors)))
    kept = {n: s for n, s in {**tensors, name: odd}.items() if n != lost}
    shutil.rmtree(tmp_path, ignore_errors=True)
    everything(write_headers(tmp_path, {**config, **changes}, kept))


@QUIETLY
@given(text=st.binary(max_size=40), target=st.sampled_from(["config", "index", "file"]))
def test_odd_bytes_are_told(tmp_path, text, target):
    shutil.rmtree(tmp_path, ignore_errors=True)
    write_headers(tmp_path, CONFIG, shapes(), shards=2)
    name = {
        "config": "config.json",
        "index": "model.safetensors.index.json",
        "file": "model-00002-of-00002.safetensors",
    }[target]
    (tmp_path / name).write_bytes(text)
    everything(tmp_path)
