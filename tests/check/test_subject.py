"""What the rules look at, and how a key is named without a file."""

from tests.check.samples import DRAFT, MODEL, subject
from trtspec.check.subject import key_itself


def test_known_models_come_with_their_roles():
    assert list(subject(MODEL, DRAFT).models) == [("target", MODEL), ("draft", DRAFT)]
    assert list(subject(None, DRAFT).models) == [("draft", DRAFT)]
    assert list(subject(None).models) == []


def test_a_role_is_named_by_the_key_of_its_model():
    assert subject().where_model("target") == "target.model"
    assert subject().where_model("draft") == "speculation.model"


def test_a_key_without_a_file_is_written_with_dots():
    assert key_itself("workload", "concurrency", 0) == "workload.concurrency.0"
