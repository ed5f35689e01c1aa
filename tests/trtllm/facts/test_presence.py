"""Which versions have the backend."""

import pytest
from packaging.version import Version

from tests.trtllm.facts.numbers import CANDIDATES, DRIVEN, WITHOUT_BACKEND
from trtspec.trtllm import facts


@pytest.mark.parametrize("version", [*DRIVEN, *CANDIDATES], ids=str)
def test_versions_with_the_backend(version):
    assert facts.has_backend(version)


@pytest.mark.parametrize("version", WITHOUT_BACKEND, ids=str)
def test_versions_without_it(version):
    assert not facts.has_backend(version)


def test_removal_is_the_end_of_the_range():
    removal = facts.removal()
    assert facts.has_backend(Version(removal.last))
    assert not facts.has_backend(Version(removal.first_without))
    assert "trtllm-build" in removal.what
    assert removal.source


def test_releases_ascend_and_have_the_backend():
    numbers = [Version(release.version) for release in facts.releases()]
    assert numbers == sorted(set(numbers))
    assert set(DRIVEN) < set(numbers)
    assert all(map(facts.has_backend, numbers))


@pytest.mark.parametrize(
    ("version", "built_on"),
    [
        ("0.17.0.post1", "10.8.0"),
        ("0.20.0", "10.10.0"),
        ("1.2.1", "10.14.1"),
        ("1.3.0rc3", None),
    ],
)
def test_tensorrt_that_a_version_is_built_on(version, built_on):
    assert facts.tensorrt_version(Version(version)) == built_on


def test_each_release_is_built_on_one_tensorrt_at_most():
    for release in facts.releases():
        assert facts.tensorrt_version(Version(release.version))
