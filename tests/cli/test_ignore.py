"""``--ignore`` on plan and build, and what is said of such an artifact later."""

import json

import pytest
from click.testing import CliRunner

from tests.build.projects import Lines, write_project
from tests.models.tiny import CONTEXT
from trtspec.cli import build, plan
from trtspec.cli.artifact import open_or_build
from trtspec.errors import FindingsError, UsageError

LONG = {"limits": {"max_total_tokens": CONTEXT + 1}}
IGNORE = ["--ignore", "context-length"]


@pytest.fixture(autouse=True)
def _own_caches(caches, monkeypatch):
    monkeypatch.setenv("TRTSPEC_CACHE", str(caches))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.fixture
def lines():
    """Keeps what is told."""
    return Lines()


@pytest.fixture
def run(tmp_path):
    """Runs a command on a recipe with too long sequences; errors are raised."""
    recipe = str(write_project(tmp_path, **LONG))

    def run(command, *options):
        engines = ["--engines", str(tmp_path / "engines")]
        arguments = [recipe, *engines, *options]
        return CliRunner().invoke(command, arguments, catch_exceptions=False)

    return run


@pytest.mark.parametrize("command", [plan.command, build.command], ids=lambda c: c.name)
def test_without_the_option_the_recipe_is_refused(run, command):
    with pytest.raises(FindingsError, match="max_total_tokens"):
        run(command)


@pytest.mark.parametrize("command", [plan.command, build.command], ids=lambda c: c.name)
@pytest.mark.parametrize("rule", ["lossless", "context-lenght"])
def test_what_cannot_be_ignored_is_refused_at_once(run, command, rule):
    with pytest.raises(UsageError, match=f"--ignore: .*{rule}"):
        run(command, "--ignore", rule)


def test_plan_names_the_rules_that_it_ignores(run):
    result = run(plan.command, *IGNORE)
    assert "ignored      context-length" in result.stdout.splitlines()
    document = json.loads(run(plan.command, *IGNORE, "--json").stdout)
    assert document["ignored"] == ["context-length"]


def test_build_tells_what_it_ignores_and_so_does_the_artifact(run, lines):
    result = run(build.command, *IGNORE, "--json")
    document = json.loads(result.stdout)
    assert document["ignored"] == ["context-length"]
    assert "ignored: " in result.stderr
    artifact = open_or_build(document["artifact"], "engines", lines.progress)
    assert artifact.manifest.ignored == ("context-length",)
    assert lines[-1] == f"{artifact.path}: built with --ignore context-length"
