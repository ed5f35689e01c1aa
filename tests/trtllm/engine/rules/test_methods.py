"""Parameters of methods that this version runs pass; others are refused or told."""

import pytest

from tests.trtllm.engine.rules.findings import findings, only
from tests.trtllm.engine.samples import recipe
from trtspec.trtllm.engine.rules.methods import (
    known_trouble,
    lookahead_drafts,
    top_k_is_sampled,
    tree_is_known,
)

EAGLE_2 = {"tree": "dynamic", "dynamic_top_k": 4}


def of_batch(batch, method="eagle", **fields):
    return recipe(method, limits={"max_batch_size": batch}, **fields)


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


@pytest.mark.parametrize("top_k", [0, 1, 1024])
def test_top_k_that_the_runtime_goes_by_passes(top_k):
    assert not findings(top_k_is_sampled, sampled(top_k))


def test_larger_top_k_is_refused():
    finding = only(top_k_is_sampled, sampled(1025))
    assert (finding.severity, finding.where) == ("blocking", "sampling.top_k")
    assert finding.what == "top_k 1025 is above 1024"


def sampled(top_k):
    sampling = recipe().sampling.model_copy(update={"top_k": top_k})
    return recipe().model_copy(update={"sampling": sampling})
