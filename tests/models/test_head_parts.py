"""Each tensor that a head consists of is asked for, and no other is taken for one."""

import re

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from tests.models.drafters import (
    as_speculators,
    write_dflash,
    write_eagle,
    write_eagle3,
    write_medusa,
    write_redrafter,
)
from tests.models.tiny import HIDDEN, ROWS
from trtspec.models.drafter import describe_drafter
from trtspec.models.parts import WHOLE

WRITERS = {
    "medusa": lambda to: write_medusa(to, name="medusa_lm_head.safetensors"),
    "eagle": lambda to: write_eagle(to, layers=2),
    "eagle3": write_eagle3,
    "dflash": write_dflash,
    "redrafter": write_redrafter,
}
LOADERS = ("reference", "tensorrt_llm")
OPTIONAL = {"fc.bias", "embed_tokens.weight", "t2d"}
TOLD_EARLIER = {
    "medusa": r"\d\.\d\.",  # the sizes of all heads are read from each
    "eagle": r"fc\.weight",
    "eagle3": r"d2t|lm_head|fc\.weight",
    "dflash": r"fc\.weight|hidden_norm\.weight",
    "redrafter": r"lm_head\.2\.|rnn_w|lm_head\.1\.linear\.weight",
}
"""Without these nothing is described: a message of its own says so."""


def rewritten(directory, change):
    """Write a drafter's weights again, changed in place by name."""
    (file,) = directory.glob("*.safetensors")
    weights = load_file(file)
    change(weights)
    save_file(weights, file)
    return directory


def parts(directory, kind, loader="reference"):
    return describe_drafter(directory, kind, loader).parts


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize("kind", WRITERS)
def test_a_whole_head_is_whole(tmp_path, kind, loader):
    assert parts(WRITERS[kind](tmp_path), kind, loader) == WHOLE


@pytest.mark.parametrize("kind", ["eagle", "eagle3", "dflash", "redrafter"])
def test_each_tensor_that_is_lost_is_missed(tmp_path, kind):
    WRITERS[kind](tmp_path)
    (file,) = tmp_path.glob("*.safetensors")
    whole = load_file(file)
    wanted = [name for name in whole if name not in OPTIONAL]
    asked = [name for name in wanted if not re.match(TOLD_EARLIER[kind], name)]
    assert len(asked) >= 3
    for name in asked:
        save_file({n: t for n, t in whole.items() if n != name}, file)
        lost = parts(tmp_path, kind)
        assert lost.missing or lost.misshapen, name


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize("kind", WRITERS)
def test_a_tensor_of_no_part_is_left_over(tmp_path, kind, loader):
    odd = "layers.0.self_attn.extra_proj.weight"
    directory = rewritten(
        WRITERS[kind](tmp_path), lambda w: w.update({odd: np.zeros(3, np.float16)})
    )
    assert parts(directory, kind, loader).left_over == (odd,)


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize("kind", ["eagle", "eagle3", "dflash"])
def test_a_renamed_tensor_is_missed_and_left_over(tmp_path, kind, loader):
    def rename(weights):
        old = next(name for name in weights if name.endswith("mlp.up_proj.weight"))
        weights[old.replace("up_proj", "w3")] = weights.pop(old)

    found = parts(rewritten(WRITERS[kind](tmp_path), rename), kind, loader)
    assert [name for name in found.missing if name.endswith("mlp.up_proj.weight")]
    assert [name for name in found.left_over if name.endswith("mlp.w3.weight")]


@pytest.mark.parametrize(
    ("kind", "name", "wanted"),
    [
        ("eagle", "layers.0.mlp.down_proj.weight", (HIDDEN, 12)),
        ("eagle3", "midlayer.self_attn.k_proj.weight", (None, 2 * HIDDEN)),
        ("dflash", "layers.1.self_attn.o_proj.weight", (HIDDEN, HIDDEN)),
        ("redrafter", "rnn_u.bias", (HIDDEN,)),
    ],
)
def test_a_tensor_of_another_shape_is_told_with_both(tmp_path, kind, name, wanted):
    other = np.zeros((5, 5), np.float16)
    directory = rewritten(WRITERS[kind](tmp_path), lambda w: w.update({name: other}))
    told = {n: shape for n, _, shape in parts(directory, kind).misshapen}
    sizes = told[name]
    assert [s for s in sizes if s is not None][-1] == wanted[-1]


@pytest.mark.parametrize("prefix", ["midlayer.", "layers.", "model.layers."])
def test_layers_may_be_called_in_each_public_way(tmp_path, prefix):
    assert parts(write_eagle3(tmp_path, prefix=prefix), "eagle3") == WHOLE


def test_speculators_training_aids_and_computed_buffers_are_no_parts(tmp_path):
    directory = as_speculators(write_eagle3(tmp_path, prefix="layers."))
    extra = ("verifier_lm_head.weight", "layers.0.self_attn.rotary_emb.inv_freq")
    zeros = dict.fromkeys(extra, np.zeros(4, np.float16))
    assert parts(rewritten(directory, lambda w: w.update(zeros)), "eagle3") == WHOLE


@pytest.mark.parametrize("extra", [("input_norm.weight",), ("fc_norm.0.weight",)])
def test_norms_before_the_fusion_are_parts_of_an_eagle3_head(tmp_path, extra):
    zeros = dict.fromkeys(extra, np.zeros(HIDDEN, np.float16))
    directory = rewritten(write_eagle3(tmp_path), lambda w: w.update(zeros))
    assert parts(directory, "eagle3") == WHOLE


@pytest.mark.parametrize("kind", ["eagle", "eagle3"])
def test_biases_are_parts_of_eagle_heads(tmp_path, kind):
    def add(weights):
        for name in [n for n in weights if n.endswith("q_proj.weight")]:
            bias = name.replace("weight", "bias")
            weights[bias] = np.zeros(HIDDEN, np.float16)

    assert parts(rewritten(WRITERS[kind](tmp_path), add), kind) == WHOLE


@pytest.mark.parametrize(
    ("rnn", "missing"), [(True, ("rnn_u.bias",)), (False, ()), (None, ("rnn_u.bias",))]
)
def test_recurrent_weights_are_asked_for_unless_they_are_off(tmp_path, rnn, missing):
    directory = write_redrafter(tmp_path, rnn=rnn)
    directory = rewritten(directory, lambda w: w.pop("rnn_u.bias"))
    found = parts(directory, "redrafter")
    assert found.missing == missing
    assert bool(found.left_over) is (rnn is False)


def test_latent_attention_and_experts_are_not_judged(tmp_path):
    latent = {"midlayer.self_attn.kv_a_proj_with_mqa.weight": np.zeros((4, 4), "f2")}
    directory = rewritten(write_eagle3(tmp_path), lambda w: w.update(latent))
    assert parts(directory, "eagle3", "tensorrt_llm") == WHOLE


def test_a_shared_checkpoint_of_model_and_heads_keeps_the_models_tensors(tmp_path):
    write_medusa(tmp_path, prefix="medusa_head.", name="model.safetensors")
    model = {"model.embed_tokens.weight": np.zeros((ROWS, HIDDEN), np.float16)}
    assert parts(rewritten(tmp_path, lambda w: w.update(model)), "medusa") == WHOLE
