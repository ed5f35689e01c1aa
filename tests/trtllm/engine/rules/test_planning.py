"""What can be planned passes; what plan would refuse is found at its key."""

import pytest
from packaging.version import Version

from tests.methods.samples import SMALLEST
from tests.trtllm.engine.rules.findings import findings, only
from tests.trtllm.engine.samples import VERSIONS, recipe, stages
from trtspec.check.subject import Subject, key_itself
from trtspec.errors import BuildError, Problem
from trtspec.trtllm.engine.rules import ENGINE_RULES
from trtspec.trtllm.engine.rules.planning import (
    commands_are_established,
    family_is_known,
)
from trtspec.trtllm.examples import Examples
from trtspec.trtllm.facts import architectures
from trtspec.trtllm.installation import Installation, assumed_for

METHODS = sorted(architectures())
CANDIDATES = ("0.20.0rc3", "1.0.0rc0", "1.0.0rc6", "1.2.0rc1", "1.3.0rc20")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("method", METHODS)
def test_method_of_a_release_passes(method, version):
    assert not findings(commands_are_established, recipe(method), version)


@pytest.mark.parametrize("version", [*VERSIONS, *CANDIDATES])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("weights", ["none", "fp8", "nvfp4"])
def test_what_plan_refuses_is_found_before(method, version, weights):
    made = recipe(method, target={"quantization": weights})
    try:
        stages(made, version)
    except BuildError:
        subject, assumed = Subject(made, key_itself), assumed_for(version)
        found = [f for rule in ENGINE_RULES for f in rule(assumed, subject)]
        assert len([f for f in found if f.severity == "blocking"]) == 1
    else:
        assert not findings(commands_are_established, made, version)


def test_candidate_without_an_established_script_is_refused():
    finding = only(commands_are_established, recipe("ngram"), "0.20.0rc3")
    assert (finding.severity, finding.where) == ("blocking", "target.model")
    assert finding.what == (
        "no script is established for llama in this release candidate (0.20.0rc3)"
    )
    assert finding.action == "choose a final release"


def test_redrafter_of_a_candidate_is_refused_by_its_name_not_by_a_flag():
    finding = only(commands_are_established, recipe("redrafter"), "1.0.0rc3")
    assert (finding.severity, finding.where) == ("blocking", "speculation.method")
    assert "method redrafter" in finding.what
    assert "1.0.0rc3" in finding.what
    assert "--" not in finding.what


def test_nothing_is_refused_where_no_version_is_known_or_it_has_no_backend():
    for version in (None, "1.3.0rc21"):
        assert not findings(commands_are_established, recipe("redrafter"), version)
        made = recipe(target={"family": None})
        assert not findings(family_is_known, made, version)


def test_scripts_that_lack_a_flag_are_told_once(tmp_path):
    version = Version("1.2.1")
    script = tmp_path / "models/core/llama/convert_checkpoint.py"
    script.parent.mkdir(parents=True)
    script.write_text('parser.add_argument("--model_dir")\n')
    here = Installation(version=version, examples=Examples(tmp_path, None))
    subject = Subject(recipe(), key_itself)
    (finding,) = commands_are_established(here, subject)
    assert f"{script} does not define --output_dir, --dtype" in finding.what
    told = Subject(recipe(), key_itself, missing=(Problem("of another version"),))
    assert not list(commands_are_established(here, told))


@pytest.mark.parametrize("method", METHODS)
def test_family_that_is_stated_is_known(method):
    assert not findings(family_is_known, recipe(method))


def test_family_that_plan_needs_is_a_note():
    finding = only(family_is_known, recipe(target={"family": None}))
    assert (finding.severity, finding.where) == ("note", "target.model")
    assert finding.what == "plan needs target.family until the model is here"
    made = recipe("draft_target", family=None)
    finding = only(family_is_known, made)
    assert (finding.severity, finding.where) == ("note", "speculation.model")
    assert "speculation.family" in finding.what
    assert "family" not in SMALLEST["draft_target"]


def test_what_is_not_known_is_not_planned():
    made = recipe(target={"family": None})
    assert not findings(commands_are_established, made, "0.20.0rc3")


@pytest.mark.parametrize("method", sorted(SMALLEST.keys() - architectures().keys()))
def test_method_of_another_backend_is_left_to_the_rule_that_tells_it(method):
    assert not findings(commands_are_established, recipe(method), "1.0.0")
