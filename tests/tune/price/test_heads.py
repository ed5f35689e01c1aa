"""A head's matrices are those of its checkpoint."""

from __future__ import annotations

import dataclasses

import pytest

from tests.tune.price import models
from trtspec.errors import UsageError
from trtspec.methods import Medusa, Mtp
from trtspec.models.drafter import DrafterInfo
from trtspec.tune.price.heads import head_of
from trtspec.tune.price.parts import Attention, Matrix, NoPriceError
from trtspec.tune.price.subject import Subject


@pytest.fixture
def target(tmp_path):
    return models.placed(models.model(tmp_path / "8b", models.LLAMA_8B))


def test_an_eagle3_head_reads_two_states_and_has_a_vocabulary_of_its_own(
    target, tmp_path
):
    drafter = models.eagle3_head(tmp_path / "head", models.EAGLE3_8B)
    head = head_of(models.eagle3(target, drafter))
    assert head.fusion == (Matrix("fusion", 4096, 3 * 4096),)
    assert head.body == (
        Matrix("qkv", 4096 + 2 * 1024, 2 * 4096),
        Matrix("attention_output", 4096, 4096),
        Matrix("gate_and_up", 2 * 14336, 4096),
        Matrix("down", 4096, 14336),
    )
    assert head.output == Matrix("output", 32000, 4096)
    assert head.attention == Attention(1, 32, 8, 128)


def test_further_layers_read_one_state(target, tmp_path):
    drafter = dataclasses.replace(
        models.eagle3_head(tmp_path / "head", models.EAGLE3_8B), layers=3
    )
    head = head_of(models.eagle3(target, drafter))
    assert [m.columns for m in head.body if m.name == "qkv"] == [8192, 4096]
    assert [m.count for m in head.body if m.name == "qkv"] == [1, 2]
    assert head.attention.layers == 3


def test_what_a_head_reads_may_be_told_as_one_number(target, tmp_path):
    drafter = dataclasses.replace(
        models.eagle3_head(tmp_path / "head", models.EAGLE3_8B),
        captured_states=None,
        fused_values=5 * 4096,
    )
    assert head_of(models.eagle3(target, drafter)).fusion[0].columns == 5 * 4096


def test_an_eagle1_head_shares_the_targets_vocabulary(target, tmp_path):
    head = head_of(models.eagle_chain(target, tmp_path / "eagle", 3))
    assert head.fusion == (Matrix("fusion", 4096, 2 * 4096),)
    assert head.body[0] == Matrix("qkv", 6144, 4096)
    assert head.output.rows == 128256


def test_medusa_has_an_output_weight_per_head(target, tmp_path):
    drafter = DrafterInfo(
        kind="medusa",
        family=None,
        dtype="bfloat16",
        weight_bytes=0,
        format="safetensors",
        files=(),
        directory=tmp_path,
        heads=5,
        head_layers=2,
        vocabulary_rows=32000,
    )
    method = Medusa(
        method="medusa", model="heads", num_heads=3, tree=[[0], [0, 0], [0, 0, 0]]
    )
    head = head_of(Subject("toy", method, target, drafter=drafter))
    assert head.body == (Matrix("layer", 4096, 4096, 3 * 2),)
    assert head.output == Matrix("output", 32000, 4096, 3)
    assert head.attention is None


def test_a_next_token_head_is_a_layer_of_the_target(target):
    head = head_of(Subject("toy", Mtp(method="mtp", draft_length=2), target))
    assert head.body[0] == Matrix("fusion", 4096, 8192)
    assert head.body[1] == Matrix("qkv", 6144, 4096)
    assert head.output.rows == 128256


def test_a_next_token_head_with_experts_has_no_price(tmp_path):
    config = {**models.LLAMA_8B, "n_routed_experts": 64}
    target = models.placed(models.model(tmp_path / "moe", config))
    with pytest.raises(NoPriceError, match="mixture of experts"):
        head_of(Subject("toy", Mtp(method="mtp", draft_length=2), target))


def test_a_head_that_is_stored_quantized_has_no_price(target, tmp_path):
    drafter = dataclasses.replace(
        models.eagle3_head(tmp_path / "head", models.EAGLE3_8B), quantization="fp8"
    )
    with pytest.raises(NoPriceError, match="stored as fp8"):
        head_of(models.eagle3(target, drafter))


def test_a_configuration_without_its_sizes_is_named(target, tmp_path):
    config = {**models.EAGLE3_8B}
    del config["intermediate_size"]
    drafter = models.eagle3_head(tmp_path / "head", config)
    with pytest.raises(UsageError, match="has no intermediate_size"):
        head_of(models.eagle3(target, drafter))
