"""A step is composed of what the tables of measured kernels answer."""

from __future__ import annotations

import json

import pytest

from tests.tune.price import models
from tests.tune.price.fake_kernels import ANSWERS
from tests.tune.price.questions import (
    CONTEXT,
    llama,
    llama_fp8,
    llama_two_gpus,
    with_draft_model,
    with_head,
)
from trtspec.check.memory.parallel import Parallel
from trtspec.tune.price.kernels import ATTENTION, Kernels, kernels_of
from trtspec.tune.price.parts import NoPriceError, Placed

pytestmark = pytest.mark.usefixtures("fake")
BATCHES = (1, 4, 16, 64)


def recorded(batch, engine="4096x32|h200_sxm|gemm=bfloat16,kv=bfloat16,tp=1"):
    """Milliseconds of each operation of the real package's decoding step."""
    answers = json.loads(ANSWERS.read_text())
    found = answers[f"{engine}|step|{batch}|{CONTEXT - 1}"]
    return {name: ms for name, ms, _ in found}


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("width", [1, 2, 4, 6, 8])
def test_verification_reads_each_cache_once(tmp_path, batch, width):
    """All but attention at batch x width, and attention at the batch."""
    wide, narrow = recorded(batch * width), recorded(batch)
    others = sum(ms for name, ms in wide.items() if name != ATTENTION)
    found = llama(tmp_path).costs.verify
    cell = {(c.batch, c.tokens): c.seconds for c in found.cells}[batch, width]
    assert cell * 1000 == pytest.approx(others + narrow[ATTENTION])


@pytest.mark.parametrize("batch", BATCHES)
def test_the_upper_basis_reads_it_once_per_token(tmp_path, batch):
    found = llama(tmp_path)
    whole = sum(recorded(batch * 8).values())
    assert found.upper.verify.at(batch, 8) * 1000 == pytest.approx(whole)
    assert found.upper.verify.at(batch, 1) == found.costs.verify.at(batch, 1)
    assert found.upper.verify.at(batch, 8) > found.costs.verify.at(batch, 8)


def test_a_plain_step_is_what_the_package_itself_says(tmp_path):
    """Figures of aiconfigurator-core 0.12.0 by itself, in milliseconds."""
    found = llama(tmp_path).costs.verify
    plain = [round(found.at(batch, 1) * 1000, 2) for batch in BATCHES]
    assert plain == [5.05, 5.46, 6.72, 9.54]


def test_fp8_is_that_of_static_scales(tmp_path):
    """Dynamic ones would add a kernel per matrix: 4.49 ms in place of 3.3."""
    found = llama_fp8(tmp_path)
    assert found.costs.verify.at(1, 1) * 1000 == pytest.approx(3.32, abs=0.01)


def test_a_draft_model_takes_a_plain_step_per_token(tmp_path):
    found = with_draft_model(tmp_path)
    engine = "2048x16|h200_sxm|gemm=bfloat16,kv=bfloat16,tp=1"
    step = sum(recorded(4, engine).values()) / 1000
    host = found.overhead.round_seconds
    assert found.costs.draft.at(4, 3) == pytest.approx(3 * step + host)
    assert found.draft.source == "priced"


def test_a_head_is_priced_from_operations_of_its_sizes(tmp_path):
    found = with_head(tmp_path)
    host = found.overhead.round_seconds
    one, two, three = (found.costs.draft.at(1, k) - host for k in (1, 2, 3))
    assert one * 1000 == pytest.approx(0.26, abs=0.005)
    assert three - two == pytest.approx(two - one, rel=0.1)
    assert found.draft.operations == {
        "head_attention": "silicon",
        "head_attention_output": "silicon",
        "head_down": "silicon",
        "head_fusion": "silicon",
        "head_gate_and_up": "silicon",
        "head_norm": "empirical",
        "head_output": "silicon",
        "head_qkv": "silicon",
    }


def test_two_gpus_share_the_matrices_and_exchange_what_they_found(tmp_path):
    alone, shared = with_head(tmp_path), llama_two_gpus(tmp_path)
    assert shared.costs.verify.at(64, 8) < alone.costs.verify.at(64, 8)
    assert shared.draft.operations["head_ar"] == "silicon"
    assert shared.gpus == 2


def test_every_figure_says_where_it_is_from(tmp_path):
    found = llama(tmp_path)
    assert found.costs.verify.source == "priced"
    assert found.verify.tables.startswith("TensorRT-LLM 1.3.0rc20 (slot current), ")
    assert found.verify.operations["generation_attention"] == "silicon"
    assert found.verify.operations["generation_add_norm_1"] == "empirical"
    assert "generation_ar_1" not in found.verify.operations, "one GPU exchanges nothing"
    assert "6 of 10 operations measured" in found.verify.told()


def test_a_prompt_is_read_by_the_tables_of_prefill(tmp_path):
    assert llama(tmp_path).costs.verify.reading * CONTEXT == pytest.approx(
        44.81e-3, rel=1e-3
    )


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"quantization": "int4_awq"}, "GEMM perf data missing"),
        ({"quantization": "nvfp4"}, "fp4_tc_flops"),
        ({"cache": "nvfp4"}, "KV cache in nvfp4"),
        ({"parallel": Parallel(1, 2)}, "pipelines"),
        ({"parallel": Parallel(2, 1, True)}, "attention_dp"),
    ],
)
def test_what_has_no_data_has_no_price(tmp_path, how, why):
    model = models.model(tmp_path / "8b", models.LLAMA_8B)
    given = {
        "dtype": "bfloat16",
        "quantization": "none",
        "cache": "bfloat16",
        "parallel": Parallel(),
        **how,
    }
    with pytest.raises(NoPriceError, match=why):
        Kernels("h200_sxm").forward(Placed(model, **given), 1, 1, CONTEXT, once=True)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"architectures": ["MistralForCausalLM"]}, "is not supported"),
        ({"hidden_size": 576, "num_attention_heads": 9}, "attention data missing"),
    ],
)
def test_a_model_that_the_package_does_not_know_has_no_price(tmp_path, change, why):
    config = {**models.LLAMA_8B, **change, "num_key_value_heads": 3, "head_dim": 64}
    target = models.placed(models.model(tmp_path / "other", config))
    with pytest.raises(NoPriceError, match=why):
        Kernels("h200_sxm").forward(target, 1, 1, CONTEXT, once=True)


def test_a_configuration_without_a_class_says_what_it_lacks(tmp_path):
    config = {k: v for k, v in models.LLAMA_8B.items() if k != "architectures"}
    target = models.placed(models.model(tmp_path / "8b", config))
    with pytest.raises(NoPriceError, match="has no 'architectures'"):
        Kernels("h200_sxm").forward(target, 1, 1, CONTEXT, once=True)


def test_a_model_without_a_configuration_is_not_looked_for_elsewhere(tmp_path):
    """The package itself would try to download it."""
    model = models.model(tmp_path / "8b", models.LLAMA_8B)
    (tmp_path / "8b" / "config.json").unlink()
    with pytest.raises(NoPriceError, match=r"no config\.json"):
        Kernels("h200_sxm").forward(models.placed(model), 1, 1, CONTEXT, once=True)


def test_attention_that_cannot_be_told_apart_has_no_price(tmp_path, monkeypatch):
    from aiconfigurator_core.sdk import EngineHandle

    monkeypatch.setattr(
        EngineHandle,
        "run_static_per_op",
        lambda self, **asked: ([], [("generation_mla_block", 1.0, 0.0, "silicon")]),
    )
    target = models.placed(models.model(tmp_path / "8b", models.LLAMA_8B))
    kernels = Kernels("h200_sxm")
    assert kernels.forward(target, 1, 1, CONTEXT, once=True) == pytest.approx(0.001)
    with pytest.raises(NoPriceError, match="one operation with other work"):
        kernels.forward(target, 1, 4, CONTEXT, once=True)


@pytest.mark.parametrize("system", [None, "l4"])
def test_a_gpu_without_measured_kernels_has_no_tables(system):
    with pytest.raises(NoPriceError, match="no measured data of this GPU"):
        kernels_of(system)


def test_a_fault_of_ours_is_not_taken_for_missing_data(tmp_path):
    target = models.placed(models.model(tmp_path / "8b", models.LLAMA_8B))
    with pytest.raises(AssertionError, match="not recorded"):
        Kernels("h200_sxm").forward(target, 3, 1, CONTEXT, once=True)
