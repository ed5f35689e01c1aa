"""Heads made for shorter sequences than are served: a warning, with the numbers."""

import pytest

from tests.check.samples import MODEL
from tests.models.drafters import write_eagle, write_eagle3, write_medusa
from tests.trtllm.combinations.asking import recipe
from trtspec.check.subject import Subject, key_itself
from trtspec.models.drafter import describe_drafter
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.rules.drafter_context import drafter_reads_that_far


def head(folder, kind, **config):
    writer = {"eagle3": write_eagle3, "eagle": write_eagle, "medusa": write_medusa}
    return describe_drafter(writer[kind](folder / "head", **config), kind)


def found(made, drafter, **limits):
    if limits:
        changed = made.limits.model_copy(update=limits)
        made = made.model_copy(update={"limits": changed})
    subject = Subject(made, key_itself, MODEL, drafter=drafter)
    return list(drafter_reads_that_far(Installation(), subject))


@pytest.mark.parametrize(
    ("made_for", "served", "warns"),
    [
        (2048, 2048, False),
        (2048, 2049, True),
        (1536, 2048, True),
        (131072, 8192, False),
    ],
)
def test_eagle3_head_is_held_against_what_is_served(tmp_path, made_for, served, warns):
    drafter = head(tmp_path, "eagle3", max_position_embeddings=made_for)
    findings = found(recipe("eagle3"), drafter, max_total_tokens=served)
    assert [one.rule for one in findings] == ["drafter-context"] * warns
    for finding in findings:
        assert finding.severity == "warning"
        assert finding.where == "limits.max_total_tokens"
        assert finding.values["drafter_context"] == made_for
        assert finding.values["target_context"] == MODEL.context_length
        assert finding.snippet == f"limits:\n  max_total_tokens: {made_for}"


def test_limit_below_the_longest_prompt_is_not_proposed(tmp_path):
    drafter = head(tmp_path, "eagle3", max_position_embeddings=512)
    (finding,) = found(recipe("eagle3"), drafter)
    assert not finding.snippet
    assert "more than 512 tokens to a server with method: none" in finding.action


def test_two_models_stop_drafting_there(tmp_path):
    drafter = head(tmp_path, "eagle3", max_position_embeddings=1500)
    (one,) = found(recipe("eagle3"), drafter)
    (two,) = found(recipe("eagle3", two_model=True), drafter)
    assert "not established" in one.why
    assert two.why == "behind them TensorRT-LLM drafts nothing"
    assert two.source.endswith("pull/4879")


def test_engines_with_an_eagle_head_are_told_the_same(tmp_path):
    drafter = head(tmp_path, "eagle", max_position_embeddings=1500)
    made = recipe("eagle", backend="tensorrt")
    assert [one.rule for one in found(made, drafter)] == ["drafter-context"]


def test_heads_that_name_no_length_or_that_are_not_known_pass(tmp_path):
    drafter = head(tmp_path, "eagle3")
    assert drafter.context_length is None
    assert not found(recipe("eagle3"), drafter)
    assert not found(recipe("eagle3"), None)
