"""For the reference engine drafters are described in every layout that it loads."""

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from tests.models.drafters import (
    as_speculators,
    write_dflash,
    write_eagle,
    write_eagle3,
    write_medusa,
    write_mtp,
    write_redrafter,
)
from tests.models.tiny import HIDDEN, ROWS, write_checkpoint
from trtspec.errors import UsageError
from trtspec.models.describe import describe
from trtspec.models.drafter import describe_drafter
from trtspec.models.drafter_files import loader_of

IDS = "eagle_aux_hidden_state_layer_ids"
WRITERS = {
    "medusa": write_medusa,
    "eagle": write_eagle,
    "eagle3": write_eagle3,
    "dflash": write_dflash,
    "redrafter": write_redrafter,
    "mtp": write_mtp,
    "model": write_checkpoint,
}
DRAFTERS = [kind for kind in WRITERS if kind != "model"]


def described(directory, kind):
    return describe_drafter(directory, kind, "reference")


def refusal(directory, kind):
    with pytest.raises(UsageError) as caught:
        described(directory, kind)
    return caught.value.problems[0]


def test_the_loader_is_the_backends():
    assert loader_of("reference") == "reference"
    assert loader_of("tensorrt") == loader_of("pytorch") == "tensorrt_llm"


def test_medusa_heads_are_counted_in_the_weights_whatever_the_configuration(tmp_path):
    info = described(write_medusa(tmp_path, heads=5, medusa_num_heads=None), "medusa")
    assert (info.heads, info.head_layers, info.is_counted) == (5, 1, True)
    assert (info.hidden_size, info.vocabulary_rows) == (HIDDEN, ROWS)
    assert info.has_own_output is True


def test_medusa_heads_may_share_the_targets_lm_head(tmp_path):
    info = described(write_medusa(tmp_path, heads=2, layers=2, output=False), "medusa")
    assert (info.heads, info.head_layers, info.vocabulary_rows) == (2, 2, None)
    assert info.has_own_output is False


@pytest.mark.parametrize("prefix", ["", "medusa_head."])
def test_medusa_heads_are_found_in_a_file_of_a_models_name(tmp_path, prefix):
    write_medusa(tmp_path, prefix=prefix, name="model.safetensors")
    assert described(tmp_path, "medusa").heads == 3


def test_of_two_medusa_files_the_safetensors_are_loaded(tmp_path):
    write_medusa(tmp_path, heads=5)
    info = described(write_medusa(tmp_path, pickled=True), "medusa")
    assert (info.files, info.heads) == (("medusa_lm_head.safetensors",), 5)


def test_a_medusa_head_without_a_part_is_refused(tmp_path):
    file = write_medusa(tmp_path) / "medusa_lm_head.safetensors"
    tensors = load_file(file)
    del tensors["1.0.linear.weight"]
    save_file(tensors, file)
    problem = refusal(tmp_path, "medusa")
    assert problem.what == (
        "the weights hold no part of Medusa head 1: no tensor 1.0.linear.weight"
    )


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("0.0.linear.weight", ()),
        ("1.0.linear.weight", (HIDDEN, HIDDEN + 1)),
        ("2.0.linear.bias", (HIDDEN + 1,)),
        ("1.1.weight", (ROWS + 1, HIDDEN)),
    ],
)
def test_medusa_heads_that_are_not_alike_are_refused(tmp_path, name, shape):
    path = write_medusa(tmp_path) / "medusa_lm_head.safetensors"
    save_file(load_file(path) | {name: np.zeros(shape, np.float16)}, path)
    problem = refusal(tmp_path, "medusa")
    assert (problem.what, problem.where) == (
        f"the tensor {name} is {list(shape)}",
        str(tmp_path),
    )
    assert problem.allowed.endswith("as the other tensors have it")


def test_a_medusa_head_without_its_bias_is_refused(tmp_path):
    path = write_medusa(tmp_path) / "medusa_lm_head.safetensors"
    kept = load_file(path)
    del kept["1.0.linear.bias"]
    save_file(kept, path)
    assert "no tensor 1.0.linear.bias" in refusal(tmp_path, "medusa").what


def test_a_table_of_another_vocabulary_than_the_configurations_is_refused(tmp_path):
    problem = refusal(write_eagle3(tmp_path, vocab_size=10**12), "eagle3")
    assert problem.what == f"vocab_size is {10**12}, and t2d is [{ROWS}]"
    assert problem.where == str(tmp_path / "config.json")


@pytest.mark.parametrize("bias", [True, False])
def test_an_eagle_drafter_is_described_with_and_without_bias(tmp_path, bias):
    info = described(write_eagle(tmp_path, bias=bias, layers=2), "eagle")
    assert (info.layers, info.hidden_size, info.has_fc_bias) == (2, HIDDEN, bias)
    assert info.has_own_embedding is True


def test_an_eagle_drafter_of_another_width_than_it_says_is_refused(tmp_path):
    problem = refusal(write_eagle(tmp_path, hidden_size=HIDDEN + 1), "eagle")
    assert problem.what == f"hidden_size is {HIDDEN + 1}, and fc.weight is [8, 16]"
    assert problem.allowed == "fc.weight of 9 rows and 18 columns"


def test_a_speculators_head_is_described(tmp_path):
    head = as_speculators(write_eagle3(tmp_path, prefix="layers.", **{IDS: [2, 4, 6]}))
    info = described(head, "eagle3")
    assert (info.layers, info.width, info.captured_states) == (1, HIDDEN, 3)
    assert (info.vocabulary_rows, info.target_vocabulary) == (ROWS // 2, ROWS)
    # it counts layers by their inputs, everything else by their outputs
    assert info.target_layers == (1, 3, 5)


def test_sizes_that_speculators_leaves_out_are_those_of_the_tensors(tmp_path):
    head = as_speculators(
        write_eagle3(tmp_path, prefix="layers."),
        left_out=("hidden_size", "vocab_size", "num_hidden_layers"),
    )
    info = described(head, "eagle3")
    assert (info.width, info.target_vocabulary, info.layers) == (HIDDEN, ROWS, 1)


def test_how_many_states_a_narrower_head_fuses_is_left_to_its_target(tmp_path):
    write_eagle3(tmp_path, target=12, embedding=True)
    info = described(tmp_path, "eagle3")
    assert (info.width, info.fused_values) == (HIDDEN, 36)
    assert (info.hidden_size, info.captured_states) == (None, None)


@pytest.mark.parametrize("config", [{"target_hidden_size": 12}, {IDS: [1, 2, 3]}])
def test_a_narrower_head_that_says_so_reads_the_targets_width(tmp_path, config):
    write_eagle3(tmp_path, target=12, embedding=True, **config)
    info = described(tmp_path, "eagle3")
    assert (info.hidden_size, info.captured_states) == (12, 3)
    assert info.fused_values is None


@pytest.mark.parametrize("prefix", ["model.midlayer.", "model.layers.", "layers."])
def test_a_head_is_described_under_each_name_of_its_layers(tmp_path, prefix):
    head = write_eagle3(tmp_path, prefix=prefix, layers=2)
    assert described(head, "eagle3").layers == 2


@pytest.mark.parametrize("prefix", ["layers.", "model.layers."])
def test_a_dflash_drafter_is_described(tmp_path, prefix):
    info = described(write_dflash(tmp_path, prefix=prefix), "dflash")
    assert (info.layers, info.captured_states, info.block_size) == (2, 3, 16)


@pytest.mark.parametrize("prefix", ["lm_head", "lm_heads", "0"])
def test_a_redrafter_head_is_described_under_each_of_its_names(tmp_path, prefix):
    info = described(write_redrafter(tmp_path, prefix=prefix), "redrafter")
    assert (info.head_layers, info.hidden_size, info.vocabulary_rows) == (2, 8, ROWS)


def test_a_redrafter_head_needs_no_sizes_that_its_tensors_tell(tmp_path):
    head = write_redrafter(tmp_path, exit_dim=None, num_draft_layers=None)
    assert described(head, "redrafter").head_layers == 2


@pytest.mark.parametrize("layout", ["deepseek", "qwen", "mimo"])
def test_next_token_heads_are_counted_in_each_layout(tmp_path, layout):
    info = described(write_mtp(tmp_path / "one", layout=layout), "mtp")
    assert (info.heads, info.hidden_size) == (1, HIDDEN)
    assert described(write_mtp(tmp_path, layout=layout, heads=3), "mtp").heads == 3


@pytest.mark.parametrize("wanted", DRAFTERS)
@pytest.mark.parametrize("kind", WRITERS)
def test_another_kind_is_named_with_the_method_to_write(tmp_path, kind, wanted):
    directory = WRITERS[kind](tmp_path)
    if kind == wanted:
        assert described(directory, wanted).kind == kind
        return
    method = "draft_target" if kind == "model" else kind
    assert f"write method: {method}, or give " in refusal(directory, wanted).action


@pytest.mark.parametrize("kind", DRAFTERS)
def test_a_drafter_given_as_a_model_is_named_too(tmp_path, kind):
    with pytest.raises(UsageError) as caught:
        describe(WRITERS[kind](tmp_path))
    (problem,) = caught.value.problems
    assert problem.allowed == "a causal language model of its own"
    assert problem.action.startswith("give here the model that it was trained for, ")
    assert problem.action.endswith(f"with method: {kind}")


def test_a_head_is_told_by_the_class_that_its_configuration_names(tmp_path):
    head = write_eagle3(tmp_path, architectures=["LlamaForCausalLMEagle3"])
    with pytest.raises(UsageError, match="is an EAGLE-3 head"):
        describe(head)


@pytest.mark.parametrize(
    ("algorithm", "wanted", "action"),
    [
        ("dflash", "eagle3", "choose another drafter, or this one in the layout"),
        ("peagle", "eagle3", "choose another drafter, or this one in the layout"),
        ("eagle3", "medusa", "write method: eagle3"),
        ("dflash", "dflash", "choose another drafter, or this one in the layout"),
    ],
)
def test_speculators_checkpoints_of_other_algorithms_are_refused(
    tmp_path, algorithm, wanted, action
):
    write_eagle3(tmp_path, prefix="layers.")
    problem = refusal(as_speculators(tmp_path, algorithm), wanted)
    assert f"speculators_model_type: {algorithm}" in problem.what
    assert problem.action.startswith(action)


@pytest.mark.parametrize("kind", DRAFTERS)
def test_a_truncated_file_is_refused_with_both_sizes(tmp_path, kind):
    directory = WRITERS[kind](tmp_path)
    (file,) = directory.glob("*.safetensors")
    file.write_bytes(file.read_bytes()[:-10])
    problem = refusal(directory, kind)
    assert problem.where == str(directory)
    assert problem.what.startswith(f"{file.name} is truncated")


def test_pickled_weights_stay_unopened(tmp_path):
    for kind in ("medusa", "eagle", "eagle3", "dflash", "redrafter"):
        info = described(WRITERS[kind](tmp_path / kind, pickled=True), kind)
        assert (info.format, info.is_counted) == ("torch", False)


def test_a_pickled_medusa_checkpoint_is_told_by_its_configuration(tmp_path):
    write_medusa(tmp_path, pickled=True)
    assert refusal(tmp_path, "eagle3").action.startswith("write method: medusa")


def test_context_and_quantization_are_those_of_the_configuration(tmp_path):
    head = write_eagle3(
        tmp_path,
        max_position_embeddings=2048,
        quantization_config={"quant_method": "fp8"},
    )
    info = described(head, "eagle3")
    assert (info.context_length, info.quantization) == (2048, "fp8")


def test_a_speculators_head_that_reads_embeddings_is_refused(tmp_path):
    head = write_eagle3(tmp_path, prefix="layers.", **{IDS: [0, 4, 6]})
    problem = refusal(as_speculators(head), "eagle3")
    assert problem.what.startswith(f"{IDS} is [0, 4, 6]: the head reads the input")


def test_a_head_that_projects_before_its_attention_is_refused(tmp_path):
    file = write_eagle3(tmp_path) / "model.safetensors"
    tensors = load_file(file)
    save_file({**tensors, "eh_proj.weight": tensors["fc.weight"]}, file)
    assert "eh_proj.weight" in refusal(tmp_path, "eagle3").what


def test_a_dflash_drafter_with_windows_is_refused(tmp_path):
    types = ["full_attention", "sliding_attention"]
    problem = refusal(write_dflash(tmp_path, layer_types=types), "dflash")
    assert problem.what == "layer_types has sliding_attention"
    assert problem.where == str(tmp_path / "config.json")
