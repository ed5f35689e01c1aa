"""Methods that a backend does not have, and outputs that are not the target's own."""

import pytest
from packaging.version import Version

from tests.methods.samples import SMALLEST
from trtspec.check.rules.method import keeps_the_output, runs_on_backend
from trtspec.check.subject import Subject, key_itself
from trtspec.recipe import Recipe

ENGINE_ONLY = ["medusa", "eagle", "redrafter", "lookahead"]
PYTORCH_ONLY = ["suffix", "eagle3", "mtp", "pard", "dflash", "user", "auto"]
NEWEST_ONLY = ["suffix", "pard", "dflash"]
BY_TOKENS = ["ngram", "draft_target"]
NO_ENGINE = [m for m in PYTORCH_ONLY if m != "auto"]
ON_REFERENCE = ["none", *BY_TOKENS, *ENGINE_ONLY, *NO_ENGINE]
ON_ENGINES = ["none", *BY_TOKENS, *ENGINE_ONLY]
ON_PYTORCH = [m for m in SMALLEST if m not in (*ENGINE_ONLY, *NEWEST_ONLY)]
RUN_ON = {"tensorrt": ON_ENGINES, "pytorch": ON_PYTORCH, "reference": ON_REFERENCE}
TYPICAL = {"acceptance": "typical", "posterior_threshold": 0.1}


def subject(method, backend="tensorrt", temperature=0.0, *, version="1.2.1", **fields):
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
    return Subject(made, key_itself, version=Version(version) if version else None)


def only(findings):
    (finding,) = findings
    return finding


@pytest.mark.parametrize(
    ("method", "backend"),
    [(method, "tensorrt") for method in ON_ENGINES]
    + [(method, "pytorch") for method in ON_PYTORCH]
    + [(method, "reference") for method in ON_REFERENCE],
)
def test_method_that_the_backend_has_passes(method, backend):
    assert not list(runs_on_backend(subject(method, backend)))


@pytest.mark.parametrize("method", ENGINE_ONLY)
def test_method_that_the_backend_lacks_is_refused_with_where_it_runs(method):
    finding = only(runs_on_backend(subject(method, "pytorch")))
    assert (finding.severity, finding.where) == ("blocking", "speculation.method")
    assert f"method {method} does not run on backend pytorch" in finding.what
    assert finding.why == "it runs on: reference and tensorrt"
    assert finding.action == (
        "set backend: reference or backend: tensorrt, or choose another method; "
        "pytorch has ngram, draft_target, eagle3, mtp, user, auto"
    )
    assert finding.snippet == "backend: reference"
    assert finding.values["runs_on"] == ["reference", "tensorrt"]


@pytest.mark.parametrize(
    ("method", "backend", "homes"),
    [(method, "tensorrt", "reference and pytorch") for method in NO_ENGINE]
    + [("auto", "tensorrt", "pytorch"), ("auto", "reference", "pytorch")],
)
def test_a_home_is_named_once_however_many_releases_it_has(method, backend, homes):
    finding = only(runs_on_backend(subject(method, backend)))
    assert finding.why == f"it runs on: {homes}"
    assert set(finding.values["methods_here"]) == set(RUN_ON[backend]) - {"none"}
    assert not list(keeps_the_output(subject(method, backend)))


@pytest.mark.parametrize(
    ("method", "backend", "keys", "named"),
    [
        ("medusa", "tensorrt", TYPICAL, "medusa with acceptance: typical"),
        ("mtp", "pytorch", {"model": "d"}, "mtp with a model of its own"),
    ],
)
def test_what_only_the_reference_engine_does_is_refused_elsewhere(
    method, backend, keys, named
):
    finding = only(runs_on_backend(subject(method, backend, **keys)))
    assert finding.severity == "blocking"
    assert finding.what.startswith(f"method {named} does not run on backend {backend}")
    assert finding.why == "it runs on: reference"
    assert finding.action.startswith("set backend: reference, or choose another method")
    assert not list(runs_on_backend(subject(method, "reference", **keys)))


@pytest.mark.parametrize("method", NEWEST_ONLY)
def test_method_that_a_release_lacks_is_refused_with_those_that_have_it(method):
    finding = only(runs_on_backend(subject(method, "pytorch")))
    assert (finding.rule, finding.severity) == ("method", "blocking")
    assert finding.what == (
        f"method {method} is not established for TensorRT-LLM 1.2.1"
    )
    assert finding.why == "on backend pytorch it is for >=1.3.0rc22,<1.5"
    assert not list(keeps_the_output(subject(method, "pytorch", 1.0)))


@pytest.mark.parametrize("method", NEWEST_ONLY)
@pytest.mark.parametrize("version", ["1.3.0rc22", "1.4.0rc4", None])
def test_method_of_the_newest_releases_passes_there_and_exactly(method, version):
    newest = subject(method, "pytorch", 1.0, version=version)
    assert not list(runs_on_backend(newest))
    assert not list(keeps_the_output(newest))


@pytest.mark.parametrize("version", ["0.17.0", "1.3.0rc10", "9.9"])
@pytest.mark.parametrize("method", ["ngram", "suffix"])
def test_of_a_version_without_a_family_only_the_backend_s_own_rules_speak(
    method, version
):
    outside = subject(method, "pytorch", 1.0, version=version)
    assert not list(runs_on_backend(outside))
    assert not list(keeps_the_output(outside))


@pytest.mark.parametrize("version", ["1.0.0", "1.1.0"])
def test_sampling_is_refused_where_the_release_ignores_it(version):
    sampled = subject("eagle3", "pytorch", 0.7, version=version)
    finding = only(keeps_the_output(sampled))
    assert finding.severity == "blocking"
    assert finding.what == "lossy: eagle3 on backend pytorch, temperature 0.7"
    assert "sampling.temperature to 0, take TensorRT-LLM >=1.2,<1.3 or >=1.3.0rc22" in (
        finding.action
    )
    assert not list(keeps_the_output(subject("eagle3", "pytorch", version=version)))


def test_the_release_from_which_sampled_drafts_of_heads_are_exact_is_offered():
    finding = only(keeps_the_output(subject("mtp", "pytorch", 0.6, version="1.2.1")))
    assert "take TensorRT-LLM >=1.3.0rc22,<1.5, where it is exact" in finding.action


@pytest.mark.parametrize("method", ENGINE_ONLY)
def test_method_that_the_backend_lacks_is_not_called_lossy_as_well(method):
    assert not list(keeps_the_output(subject(method, "pytorch", 1.0)))


@pytest.mark.parametrize(
    ("method", "backend"),
    [(method, "tensorrt") for method in ON_ENGINES]
    + [(method, "pytorch") for method in ON_PYTORCH],
)
def test_greedy_decoding_keeps_the_output(method, backend):
    assert not list(keeps_the_output(subject(method, backend)))


@pytest.mark.parametrize("method", ON_REFERENCE)
def test_the_embedded_engine_keeps_the_output_when_sampling(method):
    assert not list(keeps_the_output(subject(method, "reference", 1.0)))


@pytest.mark.parametrize("method", ["eagle", "medusa"])
def test_typical_acceptance_changes_only_sampled_output_there(method):
    assert not list(keeps_the_output(subject(method, "reference", **TYPICAL)))
    finding = only(keeps_the_output(subject(method, "reference", 1.0, **TYPICAL)))
    assert (finding.severity, finding.action) == ("warning", "")
    assert finding.what == f"lossy: {method} on backend reference, temperature 1"


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
