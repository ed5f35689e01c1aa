"""Version numbers and ranges of TensorRT-LLM."""

import pytest
from packaging.specifiers import InvalidSpecifier
from packaging.version import Version

from trtspec.errors import UsageError
from trtspec.trtllm import versions


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("0.17.0", "0.17.0"),
        ("v0.20.0", "0.20.0"),
        ("0.17.0.post1", "0.17.0.post1"),
        ("1.3.0rc20", "1.3.0rc20"),
        (" 1.2.1\n", "1.2.1"),
        ("1.2.0rc6.post2+cu13", "1.2.0rc6.post2+cu13"),
    ],
)
def test_version_numbers_are_read(text, meant):
    assert versions.parse(text) == Version(meant)


@pytest.mark.parametrize("text", ["", "latest", "1.2.x", "tensorrt_llm==1.0"])
def test_what_is_no_version_number_is_refused_with_its_place(text):
    with pytest.raises(UsageError) as refused:
        versions.parse(text, where="--trtllm-version")
    (problem,) = refused.value.problems
    assert problem.where == "--trtllm-version"
    assert "1.2.1" in problem.allowed


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("1,2", "write --trtllm 1.2"),
        ("1, 2, 1", "write --trtllm 1.2.1"),
        ("1_3_0rc20", "write --trtllm 1.3.0rc20"),
        ("tensorrt_llm==1.0.0", "write --trtllm 1.0.0"),
        ("1.2.x", "write --trtllm 1.2"),
        ("latest", ""),
        ("main", ""),
    ],
)
def test_the_number_that_was_meant_is_named(text, meant):
    with pytest.raises(UsageError) as refused:
        versions.parse(text, where="--trtllm")
    assert refused.value.problems[0].action == meant


@pytest.mark.parametrize(
    ("specifier", "inside", "outside"),
    [
        (">=0.17", ["0.17.0", "0.17.0.post1", "1.3.0rc1"], ["0.16.0", "0.17.0rc1"]),
        (">=1.0.0rc0", ["1.0.0rc0", "1.0.0rc4", "1.0.0"], ["0.21.0"]),
        ("<1.2", ["1.1.0", "1.1.0rc3"], ["1.2.0rc0", "1.2.0"]),
        (">=0.17,<=1.3.0rc20", ["1.3.0rc20"], ["1.3.0rc21", "1.3.0"]),
        (">=0.18,<0.20", ["0.18.2", "0.19.0"], ["0.20.0rc1", "0.20.0"]),
        ("==1.0.*", ["1.0.0", "1.0.0rc2"], ["1.1.0"]),
    ],
)
def test_ranges_hold_release_candidates_that_lie_in_them(specifier, inside, outside):
    assert all(versions.contains(specifier, Version(number)) for number in inside)
    assert not any(versions.contains(specifier, Version(number)) for number in outside)


def test_local_part_of_a_version_plays_no_role():
    assert versions.contains("<=1.2.1", Version("1.2.1+cu13"))
    assert versions.contains("==1.2.1", Version("1.2.1+local.4"))


def test_unreadable_range_is_an_error():
    with pytest.raises(InvalidSpecifier):
        versions.contains("from 0.19 on", Version("0.19.0"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (">=0.17", True),
        (">=0.19,<1.2.0rc0", True),
        ("", False),
        ("  ", False),
        ("0.17", False),
        ("since 0.17", False),
    ],
)
def test_range_names_at_least_one_bound(text, expected):
    assert versions.is_specifier(text) is expected
