"""Missing software and too little memory are told with the numbers."""

from dataclasses import replace

import pytest

from tests.check.rules.drafters import MEDUSA
from tests.check.samples import DRAFT, MODEL, subject
from trtspec.check.rules.machine import installation, memory
from trtspec.errors import Problem

LIMITS = {"max_batch_size": 8, "max_input_tokens": 100, "max_total_tokens": 1000}
WEIGHTS = 2 * 1_000_000
CACHE = 8 * (1000 + 4 + 1) * (2 * 2 * 1 * 4 * 2)


def with_memory(free, **limits):
    return subject(free_memory=free, limits={**LIMITS, **limits})


def only(findings):
    (finding,) = findings
    return finding


def test_nothing_missing_gives_no_finding():
    assert not list(installation(subject()))


def test_each_missing_package_is_blocking_with_the_line_that_installs_it():
    lacks = [
        Problem("torch not installed", action="pip install trtspec[reference]"),
        Problem("gguf not installed", action="pip install trtspec[demo]"),
    ]
    findings = list(installation(subject(missing=lacks)))
    assert [finding.what for finding in findings] == [p.what for p in lacks]
    assert [finding.action for finding in findings] == [p.action for p in lacks]
    assert {finding.severity for finding in findings} == {"blocking"}
    assert {finding.where for finding in findings} == {"backend"}


def fitting(found):
    """Give the least memory with which nothing is found."""
    low, high = 0, 1 << 40
    while high - low > 1:
        middle = (low + high) // 2
        quiet = not list(memory(replace(found, free_memory=middle)))
        low, high = (low, middle) if quiet else (middle, high)
    return high


ALL = {**LIMITS, "kv_cache_fraction": 1.0}


def test_weights_are_counted_in_the_wanted_type():
    as_float32 = subject(target={"dtype": "float32"}, limits=ALL)
    assert fitting(subject(limits=ALL)) == WEIGHTS + CACHE
    assert fitting(as_float32) == 2 * (WEIGHTS + CACHE)


def test_a_slot_holds_a_sequence_and_its_draft_for_each_model():
    assert fitting(subject(MODEL, DRAFT, limits=ALL)) == WEIGHTS + 200_000 + 2 * CACHE


def test_enough_memory_gives_no_finding():
    assert not list(memory(with_memory(WEIGHTS + CACHE, kv_cache_fraction=1.0)))


def test_a_cache_that_does_not_fit_is_a_warning():
    free = WEIGHTS + CACHE - 1
    finding = only(memory(with_memory(free, kv_cache_fraction=1.0)))
    assert finding.severity == "warning"
    assert "KV cache" in finding.what


def test_the_fraction_is_what_the_cache_may_take_of_the_rest():
    free = WEIGHTS + 2 * CACHE
    assert not list(memory(with_memory(free, kv_cache_fraction=0.5)))
    finding = only(memory(with_memory(free, kv_cache_fraction=0.49)))
    assert "kv_cache_fraction 0.49" in finding.what


def test_weights_that_do_not_fit_are_blocking_with_both_numbers():
    finding = only(memory(with_memory(WEIGHTS - 1)))
    assert finding.severity == "blocking"
    assert finding.where == "target.model"
    assert "in bfloat16" in finding.what
    assert "GiB of memory are free" in finding.what


@pytest.mark.parametrize("found", [subject(None, free_memory=0), subject()])
def test_without_a_model_or_a_number_nothing_can_be_said(found):
    assert not list(memory(found))


def test_a_drafter_counts_as_it_is_stored():
    medusa = replace(subject(MODEL, limits=ALL), drafter=MEDUSA)
    assert fitting(medusa) == WEIGHTS + CACHE + MEDUSA.weight_bytes
