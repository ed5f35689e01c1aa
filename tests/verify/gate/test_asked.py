"""What requests ask for: how they sample, which fields count, under which name."""

from __future__ import annotations

import json

import pytest

from tests.verify.gate.asking import recipe
from trtspec.recipe.request_names import CONTROLS
from trtspec.trtllm.facts.controls import all_controls
from trtspec.verify.gate.asked import FATES_OF, Asked, fate_name


@pytest.mark.parametrize(
    ("given", "mode", "with_ties"),
    [
        ({}, "greedy", "greedy"),
        ({"temperature": 0.7}, "sampled", "sampled"),
        ({"temperature": 0.7, "top_k": 1}, "greedy", "sampled"),
        ({"temperature": None}, "sampled", "sampled"),
        ({"temperature": None, "top_k": 1}, "greedy", "sampled"),
        ({"top_k": 50, "top_p": 0.9}, "greedy", "greedy"),
    ],
)
def test_when_requests_are_greedy(given, mode, with_ties):
    assert Asked(**given).mode() == mode
    assert Asked(**given).mode(ties_share=True) == with_ties


def test_fields_that_ask_for_nothing_are_left_out():
    controls = {
        "min_p": 0,
        "repetition_penalty": 1,
        "logprobs": False,
        "presence_penalty": 0.0,
        "seed_text": None,
        "min_tokens": 4,
    }

    assert Asked(controls=controls).asks_for() == {"min_tokens": 4}


@pytest.mark.parametrize(
    "name", ["stop_token_ids", "tools", "chat_template_kwargs", "detokenize"]
)
def test_fields_of_the_text_around_the_tokens_are_left_out(name):
    assert not Asked(controls={name: ["a"]}).asks_for()


def test_every_other_name_leads_to_a_control_with_a_fate():
    known = {name for control in all_controls() for name in control.names}

    assert set(FATES_OF.values()) <= known
    assert set(FATES_OF) <= CONTROLS | {"min_new_tokens"}
    assert fate_name("min_p") == "min_p"


def test_a_recipe_without_prompts_has_its_own_sampling():
    sampling = {"temperature": 0.7, "top_k": 40, "top_p": 0.9}

    asked = Asked.by_recipe(recipe("reference", "ngram", sampling=sampling))
    assert (asked.temperature, asked.top_k, asked.top_p) == (0.7, 40, 0.9)
    assert not asked.controls


def test_the_hottest_request_of_a_workload_counts(tmp_path):
    file = tmp_path / "prompts.jsonl"
    lines = [{"prompt": "a", "temperature": t} for t in (0.2, 0.9, 0.0, "hot")]
    file.write_text("\n".join(map(json.dumps, lines)))

    asked = Asked.by_recipe(recipe("reference", "ngram"), file)
    assert asked.temperature == 0.9
    assert asked.where == str(file)


def test_what_trtspec_sends_itself_is_no_further_control(tmp_path):
    file = tmp_path / "prompts.jsonl"
    line = {"prompt": "a", "max_tokens": 5, "seed": 3, "stop": ["x"], "n": 2}
    file.write_text(json.dumps(line))

    assert dict(Asked.by_recipe(recipe("reference", "ngram"), file).controls) == {
        "n": 2
    }


def test_a_file_that_cannot_be_read_is_an_error(tmp_path):
    with pytest.raises(OSError, match="missing"):
        Asked.by_recipe(recipe("reference", "ngram"), tmp_path / "missing.jsonl")
