"""An engine's own config.json is read as the runtime reads it."""

import json

import pytest

from tests.trtllm.engine.test_expected import engine
from trtspec.errors import RunError
from trtspec.trtllm.engine.engine_config import read_engine


@pytest.fixture
def read(tmp_path):
    def read(config):
        (tmp_path / "config.json").write_text(json.dumps(config))
        return read_engine(tmp_path)

    return read


def test_settings_of_a_medusa_engine(read):
    found = read(engine("medusa", pretrained={"vocab_size": 32000}))
    assert found.version == "1.2.1"
    assert found.architecture == "MedusaForCausalLM"
    assert (found.mode, found.max_draft_len) == (4, 63)
    assert (found.max_batch_size, found.max_input_len) == (4, 1024)
    assert (found.max_seq_len, found.max_num_tokens) == (2111, 8192)
    assert (found.max_beam_width, found.tp_size) == (1, 1)
    assert (found.dtype, found.vocab_size) == ("float16", 32000)
    assert (found.quant, found.kv_cache_quant) == (None, None)
    assert found.paged_context_fmha
    assert not found.gather_generation_logits
    assert found.extras == {"num_medusa_heads": 4, "num_medusa_layers": 1}


def test_quantization_logits_and_gpus(read):
    pretrained = {
        "quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "INT8"},
        "mapping": {"tp_size": 2},
    }
    plugins = {"use_paged_context_fmha": False}
    found = read(engine("none", pretrained, plugins, gather_generation_logits=True))
    assert (found.quant, found.kv_cache_quant, found.tp_size) == ("FP8", "INT8", 2)
    assert found.gather_generation_logits
    assert not found.paged_context_fmha


@pytest.mark.parametrize(
    ("method", "built", "length"),
    [
        ("none", {}, 0),
        ("ngram", {}, 4),
        # only the checkpoint's part names it
        ("eagle", {"max_draft_len": 0}, 63),
        # the product of 5 beams and 5 tokens
        ("redrafter", {"max_draft_len": 0}, 25),
        ("redrafter", {"max_draft_len": 25}, 25),
    ],
)
def test_draft_length(read, method, built, length):
    assert read(engine(method, **built)).max_draft_len == length


def test_engine_that_says_little_is_a_plain_one(read):
    found = read({"pretrained_config": {"mapping": []}, "build_config": None})
    assert (found.mode, found.max_draft_len, found.tp_size) == (1, 0, 1)
    assert (found.version, found.architecture) == ("unknown", "")
    assert not found.paged_context_fmha


def test_folder_without_an_engine_is_an_error(tmp_path):
    with pytest.raises(RunError, match="cannot be read"):
        read_engine(tmp_path)
