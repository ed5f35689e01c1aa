"""Every key that changed its name, place or default is written as the target has it."""

from __future__ import annotations

import pytest

from tests.trtllm.migrate.moves import about, eagle3, move, spec_of

MTP = {"decoding_type": "MTP"}
NGRAM = {"decoding_type": "NGram", "max_draft_len": 4}


@pytest.mark.parametrize(
    ("source", "target", "spelled", "wanted"),
    [
        ("1.2", "main", "Eagle", "Eagle3"),
        ("main", "1.0", "Eagle3", "Eagle"),
        ("1.2", "main", "DraftTarget", "Draft_Target"),
        ("main", "1.1", "Draft_Target", "DraftTarget"),
        ("1.1", "main", "UserProvided", "User_Provided"),
        ("main", "1.2", "User_Provided", "UserProvided"),
        ("1.2", "1.2", "draft-target", "DraftTarget"),
        ("main", "main", "eagle_3", "Eagle3"),
        ("main", "main", "SuffixAutomaton", "SA"),
    ],
)
def test_the_type_is_spelled_as_the_target_has_it(source, target, spelled, wanted):
    spec = {"decoding_type": spelled, "max_draft_len": 3}
    if wanted not in ("UserProvided", "User_Provided", "SA"):
        spec["speculative_model"] = "org/model"
    moved = move(spec, source, target)
    assert spec_of(moved)["decoding_type"] == wanted


@pytest.mark.parametrize("spelled", ["Medusa", "Lookahead", "ReDrafter", "Eagle2"])
@pytest.mark.parametrize("target", ["1.1", "main"])
def test_a_method_of_engines_is_blocked_with_an_alternative(spelled, target):
    moved = move({"decoding_type": spelled, "max_draft_len": 3}, "1.2", target)
    (change,) = about(moved, "decoding_type", "blocked")
    assert any(name in change.reason for name in ("Eagle3", "NGram"))
    assert [change.kind for change in moved.changes] == ["blocked"]


@pytest.mark.parametrize(
    ("spelled", "nearest"),
    [
        ("SA", "NGram"),
        ("PARD", "DraftTarget"),
        ("DFlash", "EAGLE-3"),
        ("DSpark", "MTP"),
    ],
)
def test_a_method_of_main_alone_is_blocked_before_it(spelled, nearest):
    moved = move({"decoding_type": spelled, "max_draft_len": 3}, "main", "1.2")
    (change,) = about(moved, "decoding_type", "blocked")
    assert nearest in change.reason


@pytest.mark.parametrize("spec", [{"decoding_type": "Best"}, {"max_draft_len": 3}])
def test_an_unknown_or_missing_type_is_blocked(spec):
    assert about(move(spec, "main", "main"), "decoding_type", "blocked")


@pytest.mark.parametrize("key", ["speculative_model", "speculative_model_dir"])
@pytest.mark.parametrize(
    ("target", "wanted"),
    [
        ("1.0", "speculative_model_dir"),
        ("1.1", "speculative_model_dir"),
        ("1.2", "speculative_model"),
        ("main", "speculative_model"),
    ],
)
def test_the_draft_model_stands_under_one_name(key, target, wanted):
    spec = {"decoding_type": "Eagle", "max_draft_len": 3, key: "org/head"}
    result = spec_of(move(spec, "1.2", target))
    assert [name for name in result if "model" in name] == [wanted]
    assert result[wanted] == "org/head"


def test_two_draft_models_are_blocked_and_twice_the_same_is_not():
    other = eagle3("1.2", speculative_model_dir="org/other")
    assert move(other, "1.2", "main").is_blocked
    twice = eagle3("1.2", speculative_model_dir="org/head")
    assert spec_of(move(twice, "1.2", "main"))["speculative_model"] == "org/head"


def test_a_model_that_mtp_ignored_is_not_loaded_on_main():
    spec = {**MTP, "num_nextn_predict_layers": 2, "speculative_model": "org/heads"}
    assert "speculative_model" not in spec_of(move(spec, "1.2", "main"))


@pytest.mark.parametrize(
    ("source", "target", "given", "wanted"),
    [
        ("1.2", "main", {"num_nextn_predict_layers": 2}, {"max_draft_len": 2}),
        ("main", "1.2", {"max_draft_len": 2}, {"num_nextn_predict_layers": 2}),
        ("main", "main", {"num_nextn_predict_layers": 2}, {"max_draft_len": 2}),
        ("1.2", "main", {}, {"max_draft_len": 1}),
        (
            "1.1",
            "main",
            {"num_nextn_predict_layers": 2, "max_draft_len": 5},
            {"max_draft_len": 2},
        ),
        (
            "main",
            "1.1",
            {"num_nextn_predict_layers": 2, "max_draft_len": 5},
            {"num_nextn_predict_layers": 5},
        ),
        ("1.2", "1.2", {"max_draft_len": 5}, {"num_nextn_predict_layers": 1}),
    ],
)
def test_the_length_that_mtp_went_by_is_kept(source, target, given, wanted):
    result = spec_of(move({**MTP, **given}, source, target))
    lengths = ("num_nextn_predict_layers", "max_draft_len")
    assert {key: result[key] for key in lengths if key in result} == wanted


def test_a_length_that_only_the_checkpoint_knows_is_asked_for():
    (change,) = about(move(MTP, "main", "1.2"), "num_nextn_predict_layers", "blocked")
    assert "add max_draft_len" in change.reason


@pytest.mark.parametrize("source", ["1.0", "main"])
@pytest.mark.parametrize("more", [{}, {"max_matching_ngram_size": 0}])
def test_the_size_of_an_ngram_is_written_out(source, more):
    result = spec_of(move({**NGRAM, **more}, source, "1.2"))
    assert result["max_matching_ngram_size"] == 2


def test_flat_suffix_keys_are_nested_on_main_and_dropped_before():
    spec = {**MTP, "max_draft_len": 2, "use_sa_spec": True, "sa_spec_threshold": 6}
    result = spec_of(move(spec, "main", "main"))
    assert result == {**MTP, "max_draft_len": 2, "sa_config": {"threshold": 6}}
    assert "sa_config" not in spec_of(move(result, "main", "1.2"))


def test_flat_suffix_keys_that_are_off_go():
    spec = {**MTP, "max_draft_len": 2, "use_sa_spec": False, "sa_spec_threshold": 6}
    assert spec_of(move(spec, "main", "main")) == {**MTP, "max_draft_len": 2}


@pytest.mark.parametrize("target", ["1.0", "1.1", "1.2", "main"])
def test_thinking_tokens_are_written_in_the_case_of_the_target(target):
    upper = target in ("1.0", "1.1")
    for source, name in (("1.1", "BEGIN_THINKING_PHASE_TOKEN"),):
        spec = {**MTP, "num_nextn_predict_layers": 1, name: 7}
        wanted = name if upper else name.lower()
        assert spec_of(move(spec, source, target))[wanted] == 7


@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize("source", ["1.1", "1.2", "main"])
def test_main_has_no_choice_between_one_engine_and_two(source, value):
    spec = eagle3(source, eagle3_one_model=value)
    moved = move(spec, source, "main")
    assert "eagle3_one_model" not in spec_of(moved)
    (change,) = about(moved, "eagle3_one_model")
    assert change.kind == ("removed" if value else "warned")


def test_two_engines_stay_two_where_they_can():
    spec = eagle3("1.1", eagle3_one_model=False)
    assert spec_of(move(spec, "1.1", "1.2"))["eagle3_one_model"] is False


def test_a_flag_that_main_ignored_is_not_carried_to_where_it_acts():
    spec = eagle3("main", eagle3_one_model=False)
    result = spec_of(move(spec, "main", "1.2"))
    assert "eagle3_one_model" not in result
    assert result["allow_advanced_sampling"] is True


def test_engine_keys_of_eagle_go_and_the_reader_is_told():
    spec = eagle3("1.2", greedy_sampling=True, posterior_threshold=0.1)
    spec |= {"eagle_choices": [[0]], "num_eagle_layers": 4}
    moved = move(spec, "1.2", "main")
    assert spec_of(moved) == eagle3("main")
    told = [change.reason for change in about(moved, "decoding_type", "warned")]
    assert any("EAGLE-1 or EAGLE-2" in text for text in told)


def test_auto_takes_no_keys():
    spec = {"decoding_type": "AUTO", "max_draft_len": 4}
    assert spec_of(move(spec, "1.1", "main")) == {"decoding_type": "AUTO"}


def test_1_2_wants_the_layers_of_hidden_states_named():
    spec = {"decoding_type": "SaveState", "output_directory": "/data"}
    moved = move(spec, "main", "1.2")
    assert about(moved, "eagle3_layers_to_capture", "blocked")
    named = {**spec, "eagle3_layers_to_capture": [1, 2]}
    assert spec_of(move(named, "main", "1.2")) == named


@pytest.mark.parametrize("target", ["1.1", "1.2"])
def test_two_model_mtp_stays_where_it_runs(target):
    spec = {**MTP, "num_nextn_predict_layers": 3, "mtp_eagle_one_model": False}
    moved = move({**spec, "max_concurrency": 8}, "1.1", target, max_batch_size=64)
    assert spec_of(moved) == {**spec, "max_concurrency": 8}
    told = [change.reason for change in about(moved, "mtp_eagle_one_model", "warned")]
    assert ["does nothing from 1.3 on" in text for text in told] == (
        [True] if target == "1.2" else []
    )
    assert not any("greedily" in change.reason for change in moved.changes)


def test_two_model_mtp_becomes_one_engine_on_main_and_the_reader_is_told():
    spec = {**MTP, "num_nextn_predict_layers": 3, "mtp_eagle_one_model": False}
    moved = move(spec, "1.2", "main")
    assert spec_of(moved) == {**MTP, "max_draft_len": 3}
    (change,) = about(moved, "mtp_eagle_one_model", "warned")
    assert "two engines become one" in change.reason


def test_a_common_name_for_the_section_is_recognised():
    moved = move(None, "main", "main", spec_config=eagle3("main"))
    (change,) = about(moved, "spec_config", "blocked")
    assert "did you mean speculative_config?" in change.reason
