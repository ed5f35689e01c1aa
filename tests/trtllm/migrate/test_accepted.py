"""Every result is accepted by classes that are as strict as the release's own."""

from __future__ import annotations

import pytest

from tests.standins.llm.classes import make_classes
from tests.trtllm.migrate.cases import CASES, IDS, sample
from trtspec.trtllm.facts.families import newest_of
from trtspec.trtllm.migrate.vendor import migrate_vendor

CHOSEN = [
    pytest.param(case, id=name)
    for case, name in zip(CASES, IDS, strict=True)
    if "result" in case.expected
]


@pytest.mark.parametrize("case", CHOSEN)
def test_a_result_is_accepted_without_a_deprecated_key(case):
    noted = []
    version = newest_of(case.target)
    classes = make_classes(version, lambda kind, **more: noted.append((kind, more)))
    read = sample(case.sample)
    result = migrate_vendor(read.values, version, case.source, read.lines)
    classes["LlmArgs"](model="org/target", **result.values)
    old = {more["key"] for kind, more in noted if kind == "deprecated"}
    kept = {"mtp_eagle_one_model"} if case.target == "1.2" else set()
    assert old <= kept, "1.2 warns of two-model MTP, and runs it"
