"""A roofline, by hand."""

from __future__ import annotations

import pytest

from tests.tune.price import models
from trtspec.gpu_kinds import gpu_kind
from trtspec.tune.price.drafting import forwards
from trtspec.tune.price.heads import head_of
from trtspec.tune.price.parts import NoPriceError
from trtspec.tune.price.roofline import Roofline

H200 = Roofline(gpu_kind("H200"))
BANDWIDTH, RATE = 4.8e12, 989e12
CONTEXT = 2048
EMBEDDING = 128256 * 4096
CACHED = 2 * 32 * 8 * 128 * 2
"""Bytes per token of Llama 3.1 8B in bfloat16."""


@pytest.fixture
def llama(tmp_path):
    return models.placed(models.model(tmp_path / "8b", models.LLAMA_8B))


def test_a_small_step_reads_all_weights_but_the_embedding_and_the_cache(llama):
    matrices = (llama.model.parameters - EMBEDDING) * 2 - 65 * 4096 * 2
    expected = (matrices + 4 * CONTEXT * CACHED) / BANDWIDTH
    found = H200.forward(llama, 4, 1, CONTEXT, once=True)
    assert found == pytest.approx(expected, rel=1e-3)
    assert found * 1000 == pytest.approx(3.35, abs=0.01)


def test_more_tokens_are_free_until_the_multiplications_take_longer(llama):
    few = [H200.forward(llama, 4, width, CONTEXT, once=True) for width in (1, 4, 8)]
    assert few[0] == few[1] == few[2]
    weights = llama.model.parameters - EMBEDDING
    many = H200.forward(llama, 64, 8, CONTEXT, once=True)
    read = 64 * CONTEXT * CACHED / BANDWIDTH
    assert many == pytest.approx(2 * weights * 512 / RATE + read, rel=1e-3)


def test_the_upper_basis_reads_the_cache_per_token(llama):
    once = H200.forward(llama, 16, 4, CONTEXT, once=True)
    again = H200.forward(llama, 16, 4, CONTEXT, once=False)
    assert again - once == pytest.approx(3 * 16 * CONTEXT * CACHED / BANDWIDTH)


def test_a_tied_embedding_is_read_as_output_weight(tmp_path):
    small = models.placed(models.model(tmp_path / "1b", models.LLAMA_1B))
    found = H200.forward(small, 1, 1, 2, once=True)
    assert found == pytest.approx(small.model.parameters * 2 / BANDWIDTH, rel=1e-3)


def test_fp8_halves_weights_and_cache_but_not_the_output_weight(tmp_path):
    model = models.model(tmp_path / "8b", models.LLAMA_8B)
    placed = models.placed(model, quantization="fp8")
    inner = model.parameters - 2 * EMBEDDING - 65 * 4096
    expected = inner + 2 * EMBEDDING + CONTEXT * CACHED / 2
    found = H200.forward(placed, 1, 1, CONTEXT, once=True)
    assert found == pytest.approx(expected / BANDWIDTH, rel=1e-3)
    assert found * 1000 == pytest.approx(1.70, abs=0.01)


def test_four_gpus_read_a_quarter_each(tmp_path):
    model = models.model(tmp_path / "70b", models.LLAMA_70B)
    one, four = (
        H200.forward(models.placed(model, gpus=n), 4, 1, CONTEXT, once=True)
        for n in (1, 4)
    )
    assert four == pytest.approx(one / 4, rel=1e-3)


def test_a_prompt_is_bound_by_multiplications(llama):
    weights = llama.model.parameters - EMBEDDING
    assert H200.reading(llama, CONTEXT) == pytest.approx(2 * weights / RATE, rel=1e-3)


def test_a_head_reads_its_matrices_once_per_forward(llama, tmp_path):
    drafter = models.eagle3_head(tmp_path / "head", models.EAGLE3_8B)
    subject = models.eagle3(llama, drafter)
    head = head_of(subject)
    body = sum(matrix.values for matrix in (*head.body, head.output))
    fused = head.fusion[0].values
    cached = 2 * 8 * 128 * 2 * CONTEXT
    found = H200.head(head, 1, forwards(subject.method, 3), CONTEXT)
    expected = (2 * (3 * body + fused) + 3 * cached) / BANDWIDTH
    assert found == pytest.approx(expected, rel=1e-6)


def test_experts_are_refused_as_nobody_knows_which_are_read(tmp_path):
    config = {**models.LLAMA_8B, "num_local_experts": 8}
    target = models.placed(models.model(tmp_path / "moe", config))
    with pytest.raises(NoPriceError, match="mixture of experts"):
        H200.forward(target, 1, 1, CONTEXT, once=True)


@pytest.mark.parametrize(
    ("gpu", "quantization", "why"),
    [
        ("RTX 5090", "none", "no data sheet of RTX 5090"),
        ("A100 SXM 80GB", "fp8", "no rate for fp8"),
        ("H200", "nvfp4", "no rate for nvfp4"),
    ],
)
def test_what_no_data_sheet_says_has_no_price(tmp_path, gpu, quantization, why):
    model = models.model(tmp_path / "8b", models.LLAMA_8B)
    placed = models.placed(model, quantization=quantization)
    with pytest.raises(NoPriceError, match=why):
        Roofline(gpu_kind(gpu)).forward(placed, 1, 1, CONTEXT, once=True)


def test_weights_that_are_stored_quantized_count_as_stored(tmp_path):
    facts = {
        "quantization": "modelopt",
        "published_quantization": "fp8",
        "weight_bytes": 9_000_000_000,
    }
    model = models.model(tmp_path / "8b", models.LLAMA_8B, **facts)
    found = H200.forward(models.placed(model), 1, 1, 2, once=True)
    assert found == pytest.approx((9e9 - 2 * EMBEDDING) / BANDWIDTH, rel=1e-3)
    odd = models.model(
        tmp_path / "8b", models.LLAMA_8B, **facts | {"published_quantization": None}
    )
    with pytest.raises(NoPriceError, match="how modelopt weights are multiplied"):
        H200.forward(models.placed(odd), 1, 1, 2, once=True)
