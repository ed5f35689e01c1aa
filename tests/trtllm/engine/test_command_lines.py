"""The exact command line of every stage, per method and version, as it is shown."""

from dataclasses import replace

import pytest

from tests.check.samples import MODEL
from tests.trtllm.engine.samples import VERSIONS, inputs, recipe, tools, written
from trtspec.trtllm.engine.stages import engine_stages

LLAMA = {
    "0.17.0": "llama/convert_checkpoint.py",
    "0.20.0": "models/core/llama/convert_checkpoint.py",
    "1.0.0": "models/core/llama/convert_checkpoint.py",
    "1.2.1": "models/core/llama/convert_checkpoint.py",
}

NONE = """
convert-target LLAMA --model_dir {target} --output_dir {output} --dtype float16
build-target trtllm-build --checkpoint_dir {convert-target} --output_dir {output}
    --gemm_plugin float16 --use_paged_context_fmha enable
    --max_batch_size 4 --max_input_len 1024 --max_seq_len 2048 --max_num_tokens 8192
    --max_beam_width 1
"""

NGRAM = """
convert-target LLAMA --model_dir {target} --output_dir {output} --dtype float16
build-target trtllm-build --checkpoint_dir {convert-target} --output_dir {output}
    --gemm_plugin float16 --use_paged_context_fmha enable
    --max_batch_size 4 --max_input_len 2048 --max_seq_len 2053 --max_num_tokens 8192
    --max_beam_width 1
    --speculative_decoding_mode draft_tokens_external --max_draft_len 4
"""

DRAFT_TARGET = (
    NGRAM
    + """
convert-draft LLAMA --model_dir {draft} --output_dir {output} --dtype float16
build-draft trtllm-build --checkpoint_dir {convert-draft} --output_dir {output}
    --gemm_plugin float16 --use_paged_context_fmha enable
    --max_batch_size 4 --max_input_len 2048 --max_seq_len 2052 --max_num_tokens 8192
    --max_beam_width 1
"""
)

MEDUSA = """
convert-target medusa/convert_checkpoint.py
    --model_dir {target} --output_dir {output} --dtype float16
    --medusa_model_dir {draft} --num_medusa_heads 4 --num_medusa_layers 1
    --max_medusa_token_len 63
build-target trtllm-build --checkpoint_dir {convert-target} --output_dir {output}
    --gemm_plugin float16 --use_paged_context_fmha enable
    --max_batch_size 4 --max_input_len 1024 --max_seq_len 2048 --max_num_tokens 8192
    --max_beam_width 1 --speculative_decoding_mode medusa
"""

EAGLE = """
convert-target eagle/convert_checkpoint.py
    --model_dir {target} --output_dir {output} --dtype float16
    --eagle_model_dir {draft} --max_draft_len 63 --num_eagle_layers 4
    --max_non_leaves_per_layer 10
build-target trtllm-build --checkpoint_dir {convert-target} --output_dir {output}
    --gemm_plugin float16 --use_paged_context_fmha enable
    --max_batch_size 4 --max_input_len 1024 --max_seq_len 2048 --max_num_tokens 8192
    --max_beam_width 1 --speculative_decoding_mode eagle
"""

REDRAFTER_BUILD = """
build-target trtllm-build --checkpoint_dir {convert-target} --output_dir {output}
    --gemm_plugin float16 --use_paged_context_fmha enable
    --max_batch_size 4 --max_input_len 1024 --max_seq_len 2048 --max_num_tokens 8192
    --max_beam_width 1 --speculative_decoding_mode explicit_draft_tokens
    --remove_input_padding enable
"""

REDRAFTER_IN_ONE_STEP = """
convert-target redrafter/convert_checkpoint.py --model_dir {target}
    --drafter_model_dir {draft} --output_dir {output} --dtype float16
    --redrafter_num_beams 5 --redrafter_draft_len_per_beam 5
""" + REDRAFTER_BUILD  # fmt: skip

REDRAFTER_IN_TWO_STEPS = """
convert-base LLAMA --model_dir {target} --output_dir {output} --dtype float16
convert-target redrafter/convert_checkpoint.py
    --base_model_checkpoint_dir {convert-base}
    --drafter_model_dir {draft} --output_dir {output} --dtype float16
    --redrafter_num_beams 5 --redrafter_draft_len_per_beam 5
""" + REDRAFTER_BUILD  # fmt: skip

LOOKAHEAD = """
convert-target LLAMA --model_dir {target} --output_dir {output} --dtype float16
build-target trtllm-build --checkpoint_dir {convert-target} --output_dir {output}
    --gemm_plugin float16 --use_paged_context_fmha enable
    --max_batch_size 4 --max_input_len 1024 --max_seq_len 2048 --max_num_tokens 8192
    --max_beam_width 1
    --speculative_decoding_mode lookahead_decoding --max_draft_len 15
"""


def words(text, version):
    """Give the words of a text above, with the version's script of Llama."""
    return text.replace("LLAMA", LLAMA[version]).split()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("method", "text"),
    [
        ("none", NONE),
        ("ngram", NGRAM),
        ("draft_target", DRAFT_TARGET),
        ("medusa", MEDUSA),
        ("eagle", EAGLE),
        ("lookahead", LOOKAHEAD),
    ],
    ids=lambda value: value if "\n" not in value else "",
)
def test_each_method(method, text, version):
    assert written(recipe(method), version) == words(text, version)


@pytest.mark.parametrize(
    ("version", "text"),
    [
        ("0.17.0", REDRAFTER_IN_ONE_STEP),
        ("0.20.0", REDRAFTER_IN_ONE_STEP),
        ("0.21.0", REDRAFTER_IN_ONE_STEP),
        ("1.0.0", REDRAFTER_IN_TWO_STEPS),
        ("1.2.1", REDRAFTER_IN_TWO_STEPS),
    ],
    ids=lambda value: value if "\n" not in value else "",
)
def test_redrafter_takes_a_converted_base_from_1_0_on(version, text):
    path = LLAMA.get(version, LLAMA["0.20.0"])
    expected = text.replace("LLAMA", path).split()
    assert written(recipe("redrafter"), version) == expected


@pytest.mark.parametrize("version", VERSIONS)
def test_eagle_2_is_built_as_eagle_1(version):
    made = recipe("eagle", tree="dynamic", dynamic_top_k=4)
    assert written(made, version) == words(EAGLE, version)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("method", "text"), [("medusa", MEDUSA), ("eagle", EAGLE)])
def test_base_of_the_rotary_encoding_once_the_checkpoint_is_here(method, text, version):
    here = replace(MODEL, rope_theta=500000.0)
    made = recipe(method)
    given = inputs(made)
    given = replace(given, target=replace(given.target, info=here))
    found = engine_stages(tools(version), given)
    convert = next(stage for stage in found if stage.name == "convert-target")
    expected = text.partition("build-target")[0].split()[2:]
    assert list(convert.command.arguments[2:]) == [*expected, "--rotary_base", "500000"]


LLAMA_70B_FP8 = """
quantize-target quantization/quantize.py
    --model_dir {target} --output_dir {output} --dtype bfloat16
    --qformat fp8 --kv_cache_dtype fp8 --calib_dataset data/cnn_dailymail
    --calib_size 256 --tp_size 4
build-target trtllm-build --checkpoint_dir {quantize-target} --output_dir {output}
    --gemm_plugin auto --use_paged_context_fmha enable
    --max_batch_size 4 --max_input_len 2048 --max_seq_len 2059 --max_num_tokens 8192
    --max_beam_width 1
    --speculative_decoding_mode draft_tokens_external --max_draft_len 10
    --gather_generation_logits --workers 4 --fast_build --multiple_profiles enable
quantize-draft quantization/quantize.py
    --model_dir {draft} --output_dir {output} --dtype bfloat16
    --qformat fp8 --kv_cache_dtype fp8 --calib_dataset data/cnn_dailymail
    --calib_size 256 --tp_size 2
build-draft trtllm-build --checkpoint_dir {quantize-draft} --output_dir {output}
    --gemm_plugin auto --use_paged_context_fmha enable
    --max_batch_size 4 --max_input_len 2048 --max_seq_len 2058 --max_num_tokens 8192
    --max_beam_width 1
    --gather_generation_logits --workers 2 --fast_build --multiple_profiles enable
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_all_options_at_once(version):
    made = recipe(
        "draft_target",
        target={"dtype": "bfloat16", "quantization": "fp8", "tensor_parallel": 4},
        draft_length=5,
        use_draft_logits=True,
        quantization="fp8",
        tensor_parallel=2,
        engine={
            "max_draft_length": 10,
            "calibration_dataset": "data/cnn_dailymail",
            "calibration_samples": 256,
            "build_flags": {"multiple_profiles": "enable", "fast_build": True},
        },
    )
    assert written(made, version) == words(LLAMA_70B_FP8, version)
