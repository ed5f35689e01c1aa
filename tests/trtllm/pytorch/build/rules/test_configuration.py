"""Whether all that compiling remarks becomes a finding at its key."""

import json

import pytest
import yaml

from tests.trtllm.pytorch.build.rules.findings import found, only, subject_of
from trtspec.trtllm.installation import assumed_for
from trtspec.trtllm.pytorch.build.rules import PYTORCH_RULES, pytorch_rules
from trtspec.trtllm.pytorch.build.rules.configuration import can_be_expressed
from trtspec.trtllm.pytorch.compile import compile_args
from trtspec.trtllm.versions import parse


def test_blocking_remark_is_a_blocking_finding(tmp_path):
    finding = only(can_be_expressed, subject_of(tmp_path, "suffix"))
    assert (finding.rule, finding.severity) == ("method", "blocking")
    assert finding.where == "speculation.method"
    assert "1.2.1 has no method suffix" in finding.what


def test_every_remark_is_told(tmp_path):
    subject = subject_of(tmp_path, "eagle3", draft_length={1: 4, 2: 1})
    remarks = compile_args(subject.recipe, parse("1.0.0"), subject.target).remarks
    findings = found(can_be_expressed, subject, "1.0.0")
    assert [f.what for f in findings] == [remark.what for remark in remarks]
    assert findings


def test_findings_carry_snippet_source_and_values(tmp_path):
    schedule = {"draft_length": {1: 4, 2: 1}}
    subject = subject_of(tmp_path, "eagle3", limits={"max_batch_size": 8}, **schedule)
    findings = found(can_be_expressed, subject, "1.4.0rc4")
    stale = next(f for f in findings if f.rule == "draft-length")
    section = yaml.safe_load(stale.snippet)
    assert section == {"speculation": {"draft_length": {1: 4, 2: 1, 8: 1}}}
    assert stale.source == "https://github.com/NVIDIA/TensorRT-LLM/pull/16888"
    assert stale.values["last_drafted_batch"] == 2
    assert json.loads(json.dumps(stale.values))


@pytest.mark.parametrize(
    "key", ["pipeline_parallel_size", "context_parallel_size", "max_beam_width"]
)
@pytest.mark.parametrize("version", ["1.0.0", "1.1.0", "1.2.1", "1.4.0rc4"])
def test_what_does_not_go_with_speculation_is_one_finding(tmp_path, key, version):
    options = {"llm_args": {key: 2}}
    subject = subject_of(tmp_path, "eagle3", pytorch=options)
    findings = [
        f for rule in pytorch_rules(assumed_for(version)) for f in rule(subject)
    ]
    about = [f for f in findings if key in f"{f.where} {f.what}"]
    assert [(f.rule, f.severity) for f in about] == [("llm-args", "blocking")]


def test_note_about_a_drafter_of_the_users_own_is_carried(tmp_path):
    finding = only(can_be_expressed, subject_of(tmp_path, "user"))
    assert (finding.severity, finding.where) == ("note", "speculation.drafter")
    assert "trtllm-serve cannot have it" in finding.why


@pytest.mark.parametrize("version", [None, "1.3.0rc5", "0.20.0"])
def test_without_a_family_nothing_is_compiled(tmp_path, version):
    assert not found(can_be_expressed, subject_of(tmp_path, "suffix"), version)


@pytest.mark.parametrize("method", ["none", "ngram", "draft_target", "eagle3"])
def test_recipe_that_fits_gives_no_finding_from_any_rule(tmp_path, method):
    subject = subject_of(tmp_path, method)
    rules = pytorch_rules(assumed_for("1.2.1"))
    assert len(rules) == len(PYTORCH_RULES)
    severities = {f.severity for rule in rules for f in rule(subject)}
    assert not severities & {"blocking", "warning"}


def test_rules_do_not_need_the_models(tmp_path):
    subject = subject_of(tmp_path, "eagle3", known=False)
    for rule in pytorch_rules(assumed_for("1.2.1")):
        assert not list(rule(subject))
