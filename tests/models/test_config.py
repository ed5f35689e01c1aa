"""A model's shape is found under every family's names, or refused by name."""

import json

import pytest

from tests.models.tiny import CONFIG, write_config
from trtspec.errors import UsageError
from trtspec.models.config import OUTPUT_WEIGHT, read_config, shape_of


def shape(directory, tensors=(), **changes):
    write_config(directory, **changes)
    return shape_of(directory, read_config(directory), tensors)


def refusal(directory, **changes):
    with pytest.raises(UsageError) as caught:
        shape(directory, **changes)
    problem = caught.value.problems[0]
    assert problem.where == str(directory / "config.json")
    return problem


def test_a_llama_configuration_is_read_as_it_is_written(tmp_path):
    found = shape(tmp_path)
    assert found.family == "llama"
    assert found.architecture == "LlamaForCausalLM"
    assert (found.layers, found.heads, found.kv_heads) == (2, 2, 1)
    assert (found.hidden_size, found.head_size, found.intermediate_size) == (8, 4, 12)
    assert (found.vocabulary_rows, found.context_length) == (16, 64)
    assert found.tied_embeddings
    assert found.sliding_window is None
    assert found.layer_types == ()
    assert found.quantization == "none"


def test_rotary_encoding_is_read(tmp_path):
    scaling = {"rope_type": "llama3", "factor": 8.0}
    found = shape(tmp_path, rope_theta=500000.0, rope_scaling=scaling)
    assert (found.rope_theta, found.rope_scaling) == (500000.0, "llama3")
    plain = shape(tmp_path)
    assert plain.rope_theta is plain.rope_scaling is None


def test_gpt2_names_are_understood(tmp_path):
    config = {
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        "n_layer": 12,
        "n_head": 12,
        "n_embd": 768,
        "n_inner": None,
        "n_positions": 1024,
        "vocab_size": 50257,
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    found = shape_of(tmp_path, read_config(tmp_path), ())
    assert (found.layers, found.heads, found.kv_heads, found.head_size) == (
        12,
        12,
        12,
        64,
    )
    assert (found.context_length, found.vocabulary_rows) == (1024, 50257)
    assert found.intermediate_size is None


def test_falcon_shares_one_head_without_naming_the_number(tmp_path):
    changes = {"num_key_value_heads": None, "multi_query": True}
    assert shape(tmp_path, **changes).kv_heads == 1
    newer = {"new_decoder_architecture": True, "num_kv_heads": 2}
    assert shape(tmp_path, **changes, **newer).kv_heads == 2


def test_the_text_part_of_a_multimodal_model_counts(tmp_path):
    found = shape(
        tmp_path,
        architectures=["Gemma3ForConditionalGeneration"],
        model_type="gemma3",
        num_hidden_layers=None,
        text_config={"model_type": "gemma3_text", "num_hidden_layers": 26},
    )
    assert found.family == "gemma3_text"
    assert found.layers == 26
    assert found.heads == CONFIG["num_attention_heads"]


def test_the_head_size_may_differ_from_hidden_size_by_heads(tmp_path):
    assert shape(tmp_path, head_dim=128).head_size == 128
    assert shape(tmp_path, head_dim=None).head_size == 4


def test_a_hidden_size_that_heads_do_not_divide_is_refused(tmp_path):
    problem = refusal(tmp_path, hidden_size=9)
    assert problem.what == "hidden_size 9 is no multiple of 2 attention heads"


def test_without_a_number_of_kv_heads_every_head_has_its_own(tmp_path):
    assert shape(tmp_path, num_key_value_heads=None).kv_heads == 2


def test_a_model_without_a_limit_has_no_context_length(tmp_path):
    assert shape(tmp_path, max_position_embeddings=None).context_length is None


@pytest.mark.parametrize(
    "key", ["num_hidden_layers", "num_attention_heads", "hidden_size", "vocab_size"]
)
def test_a_missing_key_is_named_with_the_names_that_would_do(tmp_path, key):
    problem = refusal(tmp_path, **{key: None})
    assert problem.what == f"has no {key}"
    assert key in problem.allowed
    assert problem.action


@pytest.mark.parametrize("value", [0, -2, 2.0, "2", True, [2, 2], {"a": 1}])
def test_a_value_that_is_no_whole_number_above_0_is_refused(tmp_path, value):
    problem = refusal(tmp_path, num_hidden_layers=value)
    assert problem.what == f"num_hidden_layers is {value!r}"


@pytest.mark.parametrize(
    "architecture",
    ["BertModel", "BertForMaskedLM", "LlamaModel", "T5ForConditionalGeneration"],
)
def test_a_model_that_is_not_causal_is_refused_by_its_name(tmp_path, architecture):
    problem = refusal(tmp_path, architectures=[architecture])
    assert problem.what == f"{architecture} is not a causal language model"
    assert "ForCausalLM" in problem.allowed


def test_an_encoder_decoder_is_refused_whatever_its_name(tmp_path):
    problem = refusal(
        tmp_path, architectures=["BartForCausalLM"], is_encoder_decoder=True
    )
    assert "not a causal language model" in problem.what


def test_a_configuration_without_architectures_goes_by_its_family(tmp_path):
    # transformers needs only model_type, and config.save_pretrained writes no more
    assert shape(tmp_path, architectures=None).architecture == "llama"


def test_a_sliding_window_counts_only_where_it_is_used(tmp_path):
    assert shape(tmp_path, sliding_window=32).sliding_window == 32
    unused = {"sliding_window": 32, "use_sliding_window": False}
    assert shape(tmp_path, **unused).sliding_window is None


def test_layer_types_are_kept(tmp_path):
    types = ["full_attention", "linear_attention"]
    assert shape(tmp_path, layer_types=types).layer_types == tuple(types)


def test_embeddings_are_tied_as_the_configuration_says(tmp_path):
    assert shape(tmp_path, tie_word_embeddings=True).tied_embeddings
    assert not shape(tmp_path, tie_word_embeddings=False).tied_embeddings


def test_without_a_word_embeddings_are_tied_if_no_output_weight_is_stored(tmp_path):
    unsaid = {"tie_word_embeddings": None}
    assert shape(tmp_path, **unsaid).tied_embeddings
    assert not shape(tmp_path, tensors=[OUTPUT_WEIGHT], **unsaid).tied_embeddings


def test_the_quantization_method_is_named(tmp_path):
    quantized = {"quantization_config": {"quant_method": "GPTQ", "bits": 4}}
    assert shape(tmp_path, **quantized).quantization == "gptq"
    assert shape(tmp_path, quantization_config={}).quantization == "unnamed"


def test_modelopt_names_the_quantization_in_a_file_of_its_own(tmp_path):
    other = tmp_path / "hf_quant_config.json"
    other.write_text('{"quantization": {"quant_algo": "FP8"}}')
    assert shape(tmp_path).quantization == "fp8"
    other.write_text('{"quantization": {"quant_algo": null}}')
    assert shape(tmp_path).quantization == "none"


@pytest.mark.parametrize("family", ["mamba", "mamba2", "falcon_mamba", "rwkv", "xlstm"])
def test_a_family_without_attention_needs_no_heads(tmp_path, family):
    unsaid = {"num_attention_heads": None, "num_key_value_heads": None}
    found = shape(tmp_path, model_type=family, **unsaid)
    assert found.family == family
    assert (found.heads, found.kv_heads, found.head_size) == (0, 0, 0)
    assert found.kv_bytes_per_token("float32") == 0


@pytest.mark.parametrize("family", ["bert", "roberta", "distilbert", "electra"])
def test_an_encoder_without_architectures_is_refused_by_its_family(tmp_path, family):
    problem = refusal(tmp_path, model_type=family, architectures=None)
    assert problem.what == f"{family} is not a causal language model"


@pytest.mark.parametrize(
    ("family", "architecture"),
    [("bert", "BertLMHeadModel"), ("roberta", "RobertaForCausalLM")],
)
def test_an_encoder_with_a_head_for_text_stays_allowed(tmp_path, family, architecture):
    found = shape(tmp_path, model_type=family, architectures=[architecture])
    assert found.architecture == architecture


def test_alibi_is_told(tmp_path):
    assert shape(tmp_path, alibi=True).alibi
    assert not shape(tmp_path).alibi


def test_code_of_the_checkpoints_own_is_told_with_the_type(tmp_path):
    code = {"auto_map": {"AutoModelForCausalLM": "modeling_own.OwnForCausalLM"}}
    assert shape(tmp_path).own_code is None
    assert shape(tmp_path, auto_map={"AutoTokenizer": ["a", "b"]}).own_code is None
    assert shape(tmp_path, **code).own_code == "llama"
    assert shape(tmp_path, model_type=None, **code).own_code == ""
