"""All that keeps engines from running is told in one pass (case 8)."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.version import Version

from tests.trtllm.engine.run.artifacts import engine, recipe
from tests.trtllm.machines import H200
from trtspec.trtllm.engine.built_findings import (
    Built,
    engine_findings,
    rebuild_command,
)
from trtspec.trtllm.engine.run.load import Engines

WHERE = Path("engines/toy")


def found(
    target,
    method="ngram",
    *,
    capability="9.0",
    version="1.2.1",
    draft=None,
    gpus=(H200,),
    worker=None,
    **options,
):
    built = Built(recipe(method, **options), Engines(target, draft, capability), WHERE)
    return engine_findings(built, Version(version), gpus, worker)


def rules(*arguments, **named):
    return [finding.rule for finding in found(*arguments, **named)]


def test_case_8_in_one_pass_with_one_command_at_its_end():
    target = engine(
        version="0.17.0", max_draft_len=0, max_seq_len=80, paged_context_fmha=False
    )
    findings = found(target, capability="8.0", version="0.18.0", draft_length=6)
    assert [f.rule for f in findings] == [
        "engine-version",
        "engine-gpu",
        "engine-drafts",
        "engine-cache",
        "engine-rebuild",
    ]
    version, gpu, drafts, cache, rebuild = findings
    assert version.values == {"built_with": "0.17.0", "wanted": "0.18.0"}
    assert gpu.values == {"built_with": "8.0", "wanted": "9.0"}
    assert "capability 8.0, and the GPU here has 9.0" in gpu.what
    assert drafts.values == {"built_with": 0, "wanted": 6}
    assert "drafts 6 tokens" in drafts.what
    assert "max_draft_len 0 and speculative_decoding_mode none" in drafts.what
    assert "use_paged_context_fmha off" in cache.what
    assert {f.severity for f in findings[:4]} == {"blocking"}
    assert "\n" not in rebuild.snippet
    assert rebuild.snippet.startswith("trtllm-build --checkpoint_dir CHECKPOINT")
    assert "--speculative_decoding_mode draft_tokens_external" in rebuild.snippet
    assert "--max_draft_len 6" in rebuild.snippet
    assert "--use_paged_context_fmha enable" in rebuild.snippet


@pytest.mark.parametrize("method", ["ngram", "medusa", "eagle", "lookahead", "none"])
def test_an_engine_that_fits_gives_no_finding(method):
    assert found(engine(method), method) == []


@pytest.mark.parametrize(
    ("changes", "options", "expected"),
    [
        ({"max_draft_len": 3}, {"draft_length": 4}, ["engine-drafts"]),
        ({"mode": 1}, {}, ["engine-mode"]),
        ({"max_batch_size": 1, "max_seq_len": 30}, {}, ["engine-sizes"] * 3),
        ({"max_beam_width": 4}, {}, ["engine-beams"]),
        ({"kv_cache_quant": "INT8"}, {}, ["engine-cache"]),
        ({"version": "1.2.0"}, {}, ["engine-version"]),
    ],
)
def test_each_mismatch_has_a_rule(changes, options, expected):
    target = engine("ngram", **changes)
    assert rules(target, **options) == [*expected, "engine-rebuild"]


def test_trees_and_heads_that_differ_are_told():
    target = engine("medusa", extras={"num_medusa_heads": 1})
    assert rules(target, "medusa") == ["engine-tree", "engine-rebuild"]


def test_both_engines_of_a_pair_are_looked_at():
    draft = engine("none", version="1.1.0", max_beam_width=2)
    findings = found(
        engine("draft_target", version="1.1.0"), "draft_target", draft=draft
    )
    told = [(f.rule, f.where.rpartition(" ")[0].rpartition(" ")[2]) for f in findings]
    assert told[:3] == [
        ("engine-version", "target"),
        ("engine-version", "draft"),
        ("engine-beams", "draft"),
    ]


def test_gpus_that_are_not_known_are_not_counted():
    target = engine("ngram", tp_size=2)
    assert rules(target, tensor_parallel=2, gpus=()) == []
    assert rules(target, tensor_parallel=2) == ["engine-parallel", "engine-rebuild"]


def test_an_engine_that_does_not_name_its_gpu_is_a_note():
    (finding,) = found(engine("ngram"), capability=None)
    assert (finding.rule, finding.severity) == ("engine-gpu", "note")


def test_a_version_without_a_builder_has_no_command():
    assert rebuild_command(recipe("ngram"), Version("1.3.0rc21")) == ""
    (*_, last) = found(engine("ngram"), version="1.3.0rc21")
    assert (last.rule, last.snippet) == ("engine-rebuild", "")
