"""A neighbour release's spelling or meaning never goes unnoticed.

Each key of ``speculative_config`` is replaced by what the release next to it would
write. Either the facts find a fault, or it is another name that the release accepts too
and that the configurations written by hand do not have.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from packaging.version import Version

from tests.trtllm.pytorch.compile.golden import ROWS
from tests.trtllm.pytorch.compile.recipes import args
from trtspec.trtllm.facts.families import FAMILIES, newest_of
from trtspec.trtllm.facts.llm_args import class_of, decoding_type, keys
from trtspec.trtllm.pytorch.compile.validate import faults

NEIGHBOURS = [*pairwise(FAMILIES), *((b, a) for a, b in pairwise(FAMILIES))]
SAME = (
    ("decoding_type",),
    ("max_draft_len", "num_nextn_predict_layers"),
    ("speculative_model", "speculative_model_dir"),
    ("BEGIN_THINKING_PHASE_TOKEN", "begin_thinking_phase_token"),
    ("END_THINKING_PHASE_TOKEN", "end_thinking_phase_token"),
    ("draft_len_schedule", "max_concurrency"),
)
"""Keys that say the same thing in different releases."""
CUT_OFF = "eagle3 up to eight"
"""The newest releases make a schedule of max_concurrency: the same meaning."""


def golden(row: str, family: str) -> dict[str, Any] | None:
    return ROWS[row][1][str(newest_of(family))]


def group(key: str) -> tuple[str, ...]:
    return next((same for same in SAME if key in same), (key,))


def mutations() -> Iterator[tuple[str, str, str, str]]:
    """Rows, releases, neighbours and keys that both write differently."""
    for row in ROWS:
        for family, neighbour in NEIGHBOURS:
            ours, theirs = golden(row, family), golden(row, neighbour)
            for key in ours or {}:
                other = {k: v for k, v in (theirs or {}).items() if k in group(key)}
                if other and other != {key: (ours or {})[key]}:
                    yield row, family, neighbour, key


CASES = list(mutations())


def test_there_is_something_to_mutate():
    mutated = {(family, neighbour) for _, family, neighbour, _ in CASES}
    assert mutated == set(NEIGHBOURS) - {("1.0", "1.1"), ("1.1", "1.0")}


@pytest.mark.parametrize(("row", "family", "neighbour", "key"), CASES)
def test_the_neighbour_s_spelling_is_a_fault(row, family, neighbour, key):
    ours, theirs = golden(row, family), golden(row, neighbour)
    swapped = {k: v for k, v in ours.items() if k not in group(key)}
    swapped |= {k: v for k, v in theirs.items() if k in group(key)}
    assert swapped != ours
    found = faults({"speculative_config": swapped}, newest_of(family))
    another_name = (family, neighbour, key) == ("1.2", "1.1", "speculative_model")
    same_meaning = (row, family, neighbour) == (CUT_OFF, "main", "1.2")
    # taken, 0 included, and read otherwise: migrate warns of it
    another_reading = (family, key) == ("main", "draft_len_schedule")
    taken = another_name or another_reading
    assert bool(found) != (taken or (same_meaning and key != "decoding_type"))


def strangers() -> Iterator[tuple[str, str, str, str]]:
    """Keys that a release's neighbour writes and the release does not know."""
    for row in ROWS:
        for family, neighbour in NEIGHBOURS:
            ours, theirs = golden(row, family), golden(row, neighbour)
            if not ours or not theirs:
                continue
            version = newest_of(family)
            known = keys(class_of(ours["decoding_type"], version), version)
            for key in sorted(set(theirs) - set(known) - {"decoding_type"}):
                yield row, family, neighbour, key


STRANGERS = list(strangers())


def test_there_is_something_to_add():
    assert {key for *_, key in STRANGERS} >= {
        *("speculative_model", "allow_advanced_sampling"),
        *("begin_thinking_phase_token", "BEGIN_THINKING_PHASE_TOKEN"),
    }


@pytest.mark.parametrize(("row", "family", "neighbour", "key"), STRANGERS)
def test_a_key_that_only_the_neighbour_knows_is_a_fault(row, family, neighbour, key):
    ours, theirs = golden(row, family), golden(row, neighbour)
    added = {"speculative_config": {**ours, key: theirs[key]}}
    problems = faults(added, newest_of(family))
    assert any(problem.where.endswith(f".{key}") for problem in problems)


SERVED = {
    "none": {"method": "none"},
    "eagle3": {"method": "eagle3", "model": "org/head", "draft_length": 4},
}


@pytest.mark.parametrize("row", SERVED)
@pytest.mark.parametrize(("family", "neighbour"), NEIGHBOURS)
def test_what_only_the_neighbour_serves_with_is_a_fault(row, family, neighbour):
    theirs = args(str(newest_of(neighbour)), SERVED[row])
    del theirs["speculative_config" if row == "eagle3" else "dtype"]
    known = keys("TorchLlmArgs", newest_of(family))
    foreign = {problem.where for problem in faults(theirs, newest_of(family))}
    assert foreign == set(theirs) - set(known)


def test_each_release_serves_with_something_that_its_elder_lacks():
    lacking = {
        family: set(args(str(newest_of(neighbour)), SERVED["none"]))
        - set(keys("TorchLlmArgs", newest_of(family)))
        for family, neighbour in [("1.0", "1.1"), ("1.1", "1.0")]
    }
    assert lacking["1.0"] == {"return_perf_metrics"}
    assert lacking["1.1"] == {"enable_mixed_sampler"}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_type_of_another_release_is_a_fault(family):
    version = newest_of(family)
    for other in FAMILIES:
        for name in ("EagleDecodingConfig", "Eagle3DecodingConfig"):
            check_type(decoding_type(name, newest_of(other)), name, version)
        for name in ("DraftTargetDecodingConfig", "SADecodingConfig"):
            check_type(decoding_type(name, newest_of(other)), name, version)


def check_type(spelled: str | None, name: str, version: Version) -> None:
    if spelled is None or decoding_type(name, version) == spelled:
        return
    config = {
        "decoding_type": spelled,
        "max_draft_len": 3,
        "speculative_model_dir": "d",
    }
    problems = faults({"speculative_config": config}, version)
    assert any(p.where == "speculative_config.decoding_type" for p in problems)


def test_the_schedule_of_each_release_is_a_fault_or_means_something_else_there():
    early = dict(golden("eagle3 by batch", "1.2"))
    late = dict(golden("eagle3 by batch", "main"))
    early["draft_len_schedule"], late["draft_len_schedule"] = (
        late["draft_len_schedule"],
        early["draft_len_schedule"],
    )
    (missing,) = faults({"speculative_config": early}, newest_of("1.2"))
    assert "no key 1" in missing.what
    # the newest releases accept it, the 0 at its end too, and read it otherwise: the
    # configurations written by hand and the readings in test_schedule tell the two
    # apart, and migrate warns of it
    assert late["draft_len_schedule"][33] == 0
    assert not faults({"speculative_config": late}, newest_of("main"))
