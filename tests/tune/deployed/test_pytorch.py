"""``trtspec tune`` on recipes of backend pytorch, on stand-ins of its releases."""

from __future__ import annotations

import json

import pytest
import yaml

from tests.tune.deployed.places import make_place
from trtspec.bench import conditions
from trtspec.cli import tune_run
from trtspec.recipe import load_recipe
from trtspec.tune.confirm import fixed_name
from trtspec.tune.deployed.words import APART
from trtspec.tune.trace_file import read_traces

NGRAM = {"method": "ngram", "draft_length": 2, "max_matching_ngram": 2}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return make_place(tmp_path_factory.mktemp("pytorch"), pytorch=True)


@pytest.fixture(autouse=True)
def here(place, monkeypatch):
    monkeypatch.setenv("TRTSPEC_CACHE", str(place.folder / "cache"))
    monkeypatch.setattr(conditions, "IDLE_SECONDS", 0.01)
    monkeypatch.chdir(place.folder)
    place.standin.activate(monkeypatch)


@pytest.fixture
def tuned(place, capfd):
    """One tuning, with all lengths in its bench; made once."""
    if not (place.folder / "whole").exists():
        recipe = place.write("toy", **NGRAM)
        code = place.tune(recipe, "whole", "--exhaustive")
        place.said = (code, *capfd.readouterr())
    return place.document("whole")


def test_a_recipe_is_tuned_and_three_prompts_carry_no_claim(place, tuned):
    code, out, err = place.said
    assert code == 6, err
    assert "no claim" in err
    assert "toy" in out.splitlines()[0]
    assert "steps were timed on the recipe's own backend" in out
    assert tuned["costs"] == "measured"


def test_it_ends_in_a_recipe_of_the_same_backend(place, tuned):
    path = place.folder / "toy.tuned.yaml"
    recipe = load_recipe(path).recipe
    assert recipe.backend == "pytorch"
    assert recipe.tuned.costs == "measured"
    assert [row.concurrency for row in recipe.tuned.loads] == [1, 2]
    chosen = tuned["candidates"][0]["draft_length"]
    written = yaml.safe_load(path.read_text())["speculation"]
    if chosen is None:
        assert written == {"method": "none"}
    else:
        assert str(written["draft_length"]) == str(chosen).replace("'", "").replace(
            '"', ""
        )


def test_the_conditions_say_what_ran(tuned):
    runner = tuned["conditions"]["runner"]
    assert runner["backend"] == "pytorch"
    assert runner["tensorrt_llm"] == "1.2.1"
    names = {gpu["name"] for gpu in tuned["conditions"]["hardware"]["gpus"]}
    assert tuned["hardware"] in names


def test_each_length_was_an_arm_and_none_the_off_arm(place, tuned):
    bench = json.loads((place.folder / "whole/confirmation/result.json").read_text())
    arms = {arm["name"]: arm for arm in bench["plan"]["arms"]}
    assert arms["off"]["speculation"]["method"] == "none"
    lengths = {
        arm["speculation"]["draft_length"]
        for name, arm in arms.items()
        if name.startswith("draft length")
    }
    assert lengths == {1, 2, 3}
    assert all(arm["engine"]["backend"] == "pytorch" for arm in arms.values())
    assert {arm["artifact"]["recipe"]["backend"] for arm in arms.values()} == {
        "pytorch"
    }


def test_the_traces_are_of_the_twin_and_what_they_miss_is_said(place, tuned):
    """TensorRT-LLM looks up n-grams by a rule of its own."""
    (file,) = (place.folder / "whole/traces").iterdir()
    assert read_traces(file).head.engine["backend"] == "reference"
    (candidate,) = tuned["candidates"]
    apart = []
    for load in candidate["loads"]:
        seen = load["measured"]["acceptance_length"]
        if abs(seen / load["acceptance_length"] - 1) > APART:
            apart.append(f"acceptance length at concurrency {load['concurrency']}")
    noted = [n for n in tuned["notes"] if n.startswith("acceptance length")]
    assert [note.partition(":")[0] for note in noted] == apart


def test_what_is_measured_is_what_is_predicted(place, tuned):
    """Also where nothing is drafted: then both are of the best length."""
    bench = json.loads((place.folder / "whole/confirmation/result.json").read_text())
    cells = {cell["load"]["concurrency"]: cell for cell in bench["cells"]}
    for load in tuned["candidates"][0]["loads"]:
        if not load["length"]:
            arm = fixed_name(load["of_length"])
            arms = cells[load["concurrency"]]["arms"]
            seen = arms[arm]["acceptance"]["length"]
            assert load["measured"]["acceptance_length"] == seen


def test_the_bill_counts_engines_of_both_backends(tuned):
    items = {item["part"]: item for item in tuned["bill"]["items"]}
    assert items["costs"]["engine_starts"] >= 4
    assert items["costs"]["model_seconds"] > 0
    assert items["sweep"]["model_seconds"] > 0


def test_the_traces_of_before_are_taken(place, tuned, capfd):
    arguments = ("--no-confirm", "--traces", place.folder / "whole")
    code = place.tune(place.folder / "toy.yaml", "again", *arguments)
    _, err = capfd.readouterr()
    assert code in (0, 6), err
    assert "trace taken from" in err


def test_a_target_that_cannot_be_loaded_here_is_judged_by_what_ran(
    place, monkeypatch, capfd
):
    monkeypatch.setattr(tune_run, "too_large", lambda target: "its weights take 1 TB")
    recipe = place.write("large", **NGRAM)
    code = place.tune(recipe, "large", "--no-confirm")
    _, err = capfd.readouterr()
    assert code in (0, 6), err
    (note,) = [n for n in place.document("large")["notes"] if "not traced" in n]
    assert "its weights take 1 TB" in note
    assert "3 draft tokens" in note
    (file,) = (place.folder / "large/traces").iterdir()
    traces = read_traces(file)
    assert traces.head.engine["backend"] == "pytorch"
    assert all(one.chances is not None for one in traces.prompts)


def test_a_method_without_a_twin_is_refused_where_nothing_can_be_told(
    place, monkeypatch, capfd
):
    monkeypatch.setattr(tune_run, "too_large", lambda target: "its weights take 1 TB")
    recipe = place.write("user", method="user", drafter="a:b", draft_length=2)
    assert place.tune(recipe, "user") in (2, 3)
    assert not (place.folder / "user").exists()
    capfd.readouterr()


def test_an_artifact_is_refused(place, tuned, capfd):
    (first, *_) = (place.folder / "engines").glob("toy-*")
    assert place.tune(first, "artifact") == 2
    assert "name the recipe that it was built from" in capfd.readouterr().err


def test_recipes_of_two_backends_are_not_compared(place, capfd):
    here = place.write("here", backend="reference", **NGRAM)
    there = place.write("there", **NGRAM)
    assert place.tune(there, "two", here) == 2
    assert "backends pytorch and reference" in capfd.readouterr().err
    assert not (place.folder / "two").exists()
