"""How the example scripts are called for families, quantizations and GPUs."""

import pytest

from tests.trtllm.engine.samples import VERSIONS, call, recipe, stages, tools
from trtspec.errors import BuildError
from trtspec.trtllm.engine.conversion import Known, script_for
from trtspec.trtllm.engine.convert import draft_conversion, target_conversions
from trtspec.trtllm.engine.quantization import draft_kv_cache_of, kv_cache_of

FROM_MODEL = "--model_dir {target} --output_dir {output} --dtype float16"
OF_MEDUSA = "--medusa_model_dir {draft} --num_medusa_heads 4 --num_medusa_layers 1"


def converted(text, made, stage="convert-target", version="1.2.1"):
    assert call(made, stage, version) == text.split()


@pytest.mark.parametrize(
    ("family", "script"),
    [
        ("llama", "models/core/llama/convert_checkpoint.py"),
        ("mistral", "models/core/llama/convert_checkpoint.py"),
        ("mixtral", "models/core/llama/convert_checkpoint.py"),
        ("qwen", "models/core/qwen/convert_checkpoint.py"),
        ("qwen2", "models/core/qwen/convert_checkpoint.py"),
    ],
)
def test_each_family_has_its_script(family, script):
    made = recipe(target={"family": family})
    converted(f"{script} {FROM_MODEL}", made)


def test_qwen_has_moved_too():
    made = recipe(target={"family": "qwen2"})
    converted(f"qwen/convert_checkpoint.py {FROM_MODEL}", made, version="0.17.0")


def test_family_without_a_script_is_refused_with_those_that_have_one():
    with pytest.raises(BuildError, match="model family 'gemma'") as caught:
        script_for("gemma")
    assert "llama, mistral, mixtral, qwen, qwen2" in str(caught.value)


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("none", f"models/core/llama/convert_checkpoint.py {FROM_MODEL}"),
        (
            "medusa",
            f"medusa/convert_checkpoint.py {FROM_MODEL} {OF_MEDUSA} "
            "--max_medusa_token_len 63",
        ),
        (
            "eagle",
            f"eagle/convert_checkpoint.py {FROM_MODEL} --eagle_model_dir {{draft}} "
            "--max_draft_len 63 --num_eagle_layers 4 --max_non_leaves_per_layer 10",
        ),
    ],
)
def test_tensor_parallel_converts_with_as_many_workers(method, arguments):
    made = recipe(method, target={"tensor_parallel": 2})
    converted(f"{arguments} --tp_size 2 --workers 2", made)


@pytest.mark.parametrize("version", ["0.20.0", "1.0.0"])
def test_both_steps_of_redrafter_are_split_alike(version):
    made = recipe("redrafter", target={"tensor_parallel": 2})
    for name, stage in stages(made, version).items():
        if name.startswith("convert"):
            arguments = stage.command.arguments
            assert arguments[-4:] == ("--tp_size", "2", "--workers", "2"), name


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("family", ["mixtral", "qwen2"])
def test_medusa_says_the_model_type_of_other_families(family, version):
    made = recipe("medusa", target={"family": family}, num_heads=5, num_layers=2)
    converted(
        f"medusa/convert_checkpoint.py {FROM_MODEL} --medusa_model_dir {{draft}} "
        "--num_medusa_heads 5 --num_medusa_layers 2 --max_medusa_token_len 63 "
        f"--model_type {family}",
        made,
        version=version,
    )


@pytest.mark.parametrize(
    ("quantization", "kv_cache", "arguments"),
    [
        ("fp8", "auto", "--qformat fp8 --kv_cache_dtype fp8"),
        ("nvfp4", "auto", "--qformat nvfp4 --kv_cache_dtype fp8"),
        ("int4_awq", "auto", "--qformat int4_awq"),
        ("int8_sq", "auto", "--qformat int8_sq"),
        ("int8_wo", "auto", "--qformat int8_wo"),
        ("int8_sq", "int8", "--qformat int8_sq --kv_cache_dtype int8"),
        # only the KV cache
        ("none", "int8", "--qformat full_prec --kv_cache_dtype int8"),
        ("none", "fp8", "--qformat full_prec --kv_cache_dtype fp8"),
    ],
)
def test_quantized_targets_go_through_quantize_py(quantization, kv_cache, arguments):
    made = recipe(target={"quantization": quantization}, engine={"kv_cache": kv_cache})
    converted(
        f"quantization/quantize.py {FROM_MODEL} {arguments}", made, "quantize-target"
    )


def test_quantize_py_has_no_workers():
    target = {"quantization": "int4_awq", "tensor_parallel": 2}
    converted(
        f"quantization/quantize.py {FROM_MODEL} --qformat int4_awq --tp_size 2",
        recipe(target=target),
        "quantize-target",
    )


def test_medusa_heads_are_quantized_with_their_target():
    made = recipe("medusa", target={"quantization": "fp8"}, max_draft_tokens=70)
    converted(
        f"quantization/quantize.py {FROM_MODEL} --qformat fp8 --kv_cache_dtype fp8 "
        f"{OF_MEDUSA} --max_draft_len 70",
        made,
        "quantize-target",
    )


def test_redrafter_is_added_to_a_quantized_base():
    made = recipe("redrafter", target={"quantization": "fp8"}, greedy_search=False)
    converted(
        f"quantization/quantize.py {FROM_MODEL} --qformat fp8 --kv_cache_dtype fp8",
        made,
        "quantize-base",
    )
    converted(
        "redrafter/convert_checkpoint.py --base_model_checkpoint_dir {quantize-base} "
        "--drafter_model_dir {draft} --output_dir {output} --dtype float16 "
        "--redrafter_num_beams 5 --redrafter_draft_len_per_beam 5 "
        "--redrafter_no_greedy_search",
        made,
    )


def test_redrafter_of_a_qwen_has_a_base_of_the_qwen_script():
    made = recipe("redrafter", target={"family": "qwen2"})
    converted(
        f"models/core/qwen/convert_checkpoint.py {FROM_MODEL}", made, "convert-base"
    )


def test_draft_model_may_be_of_another_family_and_quantization_than_its_target():
    made = recipe("draft_target", family="qwen2", target={"quantization": "int4_awq"})
    converted(
        "models/core/qwen/convert_checkpoint.py --model_dir {draft} "
        "--output_dir {output} --dtype float16",
        made,
        "convert-draft",
    )
    made = recipe("draft_target", quantization="int8_wo", tensor_parallel=2)
    converted(
        "quantization/quantize.py --model_dir {draft} --output_dir {output} "
        "--dtype float16 --qformat int8_wo --tp_size 2",
        made,
        "quantize-draft",
    )


def test_type_of_the_kv_cache_follows_the_weights_unless_it_is_chosen():
    made = recipe("draft_target", target={"quantization": "fp8"})
    assert (kv_cache_of(made), draft_kv_cache_of(made, made.speculation)) == ("fp8", "")
    made = recipe("draft_target", quantization="fp8")
    assert (kv_cache_of(made), draft_kv_cache_of(made, made.speculation)) == ("", "fp8")
    made = recipe("draft_target", engine={"kv_cache": "int8"})
    assert (kv_cache_of(made), draft_kv_cache_of(made, made.speculation)) == (
        "int8",
        "int8",
    )


def test_redrafter_of_a_version_whose_form_is_not_established_is_refused():
    with pytest.raises(BuildError, match=r"method redrafter .* 1\.0\.0rc3"):
        target_conversions(tools("1.0.0rc3"), recipe("redrafter"), "llama", Known())


def test_script_whose_place_is_not_established_is_refused():
    with pytest.raises(BuildError, match=r"no script .* candidate \(0\.20\.0rc1\)"):
        stages(recipe(), "0.20.0rc1")


def test_format_that_the_version_does_not_have_is_refused():
    made = recipe(target={"quantization": "nvfp4"})
    with pytest.raises(BuildError, match="--qformat nvfp4") as caught:
        target_conversions(tools("0.17.0"), made, "llama", Known())
    assert "allowed: fp8, int8_sq" in str(caught.value)


def test_summary_says_what_is_done():
    made = recipe("draft_target", target={"quantization": "fp8"})
    (target,) = target_conversions(tools(), made, "llama", Known())
    assert target.summary == "quantize the target model: weights fp8, KV cache fp8"
    draft = draft_conversion(tools(), made, made.speculation, "llama", Known())
    assert draft.summary == "convert the draft model (llama)"


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("theta", "written"), [(500000.0, "500000"), (1000000, "1000000"), (1.5e4, "15000"),
                           (10000.5, "10000.5")],
)  # fmt: skip
@pytest.mark.parametrize("method", ["medusa", "eagle"])
def test_base_of_the_rotary_encoding_is_given(method, theta, written, version):
    known = Known(rope_theta=float(theta))
    (conversion,) = target_conversions(tools(version), recipe(method), "llama", known)
    assert conversion.command.arguments[-2:] == ("--rotary_base", written)


@pytest.mark.parametrize("method", ["none", "redrafter", "ngram"])
def test_other_scripts_are_not_told_the_base(method):
    for conversion in target_conversions(
        tools(), recipe(method), "llama", Known(rope_theta=5e5)
    ):
        assert "--rotary_base" not in conversion.command.arguments


def test_calibration_data_that_is_a_folder_here_has_a_place():
    engine = {"calibration_dataset": "./data"}
    made = recipe(target={"quantization": "fp8"}, engine=engine)
    for is_local, written in ((True, "{calibration}"), (False, "./data")):
        known = Known(local_data=is_local)
        (conversion,) = target_conversions(tools(), made, "llama", known)
        arguments = conversion.command.arguments
        assert arguments[arguments.index("--calib_dataset") + 1] == written
