"""Other special tokens and chat templates are told, and block nothing."""

from dataclasses import replace

import pytest

from tests.check.rules.drafters import EAGLE3
from tests.check.samples import DRAFT, DRAFT_TARGET, MODEL, subject
from tests.models.vocabularies import numbered, write_json, write_tokens
from trtspec.check.rules.tokenizer import (
    chat_templates,
    drafters_own_tokenizer,
    special_tokens,
)

CONFIG = "tokenizer_config.json"


def pair(directory, name=CONFIG, ours=None, theirs=None):
    sides = {"target": ours, "draft": theirs}
    for side, content in sides.items():
        write_json(directory / side, name, **(content or {}))
    return subject(
        replace(MODEL, directory=directory / "target"),
        replace(DRAFT, directory=directory / "draft"),
        speculation=DRAFT_TARGET,
    )


def only(findings):
    (finding,) = findings
    assert finding.where == "speculation.model"
    return finding


@pytest.mark.parametrize("rule", [special_tokens, chat_templates])
def test_the_same_settings_and_none_at_all_give_no_finding(tmp_path, rule):
    same = {"eos_token": "<e>", "chat_template": "x"}
    assert not list(rule(pair(tmp_path / "same", ours=same, theirs=same)))
    assert not list(rule(subject(MODEL, DRAFT, speculation=DRAFT_TARGET)))
    assert not list(rule(subject(MODEL)))


@pytest.mark.parametrize(
    ("name", "sides", "severity", "told"),
    [
        (
            CONFIG,
            ({"eos_token": "<|im_end|>"}, {"eos_token": "<|endoftext|>"}),
            "warning",
            "eos_token: <|im_end|> in the target, <|endoftext|> in the draft",
        ),
        (
            CONFIG,
            ({"pad_token": "<p>"}, {}),
            "note",
            "pad_token: <p> in the target, not set in the draft",
        ),
        (
            CONFIG,
            (
                {"add_bos_token": True, "bos_token": "<s>"},
                {"add_bos_token": False, "bos_token": "<s>"},
            ),
            "warning",
            "start of a text: <s> in the target, not set in the draft",
        ),
        (
            "generation_config.json",
            ({"eos_token_id": [128001, 128008, 128009]}, {"eos_token_id": 128001}),
            "warning",
            "end tokens: 128001, 128008, 128009 in the target, 128001 in the draft",
        ),
    ],
)
def test_special_tokens_that_differ_are_told_together(
    tmp_path, name, sides, severity, told
):
    finding = only(special_tokens(pair(tmp_path, name, *sides)))
    assert finding.severity == severity
    assert told in finding.what
    assert bool(finding.action) == (severity == "warning")


def test_several_settings_are_one_finding_with_all_values(tmp_path):
    finding = only(
        special_tokens(
            pair(
                tmp_path,
                ours={"eos_token": "<e>", "pad_token": "<p>"},
                theirs={"eos_token": "<f>", "pad_token": "<q>"},
            )
        )
    )
    assert finding.values == {
        "eos_token": {"target": "<e>", "draft": "<f>"},
        "pad_token": {"target": "<p>", "draft": "<q>"},
    }


def test_chat_templates_are_told_by_their_first_other_line(tmp_path):
    ours, theirs = {"chat_template": "a\nb"}, {"chat_template": "a\nc"}
    finding = only(chat_templates(pair(tmp_path, ours=ours, theirs=theirs)))
    assert finding.severity == "note"
    assert "line 2: 'b' in the target, 'c' in the draft" in finding.what
    assert not list(special_tokens(pair(tmp_path, ours=ours, theirs=theirs)))


def test_a_template_of_the_recipes_own_is_compared_with_nothing(tmp_path):
    found = pair(tmp_path, ours={"chat_template": "a"}, theirs={"chat_template": "b"})
    target = {"model": "./target", "chat_template": "own.jinja"}
    named = subject(speculation=DRAFT_TARGET, target=target).recipe
    assert not list(chat_templates(replace(found, recipe=named)))


def test_a_draft_model_without_a_template_is_told(tmp_path):
    finding = only(chat_templates(pair(tmp_path, ours={"chat_template": "a"})))
    assert "'a' in the target, nothing in the draft" in finding.what


@pytest.mark.parametrize("rule", [special_tokens, chat_templates])
def test_damaged_settings_raise_nothing(tmp_path, rule):
    found = pair(tmp_path)
    (tmp_path / "draft" / CONFIG).write_text("{")
    assert not list(rule(found))


def head(directory, tokens):
    write_tokens(directory / "target", numbered(8))
    if tokens:
        write_tokens(directory / "head", tokens)
    return subject(
        replace(MODEL, directory=directory / "target"),
        speculation={"method": "eagle3", "model": "./head", "draft_length": 3},
    ), replace(EAGLE3, directory=directory / "head")


@pytest.mark.parametrize("tokens", [None, numbered(8), numbered(7)])
def test_a_head_without_another_tokenizer_gives_no_finding(tmp_path, tokens):
    found, drafter = head(tmp_path, tokens)
    assert not list(drafters_own_tokenizer(replace(found, drafter=drafter)))


def test_a_head_with_another_targets_tokenizer_is_pointed_at(tmp_path):
    found, drafter = head(tmp_path, numbered(8, "other"))
    finding = only(drafters_own_tokenizer(replace(found, drafter=drafter)))
    assert (finding.rule, finding.severity) == ("token-ids", "warning")
    assert "8 token ids differ from the target's, ids 0 to 7" in finding.what
    assert finding.values["count"] == 8


def test_a_heads_configuration_ends_no_answer(tmp_path):
    found, drafter = head(tmp_path, None)
    for side, end in {"target": 3, "head": 2}.items():
        write_json(tmp_path / side, "config.json", eos_token_id=end)
    assert not list(special_tokens(replace(found, drafter=drafter)))
    write_json(tmp_path / "head", CONFIG, eos_token="a")
    write_json(tmp_path / "target", CONFIG, eos_token="b")
    finding = only(special_tokens(replace(found, drafter=drafter)))
    assert list(finding.values) == ["eos_token"]
