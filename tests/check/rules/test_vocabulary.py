"""Pairs that share their tokens pass; others are told with what differs."""

from dataclasses import replace

import pytest

from tests.check.samples import DRAFT, DRAFT_TARGET, MODEL, subject
from tests.models.tiny import TOKENS, write_checkpoint
from tests.models.vocabularies import numbered, write_model
from trtspec.check.rules.vocabulary import token_ids, vocabulary_rows
from trtspec.models.demo import DEMO
from trtspec.models.describe import describe

OTHERS = (*TOKENS[:3], *TOKENS[5:3:-1], TOKENS[3], *TOKENS[6:])


def pair(target, draft, **changes):
    return subject(target, draft, **{"speculation": DRAFT_TARGET, **changes})


@pytest.fixture
def target(tmp_path):
    return describe(write_checkpoint(tmp_path / "target"))


def draft_with(tmp_path, tokens):
    return describe(write_checkpoint(tmp_path / "draft", tokens=tokens))


def made(tmp_path, ours, theirs):
    """Compare two checkpoints, each given as its tokens and what is added to them."""
    target, draft = (
        describe(write_model(tmp_path / name, *side, rows=200))
        for name, side in {"target": ours, "draft": theirs}.items()
    )
    return list(token_ids(pair(target, draft)))


def only(findings):
    (finding,) = findings
    assert finding.where == "speculation.model"
    return finding


def test_the_same_tokens_give_no_finding(tmp_path, target):
    assert not list(token_ids(pair(target, draft_with(tmp_path, TOKENS))))


def test_other_ids_are_blocking_with_their_number_and_both_strings(tmp_path, target):
    finding = only(token_ids(pair(target, draft_with(tmp_path, OTHERS))))
    assert (finding.rule, finding.severity) == ("token-ids", "blocking")
    assert finding.what.startswith("token ids that differ: 2 ")
    assert "tokenizer has 16 entries, the draft's 16" in finding.what
    assert "ids 3 and 5." in finding.what
    assert "3 is 't3' in the target, 't5' in the draft" in finding.what
    assert finding.values["ids"] == [3, 5]
    assert finding.values["same_ids_share"] == 14 / 16
    assert finding.action


def test_other_ids_are_weighed_by_the_workloads_own_tokens(tmp_path):
    write_model(tmp_path / "target", ["cat", " ", "dog", "sat"])
    write_model(tmp_path / "draft", ["cat", " ", "sat", "dog"])
    (tmp_path / "prompts.jsonl").write_text('{"prompt": "cat cat cat dog"}\n')
    found = pair(
        *(describe(tmp_path / name) for name in ("target", "draft")),
        base=tmp_path,
        workload={"prompts": "prompts.jsonl"},
    )
    finding = only(token_ids(found))
    assert finding.values["workload_share"] == 6 / 7  # three cats, three spaces, a dog
    assert "of the tokens in the workload's prompts 85.7 % have one id" in finding.why


def test_entries_that_one_side_lacks_do_not_block(tmp_path, target):
    finding = only(token_ids(pair(target, draft_with(tmp_path, TOKENS[:-1]))))
    assert (finding.rule, finding.severity) == ("token-entries", "warning")
    assert (
        "has 16 entries, the draft's 15; ids that only one of them has: 1, ids 15"
        in (finding.what)
    )
    assert "15 is 't15' in the target, nothing in the draft" in finding.what


def test_few_further_entries_are_a_note_and_many_a_warning(tmp_path):
    plain, few, many = numbered(150), ["<tool>"], numbered(20, "<x>")
    assert only(made(tmp_path / "few", (plain,), (plain, few))).severity == "note"
    assert only(made(tmp_path / "many", (plain,), (plain, many))).severity == "warning"


def test_entries_behind_the_targets_rows_are_said_to_have_none(tmp_path, target):
    draft = describe(write_model(tmp_path / "draft", TOKENS, ["<tool>"]))
    finding = only(token_ids(pair(target, draft)))
    assert "1 of the draft's ids have no row in the target model" in finding.why
    assert finding.severity == "warning"


def test_other_spellings_of_the_same_tokens_are_a_note(tmp_path):
    ours, theirs = ["Ġ", "Ġthe", "Ċ", "a"], ["▁", "▁the", "<0x0A>", "a"]
    finding = only(made(tmp_path, (ours,), (theirs,)))
    assert (finding.rule, finding.severity) == ("token-names", "note")
    assert "spelled differently: 3" in finding.what
    assert "1 is 'Ġthe' in the target, '▁the' in the draft" in finding.what


def test_a_reserved_token_with_a_new_name_is_a_note(tmp_path):
    plain = numbered(150)
    finding = only(made(tmp_path, (plain, ["<res>"]), (plain, ["<tool>"])))
    assert (finding.rule, finding.severity) == ("token-names", "note")
    assert "150 is '<res>' in the target, '<tool>' in the draft" in finding.what


def test_special_tokens_that_are_swapped_are_blocking(tmp_path):
    plain = numbered(150)
    finding = only(made(tmp_path, (plain, ["<a>", "<b>"]), (plain, ["<b>", "<a>"])))
    assert (finding.rule, finding.severity) == ("token-ids", "blocking")
    assert finding.values["ids"] == [150, 151]


def test_long_tokens_are_shortened(tmp_path, target):
    tokens = (*TOKENS[:-1], "x" * 500)
    what = only(token_ids(pair(target, draft_with(tmp_path, tokens)))).what
    assert "'xxx" in what
    assert len(what) < 300


def test_tokens_that_no_file_lists_cannot_be_compared(tmp_path, target):
    draft = draft_with(tmp_path, TOKENS)
    (draft.directory / "tokenizer.json").rename(draft.directory / "tokenizer.model")
    finding = only(token_ids(pair(target, draft)))
    assert finding.severity == "warning"
    assert "the draft model's files do not list its tokens" in finding.what
    assert "target model's files" in only(token_ids(pair(draft, target))).what


def test_a_tokenizer_damaged_since_it_was_described_raises_nothing(tmp_path, target):
    draft = draft_with(tmp_path, TOKENS)
    (draft.directory / "tokenizer.json").write_text("{")
    assert only(token_ids(pair(target, draft))).severity == "warning"


def test_before_the_download_comparing_is_put_off(target):
    finding = only(token_ids(pair(DEMO.info, target)))
    assert finding.severity == "note"
    assert "once the target model is on this machine" in finding.what


def test_the_same_number_of_rows_gives_no_finding():
    assert not list(vocabulary_rows(pair(MODEL, DRAFT)))


def test_another_number_of_rows_is_a_note_with_both_numbers():
    finding = only(vocabulary_rows(pair(MODEL, replace(DRAFT, vocabulary_rows=24))))
    assert finding.severity == "note"
    assert "24 vocabulary rows, the target model 16" in finding.what
    assert finding.values == {"target_rows": 16, "draft_rows": 24}


@pytest.mark.parametrize(("backend", "told"), [("tensorrt", 0), ("reference", 1)])
def test_of_drafts_with_their_logits_the_engine_backends_own_rule_tells(backend, told):
    found = pair(
        MODEL,
        replace(DRAFT, vocabulary_rows=24),
        backend=backend,
        speculation={**DRAFT_TARGET, "use_draft_logits": True},
    )
    assert len(list(vocabulary_rows(found))) == told


@pytest.mark.parametrize("rule", [token_ids, vocabulary_rows])
@pytest.mark.parametrize(("target", "draft"), [(MODEL, None), (None, DRAFT)])
def test_half_a_pair_gives_no_finding(rule, target, draft):
    assert not list(rule(pair(target, draft)))
