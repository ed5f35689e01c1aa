"""Next-token heads are found among the target's tensors, or in their own checkpoint."""

from dataclasses import replace

import pytest

from tests.check.rules.drafters import MEDUSA, only
from tests.check.samples import MODEL, recipe
from trtspec.check.rules.next_token import heads_suffice, target_has_heads
from trtspec.check.subject import Subject, key_itself

HEADS = replace(MEDUSA, kind="mtp", heads=1)
TARGET = replace(MODEL, stored_next_token_heads=1)


def fitted(target=TARGET, drafter=None, *, backend="reference", **method):
    speculation = {"method": "mtp", "draft_length": 1}
    made = recipe(backend=backend, speculation={**speculation, **method})
    return Subject(made, key_itself, target, drafter=drafter)


def findings(subject):
    return [*target_has_heads(subject), *heads_suffice(subject)]


def test_heads_of_the_target_or_beside_it_are_enough():
    assert not findings(fitted())
    assert not findings(fitted(MODEL, HEADS, model="./heads"))


def test_a_target_without_heads_is_refused():
    without = replace(MODEL, stored_next_token_heads=0)
    found = only(target_has_heads(fitted(without)))
    assert (found.severity, found.where) == ("blocking", "target.model")
    assert "no tensors named as in model.layers.<n>.eh_proj, mtp.fc" in found.what
    assert "name one of heads alone as speculation.model" in found.action
    assert not findings(fitted(without, backend="pytorch"))


def test_heads_are_not_read_from_a_gguf():
    gguf = replace(MODEL, format="gguf", stored_next_token_heads=None)
    found = only(target_has_heads(fitted(gguf)))
    assert (found.severity, "stored as GGUF" in found.what) == ("blocking", True)


def test_what_is_not_known_is_not_judged():
    assert not findings(fitted(None))
    assert not findings(fitted(MODEL))


@pytest.mark.parametrize(
    ("heads", "vanilla", "severity", "how"),
    [
        (1, False, "note", "which is applied again and again"),
        (1, True, "warning", "which is taken in turn"),
        (2, False, "warning", "which are taken in turn"),
    ],
)
def test_drafts_longer_than_there_are_heads_are_told(heads, vanilla, severity, how):
    target = replace(MODEL, stored_next_token_heads=heads)
    found = only(heads_suffice(fitted(target, draft_length=3, vanilla=vanilla)))
    assert (found.severity, found.where) == (severity, "speculation.draft_length")
    assert found.what.startswith(f"draft_length 3 is above the {heads} next-token head")
    assert how in found.what
    less = " or less" if heads > 1 else ""
    assert found.action in ("", f"set draft_length to {heads}{less}")
    assert bool(found.action) is (severity == "warning")


def test_a_dynamic_tree_wants_one_head_for_all_positions():
    tree = {"tree": "dynamic", "tree_top_k": 2, "model": "./heads"}
    assert not findings(fitted(MODEL, HEADS, **tree))
    found = only(heads_suffice(fitted(MODEL, replace(HEADS, heads=2), **tree)))
    assert (found.severity, found.where) == ("blocking", "speculation.tree")
    assert found.what == "tree dynamic with 2 next-token heads, one per position"
