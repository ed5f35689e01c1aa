"""Limits, capacities and flags that trtllm-build takes pass; others are refused."""

import pytest

from tests.trtllm.engine.rules.findings import findings, only
from tests.trtllm.engine.samples import recipe
from trtspec.trtllm.engine.rules.options import (
    OURS,
    batch_of_eagle,
    capacity_is_settable,
    draft_capacity_holds,
    flags_are_known,
    known_trouble,
    lookahead_drafts,
    tree_is_known,
)

EAGLE_2 = {"tree": "dynamic", "dynamic_top_k": 4}


def of_batch(batch, method="eagle", **fields):
    return recipe(method, limits={"max_batch_size": batch}, **fields)


def test_eagle_for_up_to_512_requests_passes():
    assert not findings(batch_of_eagle, of_batch(512))
    assert not findings(batch_of_eagle, of_batch(513, "medusa"))


def test_eagle_for_more_requests_is_refused():
    finding = only(batch_of_eagle, of_batch(513))
    assert (finding.severity, finding.where) == ("blocking", "limits.max_batch_size")
    assert finding.what == "max_batch_size 513 with method eagle"
    assert "512" in finding.why


@pytest.mark.parametrize("capacity", [None, 4, 5])
def test_draft_within_the_capacity_passes(capacity):
    made = recipe("ngram", draft_length=4, engine={"max_draft_length": capacity})
    assert not findings(draft_capacity_holds, made)


def test_draft_beyond_the_capacity_is_refused_with_both_numbers():
    made = recipe("ngram", draft_length={2: 9, 8: 4}, engine={"max_draft_length": 8})
    finding = only(draft_capacity_holds, made)
    assert (finding.severity, finding.where) == ("blocking", "speculation.draft_length")
    assert "a draft of 9 tokens" in finding.what
    assert "built for 8 (engine.max_draft_length)" in finding.what


def test_capacity_of_drafts_from_outside_and_enough_tokens_pass():
    engine = {"max_draft_length": 8, "max_num_tokens": 4 * (8 + 1)}
    assert not findings(capacity_is_settable, recipe("ngram", engine=engine))


@pytest.mark.parametrize(
    "method", ["none", "medusa", "eagle", "redrafter", "lookahead"]
)
def test_capacity_that_has_no_effect_is_refused(method):
    made = recipe(method, engine={"max_draft_length": 200})
    finding = only(capacity_is_settable, made)
    assert (finding.severity, finding.where) == ("blocking", "engine.max_draft_length")
    assert finding.what == f"max_draft_length 200 with method {method}"


def test_tokens_that_the_builder_raises_are_a_warning_with_both_numbers():
    made = recipe("medusa", engine={"max_num_tokens": 255})
    finding = only(capacity_is_settable, made)
    assert (finding.severity, finding.where) == ("warning", "engine.max_num_tokens")
    assert "max_num_tokens 255 is below 256" in finding.what


@pytest.mark.parametrize("version", ["0.19.0", "1.2.1", None, "1.3.0rc21"])
def test_eagle_2_passes_where_it_is_established_or_nothing_is_known(version):
    assert not findings(tree_is_known, recipe("eagle", **EAGLE_2), version)


def test_eagle_2_is_refused_where_it_is_not_established():
    finding = only(tree_is_known, recipe("eagle", **EAGLE_2), "0.18.2")
    assert (finding.severity, finding.where) == ("blocking", "speculation.tree")
    assert "not established for TensorRT-LLM 0.18.2" in finding.what
    assert not findings(tree_is_known, recipe("eagle"), "0.18.2")


def test_lookahead_that_drafts_passes_and_one_that_does_not_is_refused():
    assert not findings(lookahead_drafts, recipe("lookahead"))
    made = recipe(
        "lookahead", window_size=1, ngram_size=1, verification_set_size=0
    )  # fmt: skip
    finding = only(lookahead_drafts, made)
    assert (finding.severity, finding.where) == ("blocking", "speculation.window_size")
    assert "1, ngram_size 1, verification_set_size 0 draft no token" in finding.what


def flags(**given):
    return recipe(engine={"build_flags": given})


@pytest.mark.parametrize(
    ("made", "version"),
    [
        (recipe(), "1.2.1"),
        (flags(multiple_profiles="enable"), "0.17.0"),
        (flags(fast_build=True), "0.17.0"),
        (flags(fast_build=False), "0.17.0"),
        (flags(tokens_per_block=64, logits_dtype="float32"), "1.2.1"),
        (recipe(engine={"gemm_plugin": "nvfp4"}), "1.2.1"),
        (flags(nonsense="x"), None),
        (flags(nonsense="x"), "1.3.0rc21"),
    ],
)
def test_flag_that_the_version_takes_passes(made, version):
    assert not findings(flags_are_known, made, version)


@pytest.mark.parametrize(
    ("name", "value", "version", "why"),
    [
        ("multiple_profile", "enable", "1.2.1", "1.2.1 has no flag --multiple_profile"),
        ("tokens_per_block", 64, "0.17.0", "0.17.0 has no flag --tokens_per_block"),
        ("auto_parallel", 2, "1.2.0", "1.2.0 has no flag --auto_parallel"),
        ("multiple_profiles", "yes", "1.2.1", "allowed: enable, disable"),
        ("multiple_profiles", True, "1.2.1", "needs a value"),
        # it would be left out, which need not mean disable
        ("use_fp8_context_fmha", False, "1.2.1", "needs a value"),
        ("tokens_per_block", "many", "1.2.1", "needs a number of kind int"),
        ("fast_build", "x", "1.2.1", "takes no value"),
    ],
)
def test_flag_that_the_version_would_not_take_is_refused(name, value, version, why):
    finding = only(flags_are_known, flags(**{name: value}), version)
    assert (finding.severity, finding.where) == (
        "blocking",
        f"engine.build_flags.{name}",
    )
    assert finding.what == f"{name}: {value}"
    assert why in finding.why


@pytest.mark.parametrize("name", sorted(OURS))
def test_flag_that_follows_from_the_recipe_is_refused(name):
    finding = only(flags_are_known, flags(**{name: 1}))
    assert finding.severity == "blocking"
    assert finding.why == "it follows from the recipe's other keys"


def test_gemm_plugin_that_is_none_is_refused():
    finding = only(flags_are_known, recipe(engine={"gemm_plugin": "float64"}))
    assert (finding.severity, finding.where) == ("blocking", "engine.gemm_plugin")
    assert "bfloat16" in finding.why


@pytest.mark.parametrize(
    ("made", "version"),
    [
        (recipe("lookahead"), "0.19.0"),
        (recipe("lookahead"), "0.21.0"),
        (recipe("lookahead"), None),
        (recipe("ngram"), "0.20.0"),
        (of_batch(64, **EAGLE_2), "1.2.1"),
        (of_batch(512), "1.2.1"),
    ],
)
def test_method_without_reported_trouble_passes(made, version):
    assert not findings(known_trouble, made, version)


@pytest.mark.parametrize(
    ("made", "version", "where", "issue"),
    [
        (recipe("lookahead"), "0.20.0", "speculation.method", "#5451"),
        (of_batch(65, **EAGLE_2), "1.2.1", "limits.max_batch_size", "#4787"),
    ],
)
def test_reported_trouble_is_a_warning(made, version, where, issue):
    finding = only(known_trouble, made, version)
    assert (finding.severity, finding.where) == ("warning", where)
    assert issue in finding.why
