"""The catalogue: every method, its settings, and what is said of it in every place."""

import pytest
from hypothesis import given
from packaging.version import Version

from tests.methods.samples import ADAPTER, SMALLEST, SPECULATION, made
from trtspec.methods import lossy_reason
from trtspec.methods.catalogue import METHODS, PLACES, in_recipe, settings, standings
from trtspec.methods.pytorch_rules import FAMILIES
from trtspec.trtllm import facts

NEWEST = {family: str(facts.newest_of(family)) for family in facts.FAMILIES}
EVERY_SETTING = [
    (name, number) for name in METHODS for number in range(len(settings(name)))
]
ARITHMETIC = ["none", "ngram", "suffix", "draft_target", "redrafter", "lookahead"]
ARITHMETIC += ["dflash", "user"]


def test_every_method_of_the_schema_is_there():
    assert set(METHODS) == set(SMALLEST)
    assert all(type(made(name)) is kind for name, kind in METHODS.items())


def test_every_place_is_a_backend_or_one_of_its_families():
    assert [place.backend for place in PLACES if not place.family] == [
        "reference",
        "tensorrt",
    ]
    families = {p.family: p.versions for p in PLACES if p.backend == "pytorch"}
    assert families == FAMILIES == facts.family_ranges()


@pytest.mark.parametrize("name", [name for name in METHODS if name != "none"])
def test_where_a_method_runs_is_where_the_facts_have_it(name):
    for standing in standings(settings(name)[0].method):
        place = standing.place
        if place.backend == "tensorrt":
            targets = facts.targets(name, Version("1.2.1"))
            assert standing.runs == bool(targets)
        elif place.backend == "pytorch":
            newest = Version(NEWEST[place.family])
            assert standing.runs == (facts.engine_shape(name, newest) is not None)


@pytest.mark.parametrize("name", list(METHODS))
def test_first_setting_has_only_what_a_recipe_must_say(name):
    first = settings(name)[0]
    assert first.label == ""
    for key in first.keys.keys() - {"method"}:
        assert METHODS[name].model_fields[key].is_required(), key


@pytest.mark.parametrize("name", list(METHODS))
def test_further_settings_are_told_apart_by_their_labels(name):
    labels = [setting.label for setting in settings(name)]
    assert len(set(labels)) == len(labels)
    for setting in settings(name)[1:]:
        assert setting.label.partition(":")[0] in setting.keys
        assert setting.method == ADAPTER.validate_python(dict(setting.keys))


@pytest.mark.parametrize(("name", "number"), EVERY_SETTING)
def test_standing_says_what_check_goes_by(name, number):
    method = settings(name)[number].method
    for standing in standings(method):
        place = standing.place
        version = Version(NEWEST[place.family]) if place.family else None
        greedy = lossy_reason(method, place.backend, version, sampled=False)
        sampled = lossy_reason(method, place.backend, version, sampled=True)
        if standing.runs:
            assert (standing.greedy, standing.sampled) == (greedy, sampled)
            assert standing.source
        else:
            assert "is not established" in greedy
            assert "is not established" in sampled


@given(keys=SPECULATION)
def test_every_method_has_something_said_of_it_in_every_place(keys):
    said = standings(ADAPTER.validate_python(keys))
    assert [standing.place for standing in said] == list(PLACES)
    assert any(standing.runs for standing in said)
    assert all(standing.word in ("exact", "greedy", "lossy", "-") for standing in said)
    # nothing is exact when sampled and not when greedy: one word says it all
    assert not any(standing.greedy and not standing.sampled for standing in said)


@given(keys=SPECULATION)
def test_the_reference_engine_runs_every_method_exactly_unless_asked_otherwise(keys):
    (here,) = (
        standing
        for standing in standings(ADAPTER.validate_python(keys))
        if standing.place.backend == "reference"
    )
    branches_over_heads = keys.get("vanilla") and "tree" in keys
    assert here.runs == (keys["method"] != "auto" and not branches_over_heads)
    lossy = keys.get("acceptance") in ("typical", "relaxed")
    assert not here.runs or bool(here.sampled) == lossy
    assert not here.greedy or keys.get("acceptance") == "relaxed"


@pytest.mark.parametrize(
    ("name", "word", "reasons"),
    [
        ("none", "exact", 0),
        ("ngram", "greedy", 1),
        ("suffix", "-", 0),
    ],
)
def test_one_word_says_what_is_exact(name, word, reasons):
    (standing,) = (
        standing
        for standing in standings(made(name))
        if standing.place.backend == "tensorrt"
    )
    assert standing.word == word
    assert len(standing.reasons) == reasons


def test_a_reason_for_both_kinds_of_request_is_told_once():
    lossy = standings(made("redrafter", greedy_search=False))[1]
    assert lossy.word == "lossy"
    assert len(lossy.reasons) == 1


@given(keys=SPECULATION)
def test_formula_gives_the_tokens_of_a_step(keys):
    if keys["method"] not in ARITHMETIC:
        return
    method = ADAPTER.validate_python(keys)
    values = {**method.model_dump(), "draft_length": method.draft_length_at(1)}
    if isinstance(getattr(method, "draft_length", None), dict):
        values["draft_length"] = max(method.draft_length.values())
    assert eval(METHODS[method.method].step, {}, values) == method.verified_tokens


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "true"), (False, "false"), ({8: 4}, "{8: 4}"), ("a", "a"), (0.6, "0.6")],
)
def test_values_are_written_as_in_a_recipe(value, text):
    assert in_recipe(value) == text
