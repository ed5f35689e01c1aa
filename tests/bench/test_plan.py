"""What is measured: the recipe's workload, unless the user chose otherwise."""

from __future__ import annotations

import hashlib
import json

import pytest

from trtspec.bench.driver import BenchPrompt
from trtspec.bench.plan import (
    Choices,
    ladder,
    prompt_set,
    read_prompts,
    settings_for,
)
from trtspec.bench.records import Load
from trtspec.errors import UsageError
from trtspec.files import sha256_json
from trtspec.recipe.schema import Recipe

NGRAM = {"method": "ngram", "draft_length": 3}


def recipe(**changes) -> Recipe:
    return Recipe.model_validate(
        {
            "schema": "trtspec/v1",
            "name": "toy",
            "target": {"model": "./target"},
            "speculation": NGRAM,
        }
        | changes
    )


@pytest.fixture
def workload(tmp_path):
    file = tmp_path / "workload.jsonl"
    lines = [{"id": f"w{i}", "prompt": "x" * i, "category": "c"} for i in (1, 2, 3)]
    file.write_text("\n".join(map(json.dumps, lines)))
    return file


def rendered(prompts, ids=True):
    return tuple(
        BenchPrompt(p.id, p.category, p.messages, (len(p.id),) if ids else None)
        for p in prompts
    )


def test_the_recipe_decides_what_the_user_leaves_open():
    of = recipe(
        workload={
            "prompts": "workload.jsonl",
            "output_tokens": 33,
            "concurrency": [1, 2],
        },
        sampling={"temperature": 0.5, "top_k": 4, "top_p": 0.9, "seed": 6},
    )
    settings = settings_for([of], Choices())
    assert (settings.output_tokens, settings.loads) == (33, ladder((1, 2)))
    assert (settings.temperature, settings.top_k, settings.top_p) == (0.5, 4, 0.9)
    assert (settings.seed, settings.repeats, settings.control) == (6, 5, True)
    assert not settings.fixed_length


def test_the_user_overrides_the_recipe(workload, tmp_path):
    other = tmp_path / "other.jsonl"
    other.write_text('{"id": "o", "prompt": "abcd"}\n{"id": "q", "prompt": "e"}\n')
    loads = (Load(arrivals="poisson", rate=2.0),)
    choices = Choices(
        other,
        1,
        9,
        loads,
        5,
        control=False,
        fixed_length=True,
        goodput={"e2e": 2.0},
    )
    file, prompts = read_prompts(workload, choices)
    assert (file, [p.id for p in prompts]) == (other, ["o"])
    settings = settings_for([recipe()], choices)
    assert (settings.output_tokens, settings.loads) == (9, loads)
    assert (settings.repeats, settings.control) == (5, False)
    assert (settings.fixed_length, settings.goodput) == (True, {"e2e": 2.0})


def test_the_prompts_are_named_counted_and_hashed_as_file_and_as_ids(workload):
    file, prompts = read_prompts(workload, Choices(limit=2))
    found = prompt_set(file, prompts, rendered(prompts))
    assert (found.file, found.count) == ("workload.jsonl", 2)
    assert found.sha256 == hashlib.sha256(workload.read_bytes()).hexdigest()
    assert found.rendered_sha256 == sha256_json([[2], [2]])
    other = prompt_set(file, prompts, rendered(prompts[:1]))
    assert other.rendered_sha256 != found.rendered_sha256
    assert other.messages_sha256 != found.messages_sha256


def test_prompts_that_only_a_server_renders_have_no_hash_of_ids(workload):
    file, prompts = read_prompts(workload, Choices())
    assert (
        prompt_set(file, prompts, rendered(prompts, ids=False)).rendered_sha256 is None
    )


def test_without_any_prompts_the_user_is_told_what_to_do():
    with pytest.raises(UsageError, match="--prompts"):
        read_prompts(None, Choices())


def test_artifacts_that_sample_differently_are_not_compared():
    warm = recipe(name="warm", sampling={"temperature": 0.5})
    with pytest.raises(UsageError, match=r"warm samples with temperature 0\.5"):
        settings_for([recipe(), warm], Choices())


def test_the_settings_say_whether_prompts_are_cached():
    assert settings_for([recipe()], Choices(), prompts_cached=True).prompts_cached
    assert not settings_for([recipe()], Choices()).prompts_cached


def test_by_category_each_load_is_measured_once_per_category():
    choices = Choices(loads=ladder((1, 2)), by_category=True)
    settings = settings_for([recipe()], choices, ["code", "chat", "code"])
    assert [load.key for load in settings.loads] == [
        "c1:code",
        "c1:chat",
        "c2:code",
        "c2:chat",
    ]
    assert settings.loads[1].words == "concurrency 1, chat"
    with pytest.raises(UsageError, match="1 of 2 prompts have no category"):
        settings_for([recipe()], choices, ["code", ""])
