"""A version or a family's name can be given; what belongs to none is refused."""

from __future__ import annotations

import pytest

from trtspec.errors import UsageError
from trtspec.trtllm.migrate.target import family_meant, version_meant


@pytest.mark.parametrize(
    ("text", "version", "family"),
    [
        ("1.2.1", "1.2.1", "1.2"),
        ("1.2", "1.2.1", "1.2"),
        ("1.0", "1.0.0", "1.0"),
        ("main", "1.4.0rc4", "main"),
        ("1.3.0rc23", "1.3.0rc23", "main"),
        ("v1.1.0", "1.1.0", "1.1"),
    ],
)
def test_a_version_or_a_family_is_read(text, version, family):
    found = version_meant(text, "--to")
    assert str(found) == version
    assert family_meant(found, "--to") == family


@pytest.mark.parametrize("text", ["newest", "1.x", ""])
def test_what_is_no_version_is_refused(text):
    with pytest.raises(UsageError, match="not a version number"):
        version_meant(text, "--to")


@pytest.mark.parametrize("text", ["0.20.0", "1.3.0rc10", "1.2.0rc3"])
def test_a_version_of_no_family_is_refused_with_the_families(text):
    with pytest.raises(UsageError) as caught:
        family_meant(version_meant(text, "--from"), "--from")
    (problem,) = caught.value.problems
    assert problem.where == "--from"
    assert ">=1.3.0rc22" in problem.allowed
