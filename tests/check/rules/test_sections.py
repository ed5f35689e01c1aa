"""Sections of a recipe that only another backend understands."""

import pytest

from tests.check.samples import subject
from trtspec.check.rules.sections import sections_of_others


@pytest.mark.parametrize(
    ("section", "backend"),
    [
        ("engine", "pytorch"),
        ("engine", "reference"),
        ("pytorch", "tensorrt"),
        ("pytorch", "reference"),
    ],
)
def test_section_of_another_backend_is_a_note(section, backend):
    made = subject(backend=backend, **{section: {}})
    (finding,) = sections_of_others(made)
    assert (finding.severity, finding.where) == ("note", section)
    assert finding.what == f"section {section} has no effect on backend {backend}"


@pytest.mark.parametrize(
    ("section", "backend"), [("engine", "tensorrt"), ("pytorch", "pytorch")]
)
def test_section_of_the_backend_itself_passes(section, backend):
    assert not list(sections_of_others(subject(backend=backend, **{section: {}})))


def test_recipe_without_sections_passes():
    assert not list(sections_of_others(subject()))
