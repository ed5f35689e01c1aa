"""Bytes of weights: as stored, converted or quantized, and the share of a GPU."""

from dataclasses import replace

import pytest

from tests.check.memory.builders import (
    DEEPSEEK,
    LLAMA_1B,
    LLAMA_8B,
    LLAMA_70B,
    LLAMA_70B_FP8,
    target,
)
from trtspec.check.memory.parallel import Parallel
from trtspec.check.memory.weights import WEIGHT_BITS, model_weights, weights_per_gpu

MATRIX_70B = 128256 * 8192
NORMS_70B = (2 * 80 + 1) * 8192


def test_unquantized_weights_are_parameters_times_their_type():
    model = target(LLAMA_8B)
    assert model_weights(model, "bfloat16").total == 2 * model.parameters
    assert model_weights(model, "float32").total == 4 * model.parameters


@pytest.mark.parametrize("quantization", sorted(WEIGHT_BITS))
def test_embedding_output_and_norms_are_not_quantized(quantization):
    model = target(LLAMA_70B)
    weights = model_weights(model, "bfloat16", quantization)
    kept = 2 * MATRIX_70B + NORMS_70B
    inner = model.parameters - kept
    assert weights.total - weights.layers == 2 * kept
    assert weights.layers == int(inner * WEIGHT_BITS[quantization]) // 8
    assert "estimated" in weights.how


def test_the_estimate_of_fp8_is_near_what_is_published():
    stored = model_weights(target(LLAMA_70B_FP8), "bfloat16")
    estimated = model_weights(target(LLAMA_70B), "bfloat16", "fp8")
    assert stored.how == "as stored"
    assert estimated.total == pytest.approx(stored.total, rel=0.01)


def test_stored_quantized_weights_are_taken_as_they_are():
    model = target(DEEPSEEK)
    assert model_weights(model, "bfloat16", "none").total == model.weight_bytes
    assert model_weights(model, "float32", "none").total == model.weight_bytes


def test_a_tied_output_is_counted_once():
    weights = model_weights(target(LLAMA_1B), "bfloat16")
    assert weights.output == 0
    assert weights.total == 2 * target(LLAMA_1B).parameters


@pytest.mark.parametrize("size", [2, 4, 8])
def test_tensor_parallelism_divides_all_but_the_norms(size):
    weights = model_weights(target(LLAMA_70B), "bfloat16")
    share = weights_per_gpu(weights, Parallel(size))
    exact = (weights.total - weights.norms) / size + weights.norms
    assert exact <= share < exact + 3


def test_one_gpu_has_everything():
    weights = model_weights(target(LLAMA_70B), "bfloat16")
    assert weights_per_gpu(weights, Parallel()) == weights.total


def test_engines_keep_the_whole_embedding_on_each_gpu():
    weights = model_weights(target(LLAMA_70B), "bfloat16")
    shared = weights_per_gpu(weights, Parallel(4))
    whole = weights_per_gpu(weights, Parallel(4), whole_embedding=True)
    assert whole - shared == 3 * weights.embedding // 4


def test_a_stage_of_a_pipeline_has_one_end():
    weights = model_weights(target(LLAMA_70B), "bfloat16")
    share = weights_per_gpu(weights, Parallel(1, 4))
    assert share == weights.layers // 4 + weights.embedding + weights.norms


def test_a_model_smaller_than_its_embedding_is_no_negative():
    model = replace(target(LLAMA_1B), parameters=10)
    assert model_weights(model, "bfloat16").layers == 0
