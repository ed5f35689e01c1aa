"""Which family a version belongs to, and why it belongs to none."""

import pytest
from packaging.version import Version

from tests.trtllm.facts.numbers_pytorch import NEWEST, OF_NO_FAMILY
from trtspec.trtllm import facts
from trtspec.trtllm.versions import contains, is_specifier


@pytest.mark.parametrize(
    ("version", "family"),
    [
        ("1.0.0", "1.0"),
        ("1.0.0.post2", "1.0"),
        ("1.0.3", "1.0"),
        ("1.1.0", "1.1"),
        ("1.1.0.post1", "1.1"),
        ("1.2.0", "1.2"),
        ("1.2.1", "1.2"),
        ("1.2.1+cu130", "1.2"),
        ("1.3.0rc22", "main"),
        ("1.3.0rc24.post1", "main"),
        ("1.3.0", "main"),
        ("1.4.0rc4", "main"),
    ],
)
def test_versions_of_a_family(version, family):
    assert facts.family_of(Version(version)) == family
    assert facts.why_no_family(Version(version)) == ""


@pytest.mark.parametrize(
    ("version", "because"),
    [
        ("0.21.0", "before 1.0"),
        ("1.0.0rc3", "candidates of 1.0"),
        ("1.0.0.dev1", "candidates of 1.0"),
        ("1.1.0rc2.post2", "candidates of 1.1"),
        ("1.2.0rc6.post3", "candidates of 1.2"),
        ("1.2.0.dev20260101", "candidates of 1.2"),
        ("1.3.0.dev0", "means what it does in 1.2"),
        ("1.3.0rc7", "means what it does in 1.2"),
        ("1.3.0rc8", "still the old keys"),
        ("1.3.0rc20.post1", "still the old keys"),
        ("1.3.0rc21", "not established"),
        ("1.5.0rc0", "newer than every release"),
        ("2.0.0", "newer than every release"),
    ],
)
def test_versions_of_no_family_and_why(version, because):
    assert facts.family_of(Version(version)) is None
    assert because in facts.why_no_family(Version(version))


def test_a_version_that_no_zone_names_is_not_established(monkeypatch):
    monkeypatch.setattr("trtspec.trtllm.facts.families.zones", lambda: ())
    why = facts.why_no_family(Version("1.2.0rc1"))
    assert why == "no source establishes what it accepts"


@pytest.mark.parametrize("version", OF_NO_FAMILY, ids=str)
def test_each_version_without_a_family_lies_in_one_zone(version):
    held = [zone for zone in facts.zones() if contains(zone.versions, version)]
    assert len(held) == 1
    assert is_specifier(held[0].versions)
    assert len(held[0].source) > 5


@pytest.mark.parametrize("version", NEWEST, ids=str)
def test_no_zone_reaches_into_a_family(version):
    assert not [z for z in facts.zones() if contains(z.versions, version)]


def test_the_newest_of_each_family_is_one_of_it():
    assert tuple(facts.family_ranges()) == facts.FAMILIES
    for family in facts.FAMILIES:
        assert facts.family_of(facts.newest_of(family)) == family


def test_the_newest_versions_are_those_whose_sources_were_read():
    newest = [str(facts.newest_of(family)) for family in facts.FAMILIES]
    assert newest == ["1.0.0", "1.1.0", "1.2.1", "1.4.0rc4"]
