"""Speculation methods: which exist, what they take, what they say of themselves."""

import json

import pytest
from hypothesis import given
from pydantic import ValidationError

from tests.methods.samples import ADAPTER, SMALLEST, SPECULATION, made
from trtspec.methods import (
    MAX_DRAFT_LENGTH,
    Auto,
    ChainMethod,
    DFlash,
    DraftTarget,
    Eagle,
    Eagle3,
    EnhancedChain,
    Lookahead,
    Medusa,
    Mtp,
    NGram,
    NoSpeculation,
    OneModelChain,
    Pard,
    ReDrafter,
    Suffix,
    TrainedDrafter,
    User,
)

CLASSES = {
    "none": NoSpeculation,
    "ngram": NGram,
    "draft_target": DraftTarget,
    "medusa": Medusa,
    "eagle": Eagle,
    "redrafter": ReDrafter,
    "lookahead": Lookahead,
    "suffix": Suffix,
    "eagle3": Eagle3,
    "mtp": Mtp,
    "pard": Pard,
    "dflash": DFlash,
    "user": User,
    "auto": Auto,
}
DYNAMIC = {"tree": "dynamic", "tree_top_k": 2}
TRAINED = ["medusa", "eagle", "redrafter"]


@pytest.mark.parametrize("method", list(CLASSES))
def test_method_decides_the_class(method):
    assert type(made(method)) is CLASSES[method]
    assert set(CLASSES) == set(SMALLEST)


@pytest.mark.parametrize("method", CLASSES.values())
def test_every_method_has_a_one_line_summary(method):
    assert method.summary
    assert "\n" not in method.summary


@pytest.mark.parametrize("method", CLASSES.values())
def test_every_key_of_every_method_is_described(method):
    for key, field in method.model_fields.items():
        properties = method.model_json_schema()["properties"]
        assert field.description or properties[key].get("description"), key


@pytest.mark.parametrize(
    ("method", "kind", "model"),
    [
        ("none", None, None),
        ("ngram", None, None),
        ("draft_target", "model", "d"),
        ("medusa", "medusa", "d"),
        ("eagle", "eagle", "d"),
        ("redrafter", "redrafter", "d"),
        ("lookahead", None, None),
        ("suffix", None, None),
        ("eagle3", "eagle3", "d"),
        ("mtp", "mtp", None),
        ("pard", "model", "d"),
        ("dflash", "dflash", "d"),
        ("user", None, None),
        ("auto", None, None),
    ],
)
def test_method_names_its_drafter_and_what_that_is(method, kind, model):
    assert CLASSES[method].drafter_kind == kind
    assert made(method).draft_model == model


def test_heads_outside_the_targets_checkpoint_are_named():
    assert made("mtp", model="d", revision="main").draft_model == "d"


@pytest.mark.parametrize(
    ("method", "keys", "named"),
    [
        ("ngram", {}, "ngram"),
        ("medusa", {}, "medusa"),
        (
            "medusa",
            {"acceptance": "typical", "posterior_threshold": 0.1},
            "medusa with acceptance: typical",
        ),
        ("mtp", {}, "mtp"),
        ("mtp", {"model": "d"}, "mtp with a model of its own"),
        ("mtp", DYNAMIC, "mtp with a dynamic tree"),
        ("eagle3", {}, "eagle3"),
        ("eagle3", DYNAMIC, "eagle3 with a dynamic tree"),
        ("eagle3", {"tree": [[0]]}, "eagle3 with a fixed tree"),
        ("eagle3", {"two_model": True}, "eagle3 with two_model: true"),
    ],
)
def test_method_is_named_with_what_decides_where_it_runs(method, keys, named):
    assert made(method, **keys).named == named


def test_no_speculation_never_drafts():
    method = made("none")
    assert method.draft_length_at(1) == 0
    assert method.longest_draft == 0
    assert method.verified_tokens == 1


def test_chain_follows_its_schedule():
    method = made("ngram", draft_length={32: 2, 8: 4})
    assert [method.draft_length_at(n) for n in (8, 9, 33)] == [4, 2, 0]
    assert method.longest_draft == 4
    assert method.verified_tokens == 5


def test_families_of_methods():
    assert [m for m, c in CLASSES.items() if issubclass(c, TrainedDrafter)] == TRAINED
    chains = [m for m, c in CLASSES.items() if issubclass(c, ChainMethod)]
    assert chains == [
        "ngram",
        "draft_target",
        "suffix",
        "eagle3",
        "mtp",
        "pard",
        "dflash",
        "user",
    ]
    one_model = [m for m, c in CLASSES.items() if issubclass(c, OneModelChain)]
    assert one_model == ["draft_target", "eagle3", "mtp", "pard", "dflash"]
    enhanced = [m for m, c in CLASSES.items() if issubclass(c, EnhancedChain)]
    assert enhanced == ["eagle3", "mtp", "pard"]


@given(keys=SPECULATION)
def test_any_method_survives_json(keys):
    method = ADAPTER.validate_python(keys)
    again = ADAPTER.validate_json(method.model_dump_json())
    assert again == method
    assert type(again) is type(method)
    assert ADAPTER.validate_json(json.dumps(keys)) == method


@given(keys=SPECULATION)
def test_no_method_verifies_more_than_an_engine_has_room_for(keys):
    method = ADAPTER.validate_python(keys)
    assert 0 <= method.longest_draft <= MAX_DRAFT_LENGTH
    most = method.longest_draft + 1
    # a parallel draft model takes the masks along
    parallel = isinstance(method, Pard)
    assert method.verified_tokens == (2 * method.longest_draft if parallel else most)


WRONG = [
    ("ngram", {"model": "d"}),
    ("ngram", {"max_matching_ngram": 0}),
    ("ngram", {"max_matching_ngram": 17}),
    ("ngram", {"max_matching_ngram": "3"}),
    ("ngram", {"acceptance": "typical"}),
    ("ngram", {"allow_lossy": 1}),
    ("ngram", {"allow_lossy": "true"}),
    ("draft_target", {"model": ""}),
    ("draft_target", {"quantization": "int8"}),
    ("draft_target", {"tensor_parallel": 0}),
    ("draft_target", {"use_draft_logits": "yes"}),
    ("draft_target", {"family": ""}),
    ("none", {"draft_length": 4}),
    ("none", {"allow_lossy": True}),
    ("medusa", {"draft_length": 4}),
    ("medusa", {"num_heads": 0}),
    ("medusa", {"num_heads": 33}),
    ("medusa", {"num_layers": 17}),
    ("medusa", {"max_draft_tokens": 257}),
    ("medusa", {"revision": ""}),
    ("medusa", {"acceptance": "relaxed"}),
    ("medusa", {"acceptance": "typical", "posterior_threshold": 1.0}),
    ("medusa", {"posterior_threshold": 0.1}),
    ("eagle", {"acceptance": "relaxed"}),
    ("eagle", {"acceptance": "typical", "posterior_threshold": 1.0}),
    ("eagle", {"acceptance": "typical", "posterior_threshold": -0.1}),
    ("eagle", {"acceptance": "typical", "posterior_threshold": float("nan")}),
    ("eagle", {"tree": "dynamic", "dynamic_top_k": 0}),
    ("eagle", {"tree": "dynamic", "dynamic_top_k": 257}),
    ("redrafter", {"num_beams": 0}),
    ("redrafter", {"greedy_search": None}),
    ("lookahead", {"window_size": 0}),
    ("lookahead", {"verification_set_size": -1}),
    ("lookahead", {"model": "d"}),
    ("suffix", {"max_matching_ngram": 0}),
    ("suffix", {"global_pool_size": 64}),
    ("suffix", {"global_pool": True, "global_pool_size": 1025}),
    ("suffix", {"global_pool": True, "max_matching_ngram": 65}),
    ("suffix", {"rejection_sampling": True}),
    ("eagle3", {"acceptance": "typical"}),
    ("eagle3", {"suffix_threshold": 0}),
    ("eagle3", {"layers_to_capture": []}),
    ("eagle3", {"layers_to_capture": [1, -2]}),
    ("eagle3", {"layers_to_capture": [1, "1"]}),
    ("eagle3", {"two_model": "yes"}),
    ("mtp", {"model": ""}),
    ("mtp", {"revision": "main"}),
    ("mtp", {"tree": [[0]]}),
    ("mtp", {"thinking_tokens": [1, 2]}),
    ("mtp", {"acceptance": "relaxed", "relaxed_top_k": 8}),
    ("mtp", {"relaxed_delta": 0.5}),
    ("pard", {"mask_token_id": -1}),
    ("dflash", {"suffix_threshold": 4}),
    ("user", {"drafter": "module.attribute"}),
    ("user", {"drafter": "module:"}),
    ("user", {"resource_manager": "../a:b"}),
    ("auto", {"draft_length": 4}),
]


@pytest.mark.parametrize(("method", "keys"), WRONG)
def test_wrong_parameters_are_refused(method, keys):
    with pytest.raises(ValidationError) as caught:
        made(method, **keys)
    assert caught.value.error_count() == 1


@pytest.mark.parametrize(
    "keys",
    [
        {"method": "ngram"},
        {"method": "draft_target", "draft_length": 4},
        {"method": "draft_target", "model": "d"},
        *[{"method": method} for method in TRAINED],
        {"method": "eagle3", "draft_length": 4},
        {"method": "eagle3", "model": "d"},
        {"method": "user", "draft_length": 4},
        {"draft_length": 4},
    ],
)
def test_keys_that_a_method_needs_are_required(keys):
    with pytest.raises(ValidationError):
        ADAPTER.validate_python(keys)


def test_method_cannot_be_changed_after_validation():
    method = made("ngram")
    with pytest.raises(ValidationError):
        method.draft_length = 5
