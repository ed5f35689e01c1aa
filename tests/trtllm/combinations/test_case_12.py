"""Case 12: a matrix of features and hardware by version, candidates told apart."""

import pytest

from tests.trtllm.combinations.asking import found, only, recipe, told

PIPELINE = {"llm_args": {"pipeline_parallel_size": 2}}
LORA = {"llm_args": {"enable_lora": True}}


def test_pipeline_of_two_is_refused_and_named_with_speculation():
    finding = only(recipe("ngram", options=PIPELINE), "1.2.0rc2", "pipeline_parallel")
    assert (finding.rule, finding.severity) == ("combination-refused", "blocking")
    assert finding.what == (
        "speculation (ngram) with pipeline parallelism is not supported on "
        "TensorRT-LLM 1.2.0rc2 (pipeline_parallel_size: 2)"
    )
    assert "issues/9009" in finding.source


def test_lora_with_ngram_is_refused_at_1_3_0rc9_with_the_fix():
    options = LORA | {"cuda_graphs": False}
    finding = only(recipe("ngram", options=options), "1.3.0rc9", "lora")
    assert (finding.rule, finding.severity) == ("combination-broken", "blocking")
    assert "shape error" in finding.why
    assert "fixed in: pull request 12661" in finding.why


@pytest.mark.parametrize("version", ["1.3.0rc10", "1.3.0rc22", "1.4.0rc4"])
def test_lora_with_ngram_is_untested_upstream_later(version):
    finding = only(recipe("ngram", options=LORA), version, "lora")
    assert (finding.rule, finding.severity) == ("combination-untested", "warning")
    assert "untested upstream" in finding.why
    assert finding.action == "run the parity test with the adapter on"


@pytest.mark.parametrize(
    ("version", "blocks"),
    [
        ("1.2.0rc8", True),
        ("1.2.0rc1", True),
        ("1.3.0rc9", True),
        ("1.2.1", False),
        ("1.4.0rc4", False),
    ],
)
def test_eagle3_on_compute_capability_12_names_the_fix(version, blocks):
    finding = only(recipe("eagle3"), version, "compute_capability", capability="12.0")
    assert finding.severity == ("blocking" if blocks else "warning")
    assert "compute capability 12.0" in finding.what
    is_wrong = version.startswith("1.2.0rc")  # bad text, where 1.3.0rc9 only hangs
    assert (finding.rule == "combination-wrong") == is_wrong
    assert "pull request 12795" in finding.why.replace(
        "pull requests 8944 and", "pull request"
    )


@pytest.mark.parametrize("asked", [PIPELINE, LORA], ids=["pipeline", "lora"])
@pytest.mark.parametrize("version", ["1.5.0", "2.0.0", None])
def test_an_unknown_version_is_a_warning_never_silence(asked, version):
    made = recipe("ngram", options=asked)
    warnings = [one for one in found(made, version) if one.severity == "warning"]
    assert [one.rule for one in warnings] == ["combination-unknown"]


def test_an_unknown_version_says_nothing_where_nothing_is_asked_for():
    assert not found(recipe("ngram"), None)


@pytest.mark.parametrize("version", ["1.2.0rc2", "1.2.1", None])
def test_without_speculation_there_is_nothing_to_go_together(version):
    assert not found(recipe("none", options=PIPELINE), version, capability="12.0")


@pytest.mark.parametrize("version", ["1.2.0rc8", "1.3.0rc9"])
def test_eagle3_passes_on_hopper(version):
    assert not told(recipe("eagle3"), version, "compute_capability", capability="9.0")
