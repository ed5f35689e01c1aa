"""Whole configurations per method and release, against what was written by hand."""

from __future__ import annotations

from itertools import product

import pytest
from packaging.version import Version

from tests.trtllm.pytorch.compile.golden import (
    NO_OVERLAP,
    PERF_METRICS_SINCE_1_1,
    ROWS,
    SERVED,
)
from tests.trtllm.pytorch.compile.recipes import NONE, VERSIONS, args, compiled
from trtspec.trtllm.pytorch.compile.validate import faults


def expected(row: str, version: str) -> dict:
    config = ROWS[row][1][version]
    whole = {**({"speculative_config": config} if config else {}), **SERVED}
    if version != "1.0.0":
        whole |= PERF_METRICS_SINCE_1_1
    elif row == "none":
        whole["enable_mixed_sampler"] = True
    if row in NO_OVERLAP[version]:
        whole["disable_overlap_scheduler"] = True
    return whole


@pytest.mark.parametrize(("row", "version"), list(product(ROWS, VERSIONS)))
def test_configuration_is_the_one_written_by_hand(row, version):
    speculation, by_version = ROWS[row]
    made = compiled(version, speculation)
    assert made.blocked == (by_version[version] is None), made.remarks
    if not made.blocked:
        assert made.args.to_dict() == expected(row, version)


@pytest.mark.parametrize(("row", "version"), list(product(ROWS, VERSIONS)))
def test_what_is_written_is_without_faults(row, version):
    made = compiled(version, ROWS[row][0])
    assert not faults(made.args.to_dict(), Version(version))


def test_first_setting_is_speculation_and_it_begins_with_the_method():
    made = compiled("1.2.1", ROWS["eagle3"][0])
    first = made.args.settings[0]
    assert first.key == "speculative_config"
    assert first.children[0].key == "decoding_type"


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("version", VERSIONS)
def test_every_line_says_why_it_is_there(row, version):
    made = compiled(version, ROWS[row][0])
    assert [".".join(p) for p, setting in made.args.leaves() if not setting.why] == []


def test_the_off_arm_differs_from_the_on_arm_by_speculation_alone():
    on, off = args("1.2.1", ROWS["eagle3"][0]), args("1.2.1", NONE)
    del on["speculative_config"]
    assert on == off


def test_a_version_of_no_family_is_refused_with_the_reason():
    (remark,) = compiled("1.3.0rc10", NONE).remarks
    assert remark.severity == "blocking"
    assert "1.3.0rc10" in remark.what
    assert "acceptance gate" in remark.why
    assert ">=1.3.0rc22" in remark.action
