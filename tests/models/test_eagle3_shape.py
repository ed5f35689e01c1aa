"""EAGLE-3 heads are described in every public layout; parts that do not fit are not."""

import json

import pytest

from tests.models.drafters import (
    EAGLE3_CONFIG,
    NOT_A_PICKLE,
    write_dflash,
    write_eagle,
    write_eagle3,
)
from tests.models.tiny import HIDDEN, ROWS, write_checkpoint
from trtspec.errors import UsageError
from trtspec.models.describe import describe
from trtspec.models.drafter import describe_drafter

DRAFTED = ROWS // 2
IDS = "eagle_aux_hidden_state_layer_ids"


def refusal(directory, kind="eagle3"):
    with pytest.raises(UsageError) as caught:
        describe_drafter(directory, kind)
    return caught.value.problems[0]


@pytest.mark.parametrize("prefix", ["midlayer.", "layers.", "model.layers."])
def test_a_head_with_a_reduced_vocabulary_is_described(tmp_path, prefix):
    info = describe_drafter(write_eagle3(tmp_path, prefix=prefix), "eagle3")
    assert (info.layers, info.layer_prefix) == (1, prefix)
    assert (info.hidden_size, info.width, info.captured_states) == (HIDDEN, HIDDEN, 3)
    assert (info.vocabulary_rows, info.target_vocabulary) == (DRAFTED, ROWS)
    assert (info.has_own_embedding, info.has_own_output) == (False, True)
    assert (info.kind, info.family, info.target_layers) == ("eagle3", "llama", None)


def test_a_head_with_the_targets_vocabulary_may_share_its_output(tmp_path):
    head = write_eagle3(
        tmp_path, drafted=ROWS, table=False, output=False, draft_vocab_size=None
    )
    info = describe_drafter(head, "eagle3")
    assert (info.vocabulary_rows, info.target_vocabulary) == (ROWS, ROWS)
    assert info.has_own_output is False


def test_a_head_of_several_layers_counts_them(tmp_path):
    head = write_eagle3(tmp_path, layers=2, prefix="midlayer.")
    assert describe_drafter(head, "eagle3").layers == 2


@pytest.mark.parametrize("config", [{"target_hidden_size": 12}, {IDS: [1, 2, 3]}, {}])
def test_a_head_narrower_than_its_target_reads_the_targets_width(tmp_path, config):
    head = write_eagle3(tmp_path, target=12, embedding=True, **config)
    info = describe_drafter(head, "eagle3")
    assert (info.hidden_size, info.width, info.captured_states) == (12, HIDDEN, 3)
    assert info.has_own_embedding is True


@pytest.mark.parametrize("inner", [True, False])
def test_captured_layers_are_those_of_the_configuration(tmp_path, inner):
    named = {IDS: [2, 16, 29, 30]}
    config = {"eagle_config": named} if inner else named
    info = describe_drafter(write_eagle3(tmp_path, captured=4, **config), "eagle3")
    assert (info.target_layers, info.captured_states) == ((2, 16, 29, 30), 4)


def test_a_head_that_reads_one_state_has_no_projection(tmp_path):
    info = describe_drafter(write_eagle3(tmp_path, captured=1), "eagle3")
    assert (info.captured_states, info.hidden_size) == (1, HIDDEN)


def test_a_head_that_reads_two_states_is_none_of_the_first_kind(tmp_path):
    head = write_eagle3(tmp_path, captured=2, prefix="layers.", table=False,
                        drafted=ROWS, draft_vocab_size=None)  # fmt: skip
    assert describe_drafter(head, "eagle3").captured_states == 2


def test_a_pickled_head_is_that_of_the_configuration(tmp_path):
    info = describe_drafter(write_eagle3(tmp_path, pickled=True), "eagle3")
    assert (info.layers, info.hidden_size, info.captured_states) == (1, HIDDEN, 3)
    assert (info.vocabulary_rows, info.target_vocabulary) == (DRAFTED, ROWS)
    assert (info.layer_prefix, info.has_own_output, info.format) == (
        None,
        None,
        "torch",
    )
    assert info.weight_bytes == len(NOT_A_PICKLE)


def test_what_shows_that_it_is_a_head_is_told(tmp_path):
    named = describe_drafter(write_eagle3(tmp_path / "a"), "eagle3")
    assert named.is_told_by == "it holds the tensor d2t"
    pickled = describe_drafter(write_eagle3(tmp_path / "b", pickled=True), "eagle3")
    assert pickled.is_told_by == "config.json has draft_vocab_size"
    first = describe_drafter(write_eagle(tmp_path / "c", pickled=True), "eagle3")
    assert first.is_told_by == ""
    assert describe_drafter(write_dflash(tmp_path / "d"), "dflash").is_told_by is None


@pytest.mark.parametrize("bias", [True, False])
def test_a_drafter_of_the_first_kind_is_refused_by_its_projection(tmp_path, bias):
    problem = refusal(write_eagle(tmp_path, bias=bias))
    assert "is an EAGLE-1 or EAGLE-2 drafter" in problem.what
    assert f"[{HIDDEN}, {2 * HIDDEN}]" in problem.what
    assert "method: eagle" in problem.action


def test_a_dflash_drafter_is_refused_by_its_norm(tmp_path):
    problem = refusal(write_dflash(tmp_path))
    assert "is a DFlash drafter" in problem.what
    assert "method: dflash" in problem.action


def test_a_whole_model_is_refused_by_what_it_lacks(tmp_path):
    assert "no tensor fc.weight" in refusal(write_checkpoint(tmp_path)).what


def test_a_head_in_the_speculators_layout_is_refused(tmp_path):
    write_eagle3(tmp_path)
    config = {
        "architectures": ["Eagle3Speculator"],
        "speculators_model_type": "eagle3",
        "speculators_config": {"algorithm": "eagle3"},
        "draft_vocab_size": DRAFTED,
        "target_hidden_size": None,
        "transformer_layer_config": EAGLE3_CONFIG,
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    problem = refusal(tmp_path)
    assert "speculators library (speculators_model_type: eagle3)" in problem.what
    assert "transformer_layer_config" in problem.allowed
    assert "yuhuili/EAGLE3" in problem.action


@pytest.mark.parametrize(
    ("written", "what"),
    [
        ({"drafted": 6}, f"draft_vocab_size is {DRAFTED}, the length of d2t is 6"),
        ({"table": False}, f"no table from {DRAFTED} to {ROWS} tokens"),
        ({"output": False}, f"no output weight for {DRAFTED} tokens"),
        ({"target": 12}, "no embedding of the head's own width"),
        ({"hidden_size": 6}, f"hidden_size is 6, and fc.weight is [{HIDDEN}, 24]"),
        ({"target_hidden_size": 7}, "fc.weight reads 24 values"),
        ({IDS: [1, 2, 3, 4, 5]}, "which is no 5 hidden states"),
        ({IDS: "2"}, f"{IDS} is '2'"),
        ({"prefix": "blocks.", "table": True}, "no layer"),
        ({"num_hidden_layers": 0}, "num_hidden_layers is 0"),
        ({"hidden_size": None}, "has no hidden_size"),
        ({"draft_vocab_size": -1}, "draft_vocab_size is -1"),
    ],
)
def test_parts_that_do_not_fit_are_refused_with_their_figures(tmp_path, written, what):
    assert what in refusal(write_eagle3(tmp_path, **written)).what


def test_a_head_given_for_another_method_is_refused_by_its_headers(tmp_path):
    head = write_eagle3(tmp_path, draft_vocab_size=None)
    assert "is an EAGLE-3 drafter" in refusal(head, "eagle").what
    with pytest.raises(UsageError) as caught:
        describe(head)
    problem = caught.value.problems[0]
    assert "is an EAGLE-3 head" in problem.what
    assert "method: eagle3" in problem.action


def test_a_pickled_head_given_as_a_model_is_refused_by_its_configuration(tmp_path):
    with pytest.raises(UsageError, match="has draft_vocab_size"):
        describe(write_eagle3(tmp_path, pickled=True))


def test_the_index_of_a_pickled_head_gives_it_away(tmp_path):
    write_eagle(tmp_path, pickled=True)
    shard = "pytorch_model-00001-of-00001.bin"
    (tmp_path / "pytorch_model.bin").rename(tmp_path / shard)
    index = {"weight_map": {"midlayer.norm.weight": shard}}
    (tmp_path / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    assert "tensor midlayer.norm.weight" in refusal(tmp_path, "eagle").what
