"""A checkpoint's kind is told by its tensors, and what is wrong with it is told too."""

import json

import pytest

from tests.models.drafters import (
    as_speculators,
    write_dflash,
    write_eagle,
    write_eagle3,
    write_medusa,
    write_mtp,
    write_redrafter,
)
from tests.models.heads import (
    eagle3_config,
    eagle3_tensors,
    eagle_tensors,
    medusa_tensors,
    write_target,
)
from tests.models.large import write_headers
from tests.models.tiny import (
    CONTEXT,
    HIDDEN,
    PARAMETERS,
    ROWS,
    write_checkpoint,
    write_gguf,
    write_pickled,
    write_sharded,
)
from trtspec.errors import UsageError
from trtspec.models.inspection import inspect

KINDS = {
    "model": write_checkpoint,
    "medusa": write_medusa,
    "eagle": write_eagle,
    "eagle3": write_eagle3,
    "dflash": write_dflash,
    "redrafter": write_redrafter,
    "mtp": write_mtp,
}


def facts(found):
    return {fact.key: fact.value for fact in found.facts}


def said(found):
    return {fact.key: fact.text for fact in found.facts}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_told_and_nothing_is_wrong_with_it(tmp_path, kind):
    found = inspect(KINDS[kind](tmp_path))
    assert (found.kind, found.problems) == (kind, ())
    assert found.told_by


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "model"])
def test_the_name_of_another_kind_changes_nothing(tmp_path, kind):
    directory = KINDS[kind](tmp_path)
    path = directory / "config.json"
    other = "LlamaForCausalLMEagle3" if kind != "eagle3" else "LlamaForCausalLM"
    config = {**json.loads(path.read_text()), "architectures": [other]}
    path.write_text(json.dumps(config))
    assert inspect(directory).kind == kind


def test_a_model_is_told_with_its_sizes(tmp_path):
    found = inspect(write_checkpoint(tmp_path))
    known = facts(found)
    assert known["parameters"] == PARAMETERS
    assert known["bytes"] == 4 * PARAMETERS
    assert known["hidden_size"] == HIDDEN
    assert known["vocabulary"] == {
        "rows": ROWS,
        "entries": ROWS,
        "highest_id": ROWS - 1,
    }
    assert known["context"]["tokens"] == CONTEXT
    assert known["kv_bytes_per_token"] == {"bfloat16": 32, "fp8": 16}
    assert known["weights"]["complete"] is True
    assert known["chat_template"] is None


def test_padding_rows_are_called_padding(tmp_path):
    text = said(inspect(write_checkpoint(tmp_path, tokens=("a", "b"))))["vocabulary"]
    assert f"{ROWS} rows, 2 tokenizer entries ({ROWS - 2} rows of padding)" in text


@pytest.mark.parametrize("name", ["tokenizer_config.json", "chat_template.jinja"])
def test_the_chat_template_is_found_where_it_is(tmp_path, name):
    directory = write_checkpoint(tmp_path)
    text = '{"chat_template": "{{ messages }}"}' if name.endswith("json") else "{{ a }}"
    (directory / name).write_text(text)
    assert facts(inspect(directory))["chat_template"] == name


def test_a_gguf_is_told(tmp_path):
    found = inspect(write_gguf(tmp_path, quantized=True))
    assert (found.kind, found.problems) == ("model", ())
    assert "GGUF" in found.title
    assert facts(found)["weights"]["format"] == "gguf"


def test_several_gguf_files_are_a_problem_and_no_traceback(tmp_path):
    write_gguf(tmp_path, name="a.gguf")
    found = inspect(write_gguf(tmp_path, name="b.gguf"))
    assert "holds 2 GGUF files" in found.problems[0].what


def test_pickled_weights_are_told_without_being_opened(tmp_path):
    found = inspect(write_pickled(tmp_path))
    assert (found.kind, found.problems) == ("model", ())
    assert "never opened" in said(found)["weights"]


def test_a_missing_shard_is_named_and_the_rest_is_still_told(tmp_path):
    directory = write_sharded(tmp_path, shards=3)
    (directory / "model-00002-of-00003.safetensors").unlink()
    found = inspect(directory)
    weights = facts(found)["weights"]
    assert weights["missing_files"] == ["model-00002-of-00003.safetensors"]
    assert weights["complete"] is False
    assert weights["missing_tensors"]
    assert facts(found)["hidden_size"] == HIDDEN
    assert found.kind == "model"
    assert [p.what for p in found.problems] == [
        "1 of 3 weight files are missing: model-00002-of-00003.safetensors"
    ]


def test_a_shard_without_its_tensor_is_named(tmp_path):
    directory = write_sharded(tmp_path)
    index = directory / "model.safetensors.index.json"
    whole = json.loads(index.read_text())
    whole["weight_map"]["model.layers.9.odd"] = "model-00001-of-00002.safetensors"
    index.write_text(json.dumps(whole))
    found = inspect(directory)
    assert facts(found)["weights"]["missing_tensors"] == ["model.layers.9.odd"]
    assert "first model.layers.9.odd" in found.problems[0].what


def test_shards_without_an_index_are_counted_by_their_numbers(tmp_path):
    directory = write_sharded(tmp_path, shards=3)
    (directory / "model.safetensors.index.json").unlink()
    (directory / "model-00003-of-00003.safetensors").unlink()
    found = inspect(directory)
    assert facts(found)["weights"]["missing_files"] == [
        "model-00003-of-00003.safetensors"
    ]


def test_a_truncated_file_is_told_with_what_the_configuration_says(tmp_path):
    (file,) = write_checkpoint(tmp_path).glob("*.safetensors")
    file.write_bytes(file.read_bytes()[:-10])
    found = inspect(tmp_path)
    (problem,) = found.problems
    assert "is truncated" in problem.what
    assert problem.action == "fetch this file again"
    assert facts(found)["hidden_size"] == HIDDEN


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"a": NaN'])
def test_a_damaged_configuration_is_a_problem(tmp_path, text):
    directory = write_checkpoint(tmp_path)
    (directory / "config.json").write_text(text)
    found = inspect(directory)
    assert found.problems
    assert facts(found)["weights"]["tensors"] > 0


def test_what_nobody_knows_is_said_to_be_unknown(tmp_path):
    config = {"architectures": ["ViTModel"], "model_type": "vit"}
    found = inspect(write_headers(tmp_path, config, {"vit.weight": (4, 4)}))
    assert (found.kind, found.title) == (None, "unknown")
    assert "no checkpoint of a known kind" in found.problems[0].what
    assert "an EAGLE-3 head" in found.problems[0].allowed


def test_an_empty_directory_is_a_problem(tmp_path):
    found = inspect(tmp_path)
    assert found.kind is None
    assert "config.json is missing" in found.problems[0].what


def test_a_file_is_no_directory(tmp_path):
    with pytest.raises(UsageError, match="is not a directory"):
        inspect(tmp_path / "nothing")


def test_a_pickled_head_is_told_by_its_file(tmp_path):
    directory = write_medusa(tmp_path, pickled=True, medusa_num_heads=None)
    (directory / "config.json").write_text("{}")
    found = inspect(directory)
    assert (found.kind, found.told_by) == ("medusa", "it holds medusa_lm_head.pt")


def test_the_speculators_layout_is_said(tmp_path):
    directory = as_speculators(write_eagle3(tmp_path, prefix="layers."))
    found = inspect(directory)
    assert (found.kind, found.problems) == ("eagle3", ())
    assert "speculators layout" in found.title


@pytest.mark.parametrize("key", ["pard_token", "mask_token_id"])
def test_a_draft_model_for_parallel_drafting_is_told(tmp_path, key):
    found = inspect(write_checkpoint(tmp_path, **{key: 3}))
    assert found.kind == "model"
    assert ("PARD" if key == "pard_token" else "mask token") in found.title


def test_heads_inside_a_model_are_told(tmp_path):
    directory = write_target(tmp_path)
    inside = medusa_tensors(3, rows=128256, prefix="medusa_head.")
    names = {"model.layers.0.input_layernorm.weight": (4096,), **inside}
    config = json.loads((directory / "config.json").read_text())
    found = inspect(write_headers(tmp_path, config, names))
    assert found.title == "causal language model with Medusa heads inside"


def test_case_4_an_eagle3_head_is_told_from_three_sizes(tmp_path):
    tensors = {
        "fc.weight": (4096, 12288),
        "d2t": ("I64", (32000,)),
        "lm_head.weight": (32000, 4096),
    }
    config = eagle3_config(draft_vocab_size=32000)
    assert inspect(write_headers(tmp_path, config, tensors)).kind == "eagle3"


def test_case_4_fusion_of_two_hidden_sizes_is_no_eagle3_head(tmp_path):
    found = inspect(write_headers(tmp_path, eagle3_config(), eagle_tensors()))
    assert found.kind == "eagle"
    assert found.told_by == (
        "fc.weight is [4096, 8192], from one embedding and one hidden state"
    )
    # a configuration that claims the other kind does not change what the tensors are
    config = eagle3_config(draft_vocab_size=32000, architectures=["Eagle3Llama"])
    assert inspect(write_headers(tmp_path, config, eagle_tensors())).kind == "eagle"


@pytest.mark.parametrize("states", [1, 2, 3, 5])
def test_an_eagle3_head_is_told_whatever_number_of_states_it_fuses(tmp_path, states):
    ids = list(range(1, states + 1))
    config = eagle3_config(eagle_aux_hidden_state_layer_ids=ids)
    tensors = eagle3_tensors(states=states, table=False, drafted=128256)
    if states == 1:
        del tensors["fc.weight"]
    found = inspect(write_headers(tmp_path, config, tensors))
    assert (found.kind, found.problems) == ("eagle3", ())
    assert facts(found)["captured_states"]["count"] == states
