"""What requests ask for is read line by line, and neutral values ask for nothing."""

import json

import pytest

from trtspec.recipe import asked_controls as module
from trtspec.recipe.asked_controls import asked_controls, asked_sampling
from trtspec.recipe.request_names import CONTROLS, misspelt


def read(tmp_path, *lines):
    path = tmp_path / "w.jsonl"
    texts = (x if isinstance(x, str) else json.dumps(x) for x in lines)
    path.write_text("".join(f"{text}\n" for text in texts))
    return asked_controls(path)


def test_a_field_is_counted_with_its_first_line_and_values(tmp_path):
    asked = read(
        tmp_path,
        {"prompt": "a"},
        {"prompt": "b", "logprobs": 5},
        "",
        {"prompt": "c", "logprobs": 5},
        {"prompt": "d", "logprobs": 2},
    )["logprobs"]
    assert (asked.line, asked.count, asked.values) == (2, 3, [5, 2])
    assert asked.shown == "5, 2"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("logprobs", False),
        ("logprobs", None),
        ("repetition_penalty", 1.0),
        ("presence_penalty", 0),
        ("n", 1),
        ("top_k", -1),
        ("tools", []),
        ("response_format", {"type": "text"}),
        ("stop", ""),
    ],
)
def test_neutral_values_ask_for_nothing(tmp_path, name, value):
    assert name not in read(tmp_path, {"prompt": "a", name: value})


def test_true_is_no_number(tmp_path):
    assert read(tmp_path, {"logprobs": True, "logit_bias": {"1": 2}}).keys() == {
        "logprobs",
        "logit_bias",
    }


@pytest.mark.parametrize("nest", ["extra_body", "sampling_params", "parameters"])
def test_fields_in_a_clients_object_count(tmp_path, nest):
    asked = read(tmp_path, {"prompt": "a", nest: {"min_p": 0.05}})
    assert asked["min_p"].values == [0.05]
    assert nest not in asked


def test_lines_that_are_no_objects_are_passed_over(tmp_path):
    asked = read(tmp_path, "nonsense", "[1]", "[" * 100_000, {"seed": 1})
    assert asked["seed"].line == 4


def test_reading_ends_after_the_most_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_LINES", 2)
    assert not read(tmp_path, {"x": 1}, {"x": 1}, {"seed": 1}).get("seed")


def test_a_file_is_read_again_only_once_it_has_changed(tmp_path):
    first = read(tmp_path, {"seed": 1})
    assert asked_controls(tmp_path / "w.jsonl") is first
    assert read(tmp_path, {"seed": 1}, {"seed": 2})["seed"].count == 2


def test_many_values_are_shown_short(tmp_path):
    asked = read(tmp_path, *({"seed": n} for n in range(1, 50)))["seed"]
    assert asked.shown == "1, 2, 3, ..."
    assert asked.count == 49


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("repitition_penalty", "repetition_penalty"),
        ("temprature", "temperature"),
        ("max_token", "max_tokens"),
        ("question_id", ""),
        ("reference", ""),
        ("category", ""),
        ("conversation_id", ""),
        ("id", ""),
    ],
)
def test_misspelt_controls_are_told_from_remarks(name, meant):
    assert misspelt(name) == meant


def test_no_control_is_taken_for_a_misspelling():
    assert not [name for name in sorted(CONTROLS) if misspelt(name)]


def sampling(tmp_path, *lines):
    read(tmp_path, *lines)
    asked = asked_sampling(tmp_path / "w.jsonl")
    return {name: (one.line, one.count, one.values) for name, one in asked.items()}


def test_neutral_sampling_is_kept_for_who_compares_it_with_a_recipe(tmp_path):
    lines = ({"seed": 1}, {"temperature": 0, "top_p": 1.0, "top_k": 0}, {"n": 1})
    assert sampling(tmp_path, *lines) == {
        "temperature": (2, 1, [0]),
        "top_p": (2, 1, [1.0]),
        "top_k": (2, 1, [0]),
    }
    assert asked_controls(tmp_path / "w.jsonl").keys() == {"seed"}


def test_sampling_has_all_of_its_values(tmp_path):
    lines = ({"temperature": 0.7}, {"temperature": 0}, {"temperature": 0.7})
    assert sampling(tmp_path, *lines) == {"temperature": (1, 3, [0.7, 0])}


def test_a_top_k_of_minus_one_is_that_of_a_recipe_which_keeps_all(tmp_path):
    lines = ({"top_k": -1}, {"extra_body": {"top_k": 0}}, {"top_k": 5})
    assert sampling(tmp_path, *lines) == {"top_k": (1, 3, [0, 5])}


@pytest.mark.parametrize("value", [None, "", [], {}], ids=str)
def test_sampling_without_a_value_is_none(tmp_path, value):
    assert sampling(tmp_path, {"temperature": value}) == {}
