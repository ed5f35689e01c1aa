"""What each family drafts at each batch size."""

import pytest
from packaging.version import Version

from tests.standins.llm.classes import make_classes
from tests.standins.llm.draft_length import DraftLengths, Gate
from trtspec.trtllm.facts import families

NGRAM = {"decoding_type": "NGram", "max_draft_len": 3, "max_matching_ngram_size": 2}


def lengths(version, most=64, **config):
    made = make_classes(Version(version), lambda *_, **__: None)
    family = families.family_of(Version(version))
    args = made["TorchLlmArgs"](model="target", speculative_config=config)
    return DraftLengths(args.speculative_config, family, most)


def intended(batch):
    return 4 if batch <= 8 else 2 if batch <= 32 else 0


@pytest.mark.parametrize("batch", range(1, 65))
def test_both_spellings_of_one_intent_draft_the_same(batch):
    model = {"max_draft_len": 4, "speculative_model": "draft"}
    lower = {"draft_len_schedule": {1: 4, 9: 2, 33: 0}}
    upper = {"draft_len_schedule": {8: 4, 32: 2}}
    old = lengths("1.2.1", decoding_type="DraftTarget", **model, **lower)
    new = lengths("1.4.0rc4", decoding_type="Draft_Target", **model, **upper)
    assert old.at(batch) == new.at(batch) == intended(batch)


def test_lower_bounds_mean_something_else_on_main():
    model = {"max_draft_len": 4, "speculative_model": "draft"}
    schedule = {"draft_len_schedule": {1: 4, 9: 2, 33: 0}}
    new = lengths("1.4.0rc4", decoding_type="Eagle3", **model, **schedule)
    assert [new.at(batch) for batch in (1, 2, 9, 10, 34)] == [4, 2, 2, 0, 0]


def test_a_schedule_says_nothing_to_a_one_model_engine_of_1_2():
    model = {"max_draft_len": 4, "speculative_model": "draft"}
    schedule = {"draft_len_schedule": {1: 4, 2: 0}}
    one = lengths("1.2.1", decoding_type="Eagle", **model, **schedule)
    two = {"eagle3_one_model": False, **model, **schedule}
    assert one.at(5) == 4
    assert lengths("1.2.1", decoding_type="Eagle", **two).at(5) == 0


@pytest.mark.parametrize("version", ["1.1.0", "1.2.1", "1.3.0rc22", "1.4.0rc4"])
def test_above_max_concurrency_nothing_is_drafted(version):
    held = lengths(version, **NGRAM, max_concurrency=4)
    assert [held.at(batch) for batch in (1, 4, 5)] == [3, 3, 0]


def test_auto_goes_by_the_batch_in_1_0_and_by_its_limit_afterwards():
    batches = (1, 4, 5, 32, 33)
    old = lengths("1.0.0", most=64, decoding_type="AUTO")
    assert [old.at(batch) for batch in batches] == [5, 5, 3, 3, 0]
    new = lengths("1.2.1", most=4, decoding_type="AUTO")
    assert [new.at(batch) for batch in batches] == [5, 5, 5, 5, 0]


def test_mtp_takes_its_length_from_the_key_of_the_family():
    both = {"decoding_type": "MTP", "num_nextn_predict_layers": 3}
    assert lengths("1.2.1", **both, max_draft_len=2).at(1) == 3
    assert lengths("1.4.0rc4", **both, max_draft_len=2).at(1) == 2
    assert lengths("1.4.0rc4", **both).at(1) == 3


def test_a_gate_closes_for_good_once_its_window_is_full_and_low():
    gate = Gate(window=2, threshold=1.0, per_iteration=False)
    closed = []
    for accepted in (0.5, 3.0, 0.0, 0.5, 9.0):
        gate.add(accepted)
        closed.append(gate.closed)
    assert closed == [False, False, False, True, True]


def test_the_gates_keys_open_a_gate_in_their_own_family_only():
    keys = {"acceptance_window": 2, "acceptance_length_threshold": 1.0}
    assert lengths("1.2.1", **NGRAM, **keys).gate == Gate(2, 1.0, False)
    keys = {"acceptance_rate_window_size": 3, "acceptance_rate_threshold": 0.2}
    assert lengths("1.4.0rc4", **NGRAM, **keys).gate == Gate(3, 0.2, True)
