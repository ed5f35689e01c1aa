"""Real-looking files of every family become what a reader of the facts expects."""

from __future__ import annotations

import pytest

from tests.trtllm.migrate.cases import CASES, IDS, SAMPLES, sample
from trtspec.errors import UsageError
from trtspec.recipe.dump import flow_text
from trtspec.recipe.yaml_lines import dotted, parse_yaml
from trtspec.trtllm.facts.families import FAMILIES, newest_of
from trtspec.trtllm.migrate.document import render
from trtspec.trtllm.migrate.vendor import migrate_vendor
from trtspec.trtllm.pytorch.compile.validate import faults


def moved(case):
    read = sample(case.sample)
    return migrate_vendor(read.values, newest_of(case.target), case.source, read.lines)


WITH_RESULT = [case for case in CASES if "result" in case.expected]
RESULT_IDS = [one for one, case in zip(IDS, CASES, strict=True) if case in WITH_RESULT]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_sample_becomes_what_is_expected(case):
    if case.expected.get("ambiguous"):
        with pytest.raises(UsageError, match="and becomes"):
            moved(case)
        return
    result = moved(case)
    blocked = [dotted(c.path) for c in result.changes if c.kind == "blocked"]
    assert blocked == case.expected.get("blocked", [])
    if "result" in case.expected:
        assert flow_text(result.values) == flow_text(case.expected["result"])


@pytest.mark.parametrize("case", WITH_RESULT, ids=RESULT_IDS)
def test_a_result_has_no_fault_and_needs_no_further_change(case):
    result = moved(case)
    version = newest_of(case.target)
    found = {
        problem.where.rpartition(".")[2] for problem in faults(result.values, version)
    }
    kept = {"mtp_eagle_one_model"} if case.target == "1.2" else set()
    assert found <= kept, "1.2 warns of two-model MTP, and runs it"
    assert not migrate_vendor(result.values, version, case.target).alters


@pytest.mark.parametrize("case", WITH_RESULT, ids=RESULT_IDS)
def test_the_written_file_reads_back_as_the_result(case):
    result = moved(case)
    text = render(result.values, result.changes, ("heading",))
    assert parse_yaml(text, "result").value == result.values


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_every_change_of_a_key_in_the_file_names_its_line(path):
    read = sample(path)
    text = path.read_text(encoding="utf-8").splitlines()
    family = path.parent.name
    for target in FAMILIES:
        result = migrate_vendor(read.values, newest_of(target), family, read.lines)
        for change in result.changes:
            if change.line is not None and change.kind != "warned":
                assert str(change.path[-1]) in text[change.line - 1]
            if change.path in read.lines:
                assert change.line == read.lines[change.path]
            assert change.reason


def test_there_are_ten_samples_per_family_and_each_has_an_expected_result():
    for family in FAMILIES:
        names = {p.stem for p in SAMPLES if p.parent.name == family}
        assert len(names) == 10
        expected = {c.sample.stem for c in CASES if c.sample.parent.name == family}
        assert names == expected
        others = {c.sample.stem for c in CASES if c.target != family}
        assert names <= others
