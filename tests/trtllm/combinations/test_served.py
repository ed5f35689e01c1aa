"""What is asked of a server beside speculation: each kind of feature, by version."""

import json

import pytest
from packaging.version import Version

from tests.trtllm.combinations.asking import found, only, recipe, told
from tests.trtllm.pytorch.compile.recipes import target
from trtspec.trtllm.pytorch.compile import compile_args

LORA = {"lora_config": {"max_lora_rank": 8}}


def asked(method="eagle3", version="1.2.1", *, feature, fields=None, **options):
    return told(recipe(method, options=options, **(fields or {})), version, feature)


def words(findings):
    return [(one.rule, one.severity) for one in findings]


TREE = {"tree": "dynamic", "tree_top_k": 4, "tree_tokens": 8}
REFUSED = [("combination-refused", "blocking")]
WRONG = [("combination-wrong", "blocking")]
BROKEN = [("combination-broken", "blocking")]
IGNORED = [("combination-ignored", "warning")]
UNTESTED = [("combination-untested", "warning")]
UNKNOWN = [("combination-unknown", "warning")]


@pytest.mark.parametrize(
    ("method", "version", "key", "feature", "wanted"),
    [
        ("eagle3", "1.2.0rc8", "pipeline_parallel_size", "pipeline_parallel", REFUSED),
        ("mtp", "1.3.0rc20", "pipeline_parallel_size", "pipeline_parallel", REFUSED),
        ("user", "1.2.0rc2", "pipeline_parallel_size", "pipeline_parallel", REFUSED),
        ("suffix", "1.3.0rc20", "context_parallel_size", "context_parallel", REFUSED),
        ("user", "1.2.0rc2", "context_parallel_size", "context_parallel", UNKNOWN),
        ("user", "1.2.0rc2", "max_beam_width", "beams", UNKNOWN),
    ],
)  # fmt: skip
def test_parallelism(method, version, key, feature, wanted):
    findings = asked(method, version, feature=feature, llm_args={key: 2})
    assert words(findings) == wanted
    assert not asked(method, version, feature=feature, llm_args={key: 1})


@pytest.mark.parametrize("version", ["1.0.0", "1.2.1", "1.4.0rc4"])
@pytest.mark.parametrize(
    ("key", "feature"),
    [
        ("pipeline_parallel_size", "pipeline_parallel"),
        ("context_parallel_size", "context_parallel"),
        ("max_beam_width", "beams"),
    ],
)
def test_what_the_configuration_refuses_is_told_there_alone(version, key, feature):
    assert not asked("eagle3", version, feature=feature, llm_args={key: 2})


@pytest.mark.parametrize(
    ("method", "version", "wanted"),
    [
        ("eagle3", "1.2.1", UNTESTED),
        ("mtp", "1.2.0", UNTESTED),
        ("dflash", "1.4.0rc4", UNTESTED),
        ("eagle3", "1.0.0", UNKNOWN),
        ("auto", "1.2.1", BROKEN),
        ("ngram", "1.1.0", BROKEN),
    ],
)
def test_lora(method, version, wanted):
    options = {"llm_args": LORA, "cuda_graphs": False}
    findings = asked(method, version, feature="lora", **options)
    assert words(findings) == wanted


def test_lora_with_cuda_graphs_is_refused_on_1_2_and_the_key_is_named():
    findings = asked("mtp", "1.2.1", feature="lora", llm_args=LORA)
    refused = [one for one in findings if one.rule == "combination-refused"]
    assert [one.action for one in refused] == ["write pytorch.cuda_graphs: false"]
    assert "LoRA and CUDA graphs is not supported" in refused[0].what
    assert refused[0].snippet == "pytorch:\n  cuda_graphs: false"


def test_a_request_with_an_adapter_asks_for_lora(tmp_path):
    line = {"prompt": "a", "lora_request": {"lora_name": "a", "lora_int_id": 1}}
    (tmp_path / "prompts.jsonl").write_text(json.dumps(line) + "\n")
    made = recipe("ngram", options={"cuda_graphs": False})
    made = made.model_copy(update={"workload": workload("prompts.jsonl")})
    finding = only(made, "1.4.0rc4", "lora", base=tmp_path)
    assert finding.rule == "combination-untested"
    assert finding.where.endswith("prompts.jsonl:1")


def workload(prompts):
    from trtspec.recipe.schema import Workload

    return Workload(prompts=prompts)


@pytest.mark.parametrize(
    ("method", "version", "fields", "wanted"),
    [
        ("mtp", "1.2.1", {"draft_length": 3}, UNTESTED),
        ("mtp", "1.2.1", {"draft_length": 1}, []),
        ("eagle3", "1.2.1", {}, []),
        ("eagle3", "1.4.0rc4", TREE, WRONG),
        ("ngram", "1.4.0rc4", {}, []),
        ("eagle3", "1.3.0rc9", {"draft_length": {8: 4}}, BROKEN + UNKNOWN),
        ("eagle3", "1.5.0", {}, UNKNOWN),
    ],
)  # fmt: skip
def test_guided_decoding(method, version, fields, wanted):
    findings = asked(
        method, version, feature="guided_decoding", fields=fields,
        guided_decoding="xgrammar",
    )  # fmt: skip
    assert words(findings) == wanted


@pytest.mark.parametrize("version", ["1.0.0", "1.1.0"])
def test_guided_decoding_that_the_configuration_cannot_have_is_told_once(version):
    assert not asked(
        "eagle3", version, feature="guided_decoding", guided_decoding="xgrammar"
    )


@pytest.mark.parametrize(
    ("method", "version", "option", "feature", "wanted"),
    [
        ("ngram", "1.2.1", "overlap_scheduler", "overlap_scheduler", IGNORED),
        ("draft_target", "1.0.0", "overlap_scheduler", "overlap_scheduler", IGNORED),
        ("mtp", "1.2.1", "overlap_scheduler", "overlap_scheduler", []),
        ("draft_target", "1.0.0", "block_reuse", "kv_reuse", IGNORED),
        ("mtp", "1.0.0", "block_reuse", "kv_reuse", UNTESTED),
        ("eagle3", "1.2.1", "block_reuse", "kv_reuse", []),
        ("mtp", "1.0.0", "chunked_prefill", "chunked_prefill", UNTESTED),
        ("ngram", "1.2.1", "chunked_prefill", "chunked_prefill", UNKNOWN),
        ("pard", "1.4.0rc4", "chunked_prefill", "chunked_prefill", []),
        ("eagle3", "1.1.0", "attention_dp", "attention_dp", []),
        ("draft_target", "1.2.1", "attention_dp", "attention_dp", UNKNOWN),
        ("suffix", "1.4.0rc4", "cuda_graphs", "cuda_graphs", []),
        ("draft_target", "1.1.0", "cuda_graphs", "cuda_graphs", UNKNOWN),
    ],
)
def test_a_switch_that_the_recipe_sets(method, version, option, feature, wanted):
    assert words(asked(method, version, feature=feature, **{option: True})) == wanted
    assert not asked(method, version, feature=feature, **{option: False})


def test_reuse_with_eagle3_on_the_newest_releases_has_a_weakness_that_is_told():
    (finding,) = asked("eagle3", "1.3.0rc22", feature="kv_reuse")
    assert (finding.rule, finding.severity) == ("combination-weakness", "note")
    assert "0.19 to 0.03" in finding.why
    assert not asked("eagle3", "1.4.0rc4", feature="kv_reuse")


@pytest.mark.parametrize(
    ("method", "version", "wanted"),
    [
        ("eagle3", "1.0.0", REFUSED),
        ("eagle3", "1.1.0", UNKNOWN),
        ("mtp", "1.0.0", []),
        ("ngram", "1.2.1", UNKNOWN),
        ("ngram", "1.4.0rc4", []),
    ],
)
def test_disaggregated_serving(method, version, wanted):
    args = {"cache_transceiver_config": {"backend": "DEFAULT"}}
    findings = asked(method, version, feature="disaggregated", llm_args=args)
    assert words(findings) == wanted


@pytest.mark.parametrize(
    ("method", "version", "wanted"),
    [
        ("mtp", "1.2.1", BROKEN),
        ("eagle3", "1.4.0rc1", REFUSED),
        ("ngram", "1.4.0rc4", REFUSED),
        ("ngram", "1.2.1", UNKNOWN),
    ],
)
def test_logits_for_logprobs(method, version, wanted):
    args = {"gather_generation_logits": True}
    findings = asked(method, version, feature="generation_logits", llm_args=args)
    assert words(findings) == wanted


@pytest.mark.parametrize("version", ["1.0.0", "1.2.1", "1.4.0rc4"])
def test_draft_model_is_shared_as_the_target_is_and_compiling_says_so(version):
    made = recipe("draft_target", target={"tensor_parallel": 4}, tensor_parallel=1)
    assert not told(made, version, "draft_tensor_parallel")
    remarks = compile_args(made, Version(version)).remarks
    assert [r.values for r in remarks if r.rule == "draft-parallel"] == [
        {"draft": 1, "target": 4}
    ]


def test_draft_model_is_shared_as_the_target_is_in_candidates_too():
    made = recipe("draft_target", target={"tensor_parallel": 4}, tensor_parallel=1)
    finding = only(made, "1.3.0rc9", "draft_tensor_parallel")
    assert finding.rule == "combination-ignored"
    assert "1 of the draft model, 4 of the target" in finding.what


def test_draft_size_that_is_the_targets_or_not_stated_passes():
    same = recipe("draft_target", target={"tensor_parallel": 4}, tensor_parallel=4)
    unsaid = recipe("draft_target", target={"tensor_parallel": 4})
    for made in (same, unsaid):
        assert not told(made, "1.2.1", "draft_tensor_parallel")


@pytest.mark.parametrize(
    ("version", "options", "wanted"),
    [
        ("1.1.0", {"chunked_prefill": True}, BROKEN + UNTESTED),
        ("1.0.0", {}, UNTESTED),
        ("1.2.1", {"chunked_prefill": True}, UNKNOWN),
    ],
)
def test_fp8_cache_beside_a_head_in_16_bits(version, options, wanted):
    made = recipe("eagle3", options={"kv_cache": "fp8", **options})
    findings = told(made, version, "draft_precision", draft=target())
    assert sorted(words(findings)) == sorted(wanted)
    quantized = target(dtype="float8_e4m3fn")
    assert not told(made, version, "draft_precision", draft=quantized)


def test_defaults_that_nobody_established_are_one_note():
    findings = found(recipe("ngram"), "1.2.1")
    assert words(findings) == [("combination-unknown", "note")]
    assert findings[0].values["features"] == ["cuda_graphs", "kv_reuse"]


@pytest.mark.parametrize("version", ["1.3.0rc10", "2.0"])
def test_of_a_release_that_is_refused_as_a_whole_defaults_are_not_told(version):
    findings = found(recipe("ngram"), version)
    assert ("combination-unknown", "note") not in words(findings)


@pytest.mark.parametrize("version", ["1.0.0", "1.2.1", "1.3.0rc7"])
def test_method_that_the_version_lacks_is_no_matter_of_combinations(version):
    known = version != "1.3.0rc7"
    made = recipe("suffix", options={"llm_args": {"max_beam_width": 2}})
    assert bool(found(made, version)) != known


@pytest.mark.parametrize(
    ("method", "version", "severities"),
    [
        ("mtp", "1.1.0", ["note"]),
        ("eagle3", "1.2.1", ["note"]),
        ("eagle3", "1.4.0rc4", []),
    ],
)
def test_target_with_sliding_windows(method, version, severities):
    sliding = target(sliding_window=128)
    findings = told(recipe(method), version, "sliding_window", target=sliding)
    assert [one.severity for one in findings] == severities
    assert {one.rule for one in findings} <= {"combination-untested"}


def test_a_dynamic_tree_over_sliding_windows_is_told_by_the_rule_tree_alone():
    sliding = target(sliding_window=128)
    made = recipe("eagle3", draft_length=4, **TREE)
    assert not told(made, "1.4.0rc4", "sliding_window", target=sliding)
    remarks = compile_args(made, Version("1.4.0rc4"), sliding).remarks
    assert [r.severity for r in remarks if r.rule == "tree"] == ["warning"]
