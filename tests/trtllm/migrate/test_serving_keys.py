"""Keys beside speculation: samplers, graphs, cache, wrong types, keys before 1.0."""

from __future__ import annotations

import pytest

from tests.trtllm.migrate.moves import about, eagle3, move
from trtspec.trtllm.migrate.typed import as_type


def moved_values(source, target, **top):
    moved = move(None, source, target, **top)
    assert not moved.is_blocked, moved.changes
    return moved.values


@pytest.mark.parametrize(
    ("source", "target", "given", "wanted"),
    [
        (
            "1.0",
            "1.1",
            {"enable_trtllm_sampler": True},
            {"sampler_type": "TRTLLMSampler"},
        ),
        (
            "1.1",
            "1.0",
            {"sampler_type": "TRTLLMSampler"},
            {"enable_trtllm_sampler": True},
        ),
        ("1.1", "1.2", {"use_torch_sampler": True}, {"sampler_type": "TorchSampler"}),
        ("1.2", "main", {"sampler_type": "auto"}, {}),
        ("1.0", "main", {"enable_trtllm_sampler": True}, {}),
        ("1.0", "1.2", {"enable_mixed_sampler": True}, {}),
        ("1.0", "1.1", {"enable_trtllm_sampler": False}, {}),
    ],
)
def test_the_sampler_is_asked_for_as_the_target_has_it(source, target, given, wanted):
    assert moved_values(source, target, **given) == wanted


def test_a_list_of_graphs_stays_and_the_largest_goes():
    graphs = {"batch_sizes": [1, 2, 4], "max_batch_size": 4, "enable_padding": True}
    result = moved_values("1.2", "main", cuda_graph_config=graphs)
    assert result["cuda_graph_config"] == {
        "batch_sizes": [1, 2, 4],
        "enable_padding": True,
    }


def test_a_section_whose_last_key_goes_goes_too():
    result = moved_values("1.2", "main", kv_cache_config={"onboard_blocks": True})
    assert result == {}


def test_keys_of_before_1_0_find_their_place():
    nested = {
        "use_cuda_graph": True,
        "cuda_graph_batch_sizes": [1, 2],
        "cuda_graph_padding_enabled": True,
        "enable_overlap_scheduler": False,
        "kv_cache_dtype": "fp8",
        "print_iter_log": True,
    }
    result = moved_values("1.0", "1.2", pytorch_backend_config=nested)
    assert result == {
        "cuda_graph_config": {"batch_sizes": [1, 2], "enable_padding": True},
        "disable_overlap_scheduler": True,
        "kv_cache_config": {"dtype": "fp8"},
        "print_iter_log": True,
    }


def test_graphs_that_were_switched_off_stay_off():
    result = moved_values("1.0", "main", use_cuda_graph=False)
    assert result == {"cuda_graph_config": None}


def test_a_nested_key_that_also_stands_at_the_top_is_dropped():
    moved = move(
        None,
        "1.0",
        "1.1",
        pytorch_backend_config={"print_iter_log": True},
        print_iter_log=False,
    )
    assert moved.values == {"print_iter_log": False}


@pytest.mark.parametrize(
    ("value", "wanted", "meant"),
    [
        ("4", "int|null", 4),
        ("+4", "int", 4),
        (4.0, "int", 4),
        ("four", "int", "four"),
        ("0.8", "float", 0.8),
        ("much", "float", "much"),
        ("yes", "bool", True),
        ("Off", "bool", False),
        (1, "bool", True),
        ("maybe", "bool|null", "maybe"),
        ("1, 2", "list[int]|null", [1, 2]),
        ("[1, 2]", "set[int]|null", [1, 2]),
        (8, "list[int]", [8]),
        (["1", 2], "list[int]", [1, 2]),
        ({"8": "4"}, "map[int,int]|null", {8: 4}),
        ("XGrammar", "'xgrammar'|'llguidance'|null", "xgrammar"),
        ("other", "'xgrammar'|'llguidance'|null", "other"),
        ({"a": 1}, "object|null", {"a": 1}),
    ],
)
def test_a_value_is_read_as_what_it_was_meant_to_be(value, wanted, meant):
    result = as_type(value, wanted)
    assert result == meant
    assert type(result) is type(meant)


def test_values_of_the_right_type_are_left_alone():
    spec = eagle3("1.2", eagle3_one_model=False, draft_len_schedule={1: 4, 9: 2})
    moved = move(spec, "1.2", "1.2", max_batch_size=64, enable_attention_dp=False)
    assert not moved.changes


def test_a_value_that_nobody_can_read_is_blocked():
    moved = move(eagle3("main", max_draft_len="four"), "main", "main")
    assert about(moved, "max_draft_len", "blocked")


def test_a_key_that_the_target_does_not_know_yet_is_left_out_with_its_versions():
    moved = move(None, "main", "1.2", generation_config="auto")
    (change,) = about(moved, "generation_config", "removed")
    assert ">=" in change.reason


def test_a_slip_of_the_pen_is_blocked_with_the_key_that_was_meant():
    moved = move(eagle3("main", max_draft_length=4), "main", "main")
    (change,) = about(moved, "max_draft_length", "blocked")
    assert "did you mean max_draft_len?" in change.reason


def test_a_key_of_another_method_is_left_out():
    moved = move(eagle3("main", is_public_pool=True), "main", "main")
    assert about(moved, "is_public_pool", "removed")


def test_a_key_without_any_source_is_kept_and_told():
    moved = move(None, "1.2", "main", some_new_thing={"a": 1})
    assert moved.values == {"some_new_thing": {"a": 1}}
    (change,) = about(moved, "some_new_thing", "warned")
    assert "trtspec has no source for it" in change.reason


def test_engines_are_not_chosen_any_more():
    assert moved_values("1.2", "main", backend="tensorrt") == {"backend": "pytorch"}
