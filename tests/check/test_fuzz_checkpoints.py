"""Any checkpoint at all: described, or refused in our words; no crash, no hang."""

from typing import get_args

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.check.fuzz import assert_said_well, attempt, fuzzed
from tests.check.fuzz_checkpoints import checkpoints, write
from tests.check.samples import content
from tests.check.test_fuzz_recipes import VERSIONS, findings_of
from tests.models.tiny import write_checkpoint
from trtspec.methods.base import DrafterKind
from trtspec.models.describe import describe
from trtspec.models.drafter import describe_drafter
from trtspec.models.inspection import inspect
from trtspec.models.inspection_fit import fits

KINDS = [kind for kind in get_args(DrafterKind) if kind != "model"]
LOADERS = ("tensorrt_llm", "reference")
METHODS = {
    "model": {"method": "draft_target", "draft_length": 4},
    "medusa": {"method": "medusa", "tree": [[0], [1], [0, 0]]},
    "eagle": {"method": "eagle", "tree": [[0], [0, 0]]},
    "eagle3": {"method": "eagle3", "draft_length": 4},
    "redrafter": {"method": "redrafter"},
    "dflash": {"method": "dflash", "draft_length": 4},
}
BACKENDS = st.sampled_from(["reference", "pytorch", "tensorrt"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    directory = tmp_path_factory.mktemp("fuzz")
    write_checkpoint(directory / "target")
    (directory / "drawn").mkdir()
    return directory


@fuzzed(0.5)
@given(drawn=checkpoints())
def test_any_checkpoint_is_described_or_refused_in_our_words(folder, drawn):
    directory = folder / "drawn"
    write(directory, *drawn)
    info = attempt(describe, directory)
    if info is not None:
        assert info.parameters >= 0
        assert info.layers > 0
    for kind in KINDS:
        for loader in LOADERS:
            found = attempt(describe_drafter, directory, kind, loader)
            assert found is None or found.kind == kind


@fuzzed(0.5)
@given(drawn=checkpoints())
def test_any_checkpoint_is_inspected_and_held_against_a_target(folder, drawn):
    directory = folder / "drawn"
    write(directory, *drawn)
    found = attempt(inspect, directory)
    assert found is not None, "an inspection reports problems, and never refuses"
    assert all(problem.what and problem.where for problem in found.problems)
    assert found.kind is None or found.facts or found.problems
    target = inspect(folder / "target")
    for one, other in ((found, target), (target, found)):
        assert all(fit.text for fit in fits(one, other))


@fuzzed(0.5)
@given(
    drawn=checkpoints(),
    backend=BACKENDS,
    version=st.sampled_from(VERSIONS),
    is_target=st.booleans(),
)
def test_any_checkpoint_is_checked_in_our_words(
    folder, drawn, backend, version, is_target
):
    kind = drawn[0]
    write(folder / "drawn", *drawn)
    speculation = {**METHODS[kind], "model": "./drawn"}
    target = "./target"
    if is_target:
        target, speculation = "./drawn", {"method": "ngram", "draft_length": 4}
    recipe = content(backend=backend, target={"model": target}, speculation=speculation)
    path = folder / "recipe.yaml"
    path.write_text(yaml.safe_dump(recipe, sort_keys=False))
    assert_said_well(attempt(findings_of, path, version) or ())
