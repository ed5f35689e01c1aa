"""What is measured: the recipe's workload, unless the user chose otherwise."""

from __future__ import annotations

import hashlib
import json
from types import SimpleNamespace

import pytest

from tests.bench.fakes import FakeRunner
from trtspec.bench.plan import (
    Choices,
    make_plan,
    read_prompts,
    require_speculation,
    settings_for,
)
from trtspec.errors import UsageError
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


def planned(of: Recipe, workload, choices: Choices):
    artifact = SimpleNamespace(
        name="toy", fingerprint="ab" * 32, recipe=of, workload=workload
    )
    return make_plan(artifact, FakeRunner(), *read_prompts(artifact, choices), choices)


def test_the_recipe_decides_what_the_user_leaves_open(workload):
    of = recipe(
        workload={
            "prompts": "workload.jsonl",
            "output_tokens": 33,
            "concurrency": [1, 2],
        },
        sampling={"temperature": 0.5, "top_k": 4, "top_p": 0.9, "seed": 6},
    )
    plan = planned(of, workload, Choices())
    settings = plan.settings
    assert (settings.output_tokens, settings.concurrency) == (33, (1, 2))
    assert (settings.temperature, settings.top_k, settings.top_p) == (0.5, 4, 0.9)
    assert (settings.seed, settings.repeats) == (6, 3)
    assert [(p.id, p.category, p.tokens) for p in plan.prompts] == [
        ("w1", "c", (1,)),
        ("w2", "c", (2,)),
        ("w3", "c", (3,)),
    ]
    assert plan.requests == 2 * (2 + 3 * 3) + 2 * (3 + 3 * 3)


def test_the_user_overrides_the_recipe(workload, tmp_path):
    other = tmp_path / "other.jsonl"
    other.write_text('{"id": "o", "prompt": "abcd"}\n{"id": "q", "prompt": "e"}\n')
    choices = Choices(other, 1, 9, (4,), 5)
    plan = planned(recipe(), workload, choices)
    assert [p.id for p in plan.prompts] == ["o"]
    assert plan.settings.output_tokens == 9
    assert plan.settings.concurrency == (4,)
    assert plan.settings.repeats == 5


def test_the_prompts_file_is_named_and_hashed(workload):
    plan = planned(recipe(), workload, Choices(limit=2))
    assert plan.prompt_set.file == "workload.jsonl"
    assert plan.prompt_set.count == 2
    digest = hashlib.sha256(workload.read_bytes()).hexdigest()
    assert plan.prompt_set.sha256 == digest


def test_the_recipe_is_recorded_as_it_would_be_written(workload):
    recorded = planned(recipe(), workload, Choices()).artifact.recipe
    assert recorded["schema"] == "trtspec/v1"
    assert Recipe.model_validate(recorded) == recipe()


def test_without_any_prompts_the_user_is_told_what_to_do():
    with pytest.raises(UsageError, match="--prompts"):
        planned(recipe(), None, Choices())


def test_there_is_nothing_to_compare_without_speculation():
    with pytest.raises(UsageError, match=r"r\.yaml:4: .*nothing to compare"):
        require_speculation(recipe(speculation={"method": "none"}), "r.yaml:4")
    require_speculation(recipe(), "r.yaml:4")


def test_an_engine_that_always_drafts_has_no_off_arm():
    medusa = {"method": "medusa", "model": "./heads"}
    engine = recipe(speculation=medusa, backend="tensorrt")
    with pytest.raises(UsageError, match="medusa cannot decode without drafting"):
        require_speculation(engine, "r.yaml:4")
    require_speculation(recipe(backend="tensorrt"), "r.yaml:4")


def test_backend_pytorch_has_no_off_arm_in_an_artifact():
    eagle3 = {"method": "eagle3", "model": "./head", "draft_length": 3}
    engine = recipe(speculation=eagle3, backend="pytorch")
    with pytest.raises(UsageError, match=r"(?s)every request.*method: none beside it"):
        require_speculation(engine, "r.yaml:4")


def test_the_plan_says_whether_prompts_are_cached(tmp_path):
    settings = settings_for(recipe(), Choices(), prompts_cached=True)
    assert settings.prompts_cached
    assert not settings_for(recipe(), Choices()).prompts_cached
