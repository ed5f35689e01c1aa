"""Exactly these keys of ``speculative_config`` exist in each version, by hand."""

import pytest
from packaging.version import Version

from trtspec.trtllm import facts

OF_ALL = {
    "1.0.0": "max_draft_len speculative_model_dir",
    "1.1.0": "max_draft_len speculative_model_dir max_concurrency load_format",
    "1.2.1": "max_draft_len speculative_model speculative_model_dir max_concurrency "
    "load_format max_total_draft_tokens draft_len_schedule acceptance_window "
    "acceptance_length_threshold allow_advanced_sampling",
    "1.3.0rc22": "max_draft_len speculative_model speculative_model_dir "
    "max_concurrency load_format max_total_draft_tokens draft_len_schedule "
    "allow_advanced_sampling use_rejection_sampling",
    "1.4.0rc4": "max_draft_len speculative_model speculative_model_dir "
    "max_concurrency load_format max_total_draft_tokens draft_len_schedule "
    "allow_advanced_sampling use_rejection_sampling acceptance_rate_window_size "
    "acceptance_rate_threshold advanced_sampling_mode enable_penalty moe_backend "
    "moe_tactic spec_dec_variant",
}
"""Keys that every class but AUTO has."""

EAGLE_1_0 = (
    "use_dynamic_tree dynamic_tree_max_topK max_non_leaves_per_layer eagle3_one_model "
    "eagle_choices num_eagle_layers greedy_sampling posterior_threshold"
)
EAGLE_1_1 = f"{EAGLE_1_0} eagle3_layers_to_capture"
EAGLE_1_2 = f"{EAGLE_1_1} eagle3_model_arch"
EAGLE_NOW = (
    "use_dynamic_tree dynamic_tree_max_topK max_non_leaves_per_layer "
    "eagle3_layers_to_capture eagle3_model_arch"
)
MTP_1_0 = (
    "num_nextn_predict_layers use_relaxed_acceptance_for_thinking relaxed_topk "
    "relaxed_delta use_mtp_vanilla BEGIN_THINKING_PHASE_TOKEN "
    "END_THINKING_PHASE_TOKEN num_nextn_predict_layers_from_model_config"
)
MTP_1_2 = (
    "num_nextn_predict_layers use_relaxed_acceptance_for_thinking relaxed_topk "
    "relaxed_delta use_mtp_vanilla begin_thinking_phase_token "
    "end_thinking_phase_token mtp_eagle_one_model "
    "num_nextn_predict_layers_from_model_config"
)
MTP_NOW = (
    "num_nextn_predict_layers use_relaxed_acceptance_for_thinking relaxed_topk "
    "relaxed_delta use_mtp_vanilla begin_thinking_phase_token "
    "end_thinking_phase_token use_dynamic_tree dynamic_tree_max_topK sa_config"
)
NGRAM = "max_matching_ngram_size is_keep_all is_use_oldest is_public_pool"
SUFFIX = "max_matching_ngram_size enable_global_pool global_pool_size"
USER = "drafter resource_manager"
SAVE = "output_directory write_interval file_prefix eagle3_layers_to_capture"
DFLASH = "mask_token_id target_layer_ids attention_backend"
DSPARK = (
    "mask_token_id target_layer_ids block_size markov_rank markov_head_type "
    "attention_backend"
)
PARD = "mask_token_id sa_config"

OWN = {
    "1.0.0": {
        "Eagle": EAGLE_1_0,
        "MTP": MTP_1_0,
        "NGram": f"{NGRAM} is_auto_heuristic",
        "DraftTarget": "",
        "UserProvided": USER,
    },
    "1.1.0": {
        "Eagle": EAGLE_1_1,
        "MTP": f"{MTP_1_0} mtp_eagle_one_model",
        "NGram": NGRAM,
        "DraftTarget": "",
        "UserProvided": USER,
    },
    "1.2.1": {
        "Eagle": EAGLE_1_2,
        "MTP": MTP_1_2,
        "NGram": NGRAM,
        "DraftTarget": "",
        "UserProvided": USER,
        "SaveState": SAVE,
    },
    "1.3.0rc22": {
        "Eagle": EAGLE_1_2,
        "Eagle3": f"{EAGLE_1_2} sa_config",
        "MTP": f"{MTP_NOW} mtp_eagle_one_model",
        "NGram": NGRAM,
        "SA": SUFFIX,
        "PARD": PARD,
        "DFlash": DFLASH,
        "DSpark": DSPARK,
        "Draft_Target": "",
        "User_Provided": USER,
        "SaveState": SAVE,
    },
    "1.4.0rc4": {
        "Eagle": EAGLE_NOW,
        "Eagle3": f"{EAGLE_NOW} sa_config",
        "MTP": f"{MTP_NOW} draft_lm_head_dtype draft_moe_dtype",
        "NGram": NGRAM,
        "SA": SUFFIX,
        "PARD": PARD,
        "DFlash": f"{DFLASH} context_recompute_tail skip_ctx_buffer_budget_check",
        "DSpark": f"{DSPARK} enable_confidence_scheduling confidence_cost_table_path "
        "confidence_calibration_path confidence_min_predicted_gain "
        "enable_fused_confidence_scheduler",
        "Draft_Target": "",
        "User_Provided": USER,
        "SaveState": SAVE,
    },
}
"""Keys that a class has beside them, by its ``decoding_type``."""


@pytest.mark.parametrize(
    ("number", "spelled"), [(number, s) for number, own in OWN.items() for s in own]
)
def test_a_class_has_these_keys_and_no_others(number, spelled):
    version = Version(number)
    class_name = facts.class_of(spelled, version)
    assert class_name is not None
    expected = {*OF_ALL[number].split(), *OWN[number][spelled].split()}
    assert set(facts.keys(class_name, version)) == expected


@pytest.mark.parametrize("number", OWN)
def test_no_class_but_automatic_speculation_is_left_out(number):
    version = Version(number)
    spelled = {
        facts.decoding_type(name, version)
        for name in facts.speculation_classes()
        if facts.runs_on_pytorch(name)
    }
    assert spelled - {None, "AUTO"} == set(OWN[number])


def test_the_suffix_automaton_inside_a_drafter_has_two_keys_on_the_newest():
    for number in ("1.3.0rc22", "1.4.0rc4"):
        known = set(facts.keys("SAEnhancerConfig", Version(number)))
        assert known == {"threshold", "enable_global_pool"}
    assert facts.keys("SAEnhancerConfig", Version("1.2.1")) == {}


@pytest.mark.parametrize(
    ("number", "gate"),
    [
        ("1.1.0", set()),
        ("1.2.1", {"acceptance_window", "acceptance_length_threshold"}),
        ("1.3.0rc22", set()),
        ("1.3.0rc23", {"acceptance_rate_window_size", "acceptance_rate_threshold"}),
    ],
)
def test_the_acceptance_gate_goes_by_these_keys(number, gate):
    known = facts.keys("DecodingBaseConfig", Version(number))
    assert {name for name in known if name.startswith("acceptance")} == gate


@pytest.mark.parametrize(
    ("number", "key", "known"),
    [
        ("1.3.0rc26", "enable_penalty", False),
        ("1.3.0rc27", "enable_penalty", True),
        ("1.3.0rc27", "moe_backend", False),
        ("1.3.0rc29", "moe_backend", True),
        ("1.4.0rc1", "moe_tactic", False),
        ("1.3.0rc22", "advanced_sampling_mode", False),
    ],
)
def test_keys_that_came_late(number, key, known):
    assert (key in facts.keys("DecodingBaseConfig", Version(number))) is known
