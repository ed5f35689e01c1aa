"""Which models the reference engine cannot run with drafts, as inspect says."""

import pytest

from tests.models.tiny import write_checkpoint, write_gguf
from trtspec.check.rules.model import family_is_supported, layers_roll_back
from trtspec.methods.catalogue import PLACES
from trtspec.models.families import reference_refuses
from trtspec.models.inspection import inspect
from trtspec.models.inspection_services import services

CUT_BACK = ["full_attention", "sliding_attention"]
CASES = {
    "plain": ({}, ""),
    "windows": ({"layer_types": CUT_BACK, "sliding_window": 8}, ""),
    "listed": (
        {"layer_types": ["full_attention", "linear_attention"]},
        "layers of type linear_attention cannot be cut back",
    ),
    "recurrent": ({"model_type": "jamba"}, "recurrent state"),
    "own positions": ({"model_type": "gpt_neo"}, "positions and mask"),
    "falcon with alibi": (
        {"model_type": "falcon", "alibi": True},
        "positions and mask",
    ),
    "falcon with rotary": ({"model_type": "falcon", "alibi": False}, ""),
}


@pytest.mark.parametrize(("config", "why"), CASES.values(), ids=CASES)
def test_inspect_says_what_check_would_refuse(tmp_path, config, why):
    found = inspect(write_checkpoint(tmp_path, **config))
    refused = reference_refuses(found.shape)
    assert why in refused
    assert bool(refused) == bool(why)
    for service in services(found, PLACES):
        assert service.unread.get("reference", "") == refused
        runs = {s.place.backend for s in service.standings if s.runs}
        assert ("reference" in runs) == (not why)


@pytest.mark.parametrize("config", [config for config, _ in CASES.values()], ids=CASES)
def test_the_rules_refuse_the_same(tmp_path, config):
    model = inspect(write_checkpoint(tmp_path, **config)).model

    class Subject:
        models = (("target", model),)
        recipe = type("Recipe", (), {"backend": "reference"})

        def where_model(self, role):
            return role

    subject = Subject()
    found = [*layers_roll_back(subject), *family_is_supported(subject)]
    assert bool(found) == bool(reference_refuses(model))


def test_a_drafter_for_a_target_that_is_refused_does_not_run_there(tmp_path):
    draft = inspect(write_checkpoint(tmp_path / "draft"))
    target = inspect(write_checkpoint(tmp_path / "target", model_type="jamba"))
    (alone,) = (s for s in services(draft, PLACES) if s.role == "drafter")
    (aimed,) = (
        s for s in services(draft, PLACES, target=target) if s.role == "drafter"
    )
    assert "reference" not in alone.unread
    as_target = [
        s for s in services(draft, PLACES, target=target) if s.role == "target"
    ]
    assert as_target
    assert not any("reference" in service.unread for service in as_target)
    assert aimed.unread["reference"].startswith("of the target, its recurrent state")


def test_a_gguf_of_such_a_family_runs_nowhere(tmp_path):
    found = inspect(write_gguf(tmp_path, architecture="bloom"))
    assert found.problems == ()
    for service in services(found, PLACES):
        assert set(service.unread) == {"reference", "tensorrt", "pytorch"}
        assert not any(standing.runs for standing in service.standings)
