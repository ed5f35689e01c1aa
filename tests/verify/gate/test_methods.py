"""Which methods the gate passes, by backend and version, greedy and sampled."""

from __future__ import annotations

import pytest

from tests.verify.gate.asking import SAMPLED, SETTINGS, judged, of, recipe
from trtspec.methods import Method, lossy_reason
from trtspec.methods.catalogue import settings
from trtspec.verify.gate import gate

ON_REFERENCE = sorted(set(SETTINGS) - {"auto", "user"})


@pytest.mark.parametrize("method", ON_REFERENCE)
@pytest.mark.parametrize("sampling", [{}, SAMPLED], ids=["greedy", "sampled"])
def test_exact_acceptance_on_the_reference_engine_passes(method, sampling):
    result = judged("reference", method, sampling=sampling)

    assert result.verdict == "pass"
    assert result.reasons == ()
    assert result.mode == ("sampled" if sampling else "greedy")
    assert all(each.effect == "lossless" for each in result.inspected)


@pytest.mark.parametrize(
    ("method", "word"),
    [
        ("ngram", "p(2-p)"),
        ("draft_target", "p(2-p)"),
        ("medusa", "ignores temperature"),
        ("eagle", "decodes greedily"),
        ("lookahead", "decodes greedily"),
        ("redrafter", "ignores sampling"),
    ],
)
def test_engines_fail_when_requests_are_sampled(method, word):
    result = judged("tensorrt", method, "1.2.1", sampling=SAMPLED)

    assert result.verdict == "fail"
    assert word in result.reasons[0]
    assert of(result, "speculation.method").source


@pytest.mark.parametrize(
    "method", ["ngram", "draft_target", "medusa", "eagle", "lookahead", "redrafter"]
)
def test_engines_pass_when_requests_are_greedy(method):
    assert judged("tensorrt", method, "1.2.1").verdict == "pass"


def test_draft_logits_make_a_draft_model_exact():
    result = judged(
        "tensorrt", "draft_target", "1.2.1", sampling=SAMPLED, use_draft_logits=True
    )

    assert result.verdict == "pass"
    assert of(result, "speculation.use_draft_logits").value == "true"


def test_top_k_of_one_leaves_engines_nothing_to_choose():
    sampling = {"temperature": 0.7, "top_k": 1}

    result = judged("tensorrt", "ngram", "1.2.1", sampling=sampling)
    assert (result.mode, result.verdict) == ("greedy", "pass")


def test_top_k_of_one_still_samples_among_ties_on_the_reference_engine():
    sampling = {"temperature": 0.7, "top_k": 1}
    given = {"acceptance": "typical", "posterior_threshold": 0.09}

    result = judged("reference", "medusa", sampling=sampling, **given)
    assert (result.mode, result.verdict) == ("sampled", "fail")


TYPICAL = {"acceptance": "typical", "posterior_threshold": 0.09}


@pytest.mark.parametrize("method", ["medusa", "eagle"])
def test_typical_acceptance_fails_with_its_threshold_named(method):
    result = judged("reference", method, sampling=SAMPLED, **TYPICAL)

    assert result.verdict == "fail"
    assert of(result, "speculation.acceptance").effect == "lossy"
    assert of(result, "speculation.posterior_threshold").value == "0.09"


def test_typical_acceptance_goes_by_argmax_for_greedy_requests_here():
    result = judged("reference", "eagle", **TYPICAL)

    assert result.verdict == "pass"
    assert "argmax" in of(result, "speculation.posterior_threshold").meaning


def test_typical_acceptance_fails_on_engines_even_greedy():
    assert judged("tensorrt", "eagle", "1.2.1", **TYPICAL).verdict == "fail"


RELAXED = {"acceptance": "relaxed", "relaxed_top_k": 10, "relaxed_delta": 0.6}


@pytest.mark.parametrize("sampling", [{}, SAMPLED], ids=["greedy", "sampled"])
@pytest.mark.parametrize(
    ("backend", "version"), [("reference", None), ("pytorch", "1.4.0rc4")]
)
def test_relaxed_acceptance_fails_everywhere(backend, version, sampling):
    result = judged(backend, "mtp", version, sampling=sampling, **RELAXED)

    assert result.verdict == "fail"
    assert of(result, "speculation.relaxed_delta").effect == "lossy"


def test_sampling_beam_search_fails_on_engines():
    result = judged("tensorrt", "redrafter", "1.2.1", greedy_search=False)

    assert result.verdict == "fail"
    assert "favours likely tokens" in result.reasons[0]


@pytest.mark.parametrize(
    ("method", "version", "verdict"),
    [
        ("eagle3", "1.0.0", "fail"),
        ("eagle3", "1.1.0", "fail"),
        ("eagle3", "1.2.1", "pass"),
        ("eagle3", "1.4.0rc4", "pass"),
        ("mtp", "1.1.0", "fail"),
        ("mtp", "1.2.1", "cannot tell"),
        ("mtp", "1.4.0rc4", "pass"),
        ("ngram", "1.0.0", "fail"),
        ("ngram", "1.1.0", "cannot tell"),
        ("ngram", "1.2.1", "pass"),
        ("draft_target", "1.0.0", "fail"),
        ("draft_target", "1.2.1", "pass"),
        ("suffix", "1.4.0rc4", "pass"),
        ("pard", "1.4.0rc4", "pass"),
        ("dflash", "1.4.0rc4", "pass"),
        ("auto", "1.0.0", "fail"),
        ("user", "1.2.1", "pass"),
    ],
)
def test_what_releases_do_to_sampled_requests(method, version, verdict):
    result = judged("pytorch", method, version, sampling=SAMPLED)

    assert result.verdict == verdict
    assert judged("pytorch", method, version).verdict == "pass"


@pytest.mark.parametrize("version", ["1.2.0rc3", "1.3.0rc10", "1.5.0", "0.21.0"])
@pytest.mark.parametrize("sampling", [{}, SAMPLED], ids=["greedy", "sampled"])
def test_a_release_of_no_family_is_never_passed(version, sampling):
    result = judged("pytorch", "eagle3", version, sampling=sampling)

    assert result.verdict == "cannot tell"
    assert "not established" in result.reasons[0]


def test_a_method_that_a_release_lacks_is_never_passed():
    assert judged("pytorch", "suffix", "1.2.1").verdict == "cannot tell"
    assert judged("pytorch", "medusa", "1.2.1").verdict == "cannot tell"


def test_without_a_version_it_is_not_passed_where_versions_differ():
    result = judged("pytorch", "eagle3", sampling=SAMPLED)

    assert result.verdict == "cannot tell"
    assert "depends on the version" in result.reasons[0]
    assert result.version is None


def test_without_a_version_what_all_do_decides():
    assert judged("tensorrt", "ngram", sampling=SAMPLED).verdict == "fail"


def test_a_tree_of_mtp_is_documented_for_greedy_requests_only():
    tree = {"tree": "dynamic", "tree_top_k": 4}

    sampled = judged("pytorch", "mtp", "1.4.0rc4", sampling=SAMPLED, **tree)
    assert sampled.verdict == "cannot tell"
    assert judged("pytorch", "mtp", "1.4.0rc4", **tree).verdict == "pass"


def test_a_drafter_of_the_user_is_believed_for_greedy_requests_only():
    sampled = judged("reference", "user", sampling=SAMPLED)

    assert sampled.verdict == "cannot tell"
    assert "drafter of the user's own" in sampled.reasons[0]
    assert judged("reference", "user").verdict == "pass"


def test_allowing_lossy_output_does_not_make_it_lossless():
    result = judged("tensorrt", "ngram", "1.2.1", sampling=SAMPLED, allow_lossy=True)

    assert result.verdict == "fail"
    assert of(result, "speculation.allow_lossy").effect == "lossless"


def test_two_models_have_their_own_rule():
    given = {"two_model": True}

    assert judged("pytorch", "eagle3", "1.1.0", sampling=SAMPLED).verdict == "fail"
    two = judged("pytorch", "eagle3", "1.1.0", sampling=SAMPLED, **given)
    assert two.verdict == "cannot tell"


def _all_settings() -> list[Method]:
    return [each.method for name in SETTINGS for each in settings(name)]


@pytest.mark.parametrize("version", [None, "1.0.0", "1.1.0", "1.2.1", "1.4.0rc4"])
@pytest.mark.parametrize("backend", ["reference", "tensorrt", "pytorch"])
def test_nothing_passes_that_the_methods_call_lossy(backend, version):
    from packaging.version import Version

    checked = 0
    for method in _all_settings():
        for temperature in (0.0, 0.7):
            asked = {"temperature": temperature}
            made = recipe(backend, "none", sampling=asked)
            made = made.model_copy(update={"speculation": method})
            parsed = Version(version) if version else None
            result = gate(made, version=parsed, environment={})
            sampled = temperature > 0
            reason = lossy_reason(method, backend, parsed, sampled=sampled)
            assert result.verdict != "pass" or not reason
            assert result.verdict == "pass" or result.reasons
            checked += 1
    assert checked > 40
