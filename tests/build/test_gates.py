"""Whether a build stops before anything slow when it could not end well."""

from dataclasses import replace

import pytest
from packaging.version import Version

from tests.build.projects import load, write_project
from trtspec.build.gates import (
    refuse_blocking,
    require_backend,
    require_no_findings,
    tell_unused,
)
from trtspec.build.progress import SILENT
from trtspec.check import Finding
from trtspec.errors import BackendUnavailableError, FindingsError, Problem


class Backend:
    name, version, rules = "toy", None, ()

    def missing(self, formats=()):
        return [
            Problem(f"{name} not installed", action=f"pip install {name}")
            for name in sorted(formats)
        ]


def finding(severity, what="it is so", why="that is why"):
    return Finding("rule", severity, "x.yaml:3", what, why, "do this")


def test_backend_that_has_all_is_let_through():
    require_backend(Backend())


def test_everything_that_is_missing_is_named_at_once():
    with pytest.raises(BackendUnavailableError) as caught:
        require_backend(Backend(), {"a", "b"})
    assert caught.value.exit_code == 4
    assert len(caught.value.problems) == 2
    assert "backend toy is not available here: a not installed" in str(caught.value)


def test_warnings_are_told_and_do_not_stop(lines):
    refuse_blocking([finding("warning"), finding("note", "quiet")], lines.progress)
    assert lines == ["warning: x.yaml:3: it is so (rule)"]


def test_all_blocking_findings_are_in_the_error(lines):
    findings = [finding("blocking", "one"), finding("blocking", "two", "")]
    with pytest.raises(FindingsError) as caught:
        refuse_blocking(findings, lines.progress)
    text = str(caught.value)
    assert "x.yaml:3: one (rule): that is why" in text
    assert "x.yaml:3: two (rule)\n" in text
    assert "do: do this" in text
    assert caught.value.exit_code == 3


def test_sound_recipe_passes(tmp_path, lines):
    require_no_findings(load(write_project(tmp_path)), Backend(), lines.progress)
    assert lines == []


def test_limits_beyond_the_model_block(tmp_path, lines):
    recipe = write_project(tmp_path, limits={"max_total_tokens": 4096})
    with pytest.raises(FindingsError, match="4096"):
        require_no_findings(load(recipe), Backend(), lines.progress)


class Strict(Backend):
    """A backend with rules of its own, which know its version."""

    version = Version("1.2.1")

    @property
    def rules(self):
        return (self.refuses,)

    def refuses(self, subject):
        yield finding("blocking", f"{subject.recipe.name} on {subject.version}")


def test_rules_of_the_backend_are_looked_at_with_its_version(tmp_path, lines):
    with pytest.raises(FindingsError, match=r"tiny on 1\.2\.1"):
        require_no_findings(load(write_project(tmp_path)), Strict(), lines.progress)


def test_what_is_to_be_copied_stands_below_what_to_do():
    found = replace(finding("blocking"), snippet="limits:\n  max_batch_size: 4")
    with pytest.raises(FindingsError) as caught:
        refuse_blocking([found], SILENT)
    assert str(caught.value).endswith(
        "do: do this\n    limits:\n      max_batch_size: 4"
    )


def test_an_ignored_finding_is_told_if_it_would_block_and_else_not(lines):
    ignored = [replace(finding(s), ignored=True) for s in ("blocking", "warning")]
    refuse_blocking(ignored, lines.progress)
    assert lines == ["ignored: x.yaml:3: it is so (rule)"]


def test_rules_without_a_finding_are_told_to_be_ignored_in_vain(lines):
    found = [finding("warning")]
    tell_unused(found, ("rule", "tree"), lines.progress)
    assert lines == ["no finding of tree: there is nothing to ignore"]
