"""What the rules look at, and how a key is named without a file."""

from dataclasses import replace

from tests.check.samples import DRAFT, MODEL, subject
from tests.models.drafters import write_medusa
from trtspec.check.subject import key_itself
from trtspec.models.drafter import describe_drafter


def test_known_models_come_with_their_roles():
    assert list(subject(MODEL, DRAFT).models) == [("target", MODEL), ("draft", DRAFT)]
    assert list(subject(None, DRAFT).models) == [("draft", DRAFT)]
    assert list(subject(None).models) == []


def test_a_role_is_named_by_the_key_of_its_model():
    assert subject().where_model("target") == "target.model"
    assert subject().where_model("draft") == "speculation.model"


def test_a_key_without_a_file_is_written_with_dots():
    assert key_itself("workload", "concurrency", 0) == "workload.concurrency.0"


def test_a_drafter_is_none_of_the_models(tmp_path):
    drafter = describe_drafter(write_medusa(tmp_path), "medusa")
    assert list(replace(subject(MODEL), drafter=drafter).models) == [("target", MODEL)]
    assert subject(MODEL).drafter is None
