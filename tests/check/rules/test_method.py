"""Methods that a backend does not have, and outputs that are not the target's own."""

import pytest
from packaging.version import Version

from tests.methods.samples import SMALLEST
from trtspec.check.rules.method import keeps_the_output, runs_on_backend
from trtspec.check.subject import Subject, key_itself
from trtspec.recipe import Recipe

ENGINE_ONLY = ["medusa", "eagle", "redrafter", "lookahead"]
BY_TOKENS = ["ngram", "draft_target"]
TYPICAL = {"acceptance": "typical", "posterior_threshold": 0.1}


def subject(method, backend="tensorrt", temperature=0.0, **fields):
    made = Recipe.model_validate(
        {
            "schema": "trtspec/v1",
            "name": "sample",
            "backend": backend,
            "target": {"model": "./target"},
            "speculation": SMALLEST[method] | fields,
            "sampling": {"temperature": temperature},
        }
    )
    return Subject(made, key_itself, version=Version("1.2.1"))


def only(findings):
    (finding,) = findings
    return finding


@pytest.mark.parametrize(
    ("method", "backend"),
    [(method, "tensorrt") for method in SMALLEST]
    + [(method, "reference") for method in ("none", *BY_TOKENS)],
)
def test_method_that_the_backend_has_passes(method, backend):
    assert not list(runs_on_backend(subject(method, backend)))


@pytest.mark.parametrize("method", ENGINE_ONLY)
def test_method_that_the_backend_lacks_is_refused_with_where_it_runs(method):
    finding = only(runs_on_backend(subject(method, "reference")))
    assert (finding.severity, finding.where) == ("blocking", "speculation.method")
    assert f"method {method} does not run on backend reference" in finding.what
    assert finding.why == "it runs on: tensorrt"
    assert finding.action.startswith("set backend: tensorrt")


@pytest.mark.parametrize("method", ENGINE_ONLY)
def test_method_that_the_backend_lacks_is_not_called_lossy_as_well(method):
    assert not list(keeps_the_output(subject(method, "reference", 1.0)))


@pytest.mark.parametrize("method", SMALLEST)
def test_greedy_decoding_keeps_the_output(method):
    assert not list(keeps_the_output(subject(method)))


@pytest.mark.parametrize("method", ["none", *BY_TOKENS])
def test_the_embedded_engine_keeps_the_output_when_sampling(method):
    assert not list(keeps_the_output(subject(method, "reference", 1.0)))


@pytest.mark.parametrize("method", BY_TOKENS)
def test_drafts_by_tokens_are_refused_when_sampling(method):
    finding = only(keeps_the_output(subject(method, temperature=0.7)))
    assert (finding.rule, finding.severity) == ("lossless", "blocking")
    assert finding.where == "speculation.method"
    assert finding.what == f"lossy: {method} on backend tensorrt, temperature 0.7"
    assert "p(2-p)" in finding.why
    assert "sampling.temperature to 0" in finding.action
    assert "allow_lossy: true" in finding.action


def test_drafts_by_logits_keep_the_output_when_sampling():
    logits = subject("draft_target", temperature=0.7, use_draft_logits=True)
    assert not list(keeps_the_output(logits))


@pytest.mark.parametrize("method", ENGINE_ONLY)
def test_methods_that_ignore_the_temperature_are_refused_with_one(method):
    finding = only(keeps_the_output(subject(method, temperature=1.0)))
    assert finding.severity == "blocking"
    assert finding.what == f"lossy: {method} on backend tensorrt, temperature 1"


@pytest.mark.parametrize("method", [*BY_TOKENS, *ENGINE_ONLY])
def test_what_the_recipe_allows_is_a_warning(method):
    finding = only(keeps_the_output(subject(method, temperature=1.0, allow_lossy=True)))
    assert finding.severity == "warning"
    assert finding.what.startswith("lossy: ")
    assert finding.action == ""


def test_method_that_is_never_exact_is_told_even_when_greedy():
    finding = only(keeps_the_output(subject("redrafter", greedy_search=False)))
    assert finding.severity == "blocking"
    assert finding.what == "lossy: redrafter on backend tensorrt, greedy"
    assert finding.action.startswith("set speculation.greedy_search: true, or accept")
    both = only(
        keeps_the_output(subject("redrafter", "tensorrt", 1.0, greedy_search=False))
    )
    assert both.action.startswith(
        "set speculation.greedy_search: true and set sampling.temperature to 0, or"
    )
    # who asks for typical acceptance has accepted it
    finding = only(keeps_the_output(subject("eagle", **TYPICAL)))
    assert finding.severity == "warning"
    assert "entropy threshold" in finding.why
