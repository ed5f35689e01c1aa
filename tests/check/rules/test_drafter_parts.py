"""Check tells a head that lost a tensor, or has one too many, from its headers."""

from dataclasses import replace

import pytest

from tests.check.samples import MODEL, subject
from tests.models.drafters import write_eagle, write_eagle3, write_medusa
from trtspec.check.rules.drafter_parts import drafter_tensors
from trtspec.models.drafter import describe_drafter
from trtspec.models.drafter_files import loader_of
from trtspec.models.parts import Parts

EAGLE3 = {"method": "eagle3", "model": "./head", "draft_length": 2}
BACKENDS = ("reference", "pytorch")


def findings(directory, backend, parts=None, *, kind="eagle3", method=EAGLE3):
    info = describe_drafter(directory, kind, loader_of(backend))
    info = info if parts is None else replace(info, parts=parts)
    looked_at = subject(MODEL, backend=backend, speculation=method)
    return list(drafter_tensors(replace(looked_at, drafter=info)))


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_whole_head_has_no_finding(tmp_path, backend):
    assert findings(write_eagle3(tmp_path), backend) == []


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_missing_tensor_blocks(tmp_path, backend):
    lost = Parts(missing=("midlayer.hidden_norm.weight", "norm.weight"))
    (finding,) = findings(write_eagle3(tmp_path), backend, lost)
    assert (finding.rule, finding.severity) == ("drafter-tensors", "blocking")
    assert finding.where == "speculation.model"
    assert "lack 2 tensors: midlayer.hidden_norm.weight, norm.weight" in finding.what
    assert finding.values == {"missing": ["midlayer.hidden_norm.weight", "norm.weight"]}
    assert finding.action


@pytest.mark.parametrize(
    ("backend", "severity"), [("reference", "blocking"), ("pytorch", "warning")]
)
def test_a_left_over_tensor_blocks_where_heads_are_loaded_strictly(
    tmp_path, backend, severity
):
    parts = Parts(left_over=("fusion.weight",))
    (finding,) = findings(write_eagle3(tmp_path), backend, parts)
    assert finding.severity == severity
    assert "fusion.weight" in finding.what
    assert ("no draft is accepted" in finding.why) is (backend == "pytorch")


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_tensor_of_another_shape_blocks_with_both_shapes(tmp_path, backend):
    parts = Parts(misshapen=(("norm.weight", (7,), (8,)),))
    (finding,) = findings(write_eagle3(tmp_path), backend, parts)
    assert finding.severity == "blocking"
    assert finding.values["stored"] == [7]
    assert finding.values["wanted"] == [8]


@pytest.mark.parametrize(
    ("kind", "write", "method"),
    [
        ("medusa", write_medusa, {"method": "medusa", "model": "./head"}),
        ("eagle", write_eagle, {"method": "eagle", "model": "./head"}),
    ],
)
def test_heads_of_other_kinds_are_held_against_their_own(tmp_path, kind, write, method):
    parts = Parts(left_over=("odd.weight",))
    directory = write(tmp_path)
    (finding,) = findings(directory, "reference", parts, kind=kind, method=method)
    assert f"{kind} drafter" in finding.what


MTP = {"method": "mtp", "draft_length": 1}


@pytest.mark.parametrize(
    ("backend", "severity"), [("reference", "blocking"), ("pytorch", "warning")]
)
def test_next_token_heads_of_the_target_are_the_targets_matter(backend, severity):
    target = replace(MODEL, next_token_parts=Parts(missing=("model.layers.2.enorm",)))
    looked_at = subject(target, speculation=MTP, backend=backend)
    (finding,) = drafter_tensors(looked_at)
    assert finding.severity == severity
    assert finding.where == "target.model"
    assert "target's next-token heads lack 1 tensor: model.layers.2.enorm" in (
        finding.what
    )


def test_next_token_heads_do_not_matter_to_other_methods():
    target = replace(MODEL, next_token_parts=Parts(missing=("model.layers.2.enorm",)))
    assert list(drafter_tensors(subject(target))) == []


def test_heads_that_are_named_beside_the_target_take_its_place():
    target = replace(MODEL, next_token_parts=Parts(missing=("model.layers.2.enorm",)))
    named = {**MTP, "model": "./heads"}
    assert list(drafter_tensors(subject(target, speculation=named))) == []
