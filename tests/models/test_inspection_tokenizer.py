"""Inspect says of a pair what its rows, entries and ids are, and how it is set up."""

import json

import pytest

from tests.models.drafters import write_eagle3
from tests.models.tiny import TOKENS, write_checkpoint, write_gguf
from tests.models.vocabularies import numbered, write_json, write_model, write_tokens
from trtspec.models.inspection import inspect
from trtspec.models.inspection_fit import compare

EQUAL = numbered(20)


def compared(directory, target, draft):
    """Write two models, each given as keywords of ``write_model``."""
    found = [
        inspect(write_model(directory / name, **sides))
        for name, sides in {"target": target, "draft": draft}.items()
    ]
    return compare(found[1], found[0])


def by_key(comparison):
    return {fit.key: fit for fit in comparison.fits}


def test_three_verdicts_are_kept_apart(tmp_path):
    comparison = compared(
        tmp_path, {"tokens": EQUAL, "rows": 32}, {"tokens": EQUAL, "rows": 24}
    )
    found = by_key(comparison)
    assert [found[k].verdict for k in ("rows", "entries", "token_ids")] == ["fits"] * 3
    assert "24 vocabulary rows, the target has 32: the difference is padding" in (
        found["rows"].text
    )
    assert (found["entries"].drafter, found["entries"].target) == (20, 20)
    assert "all 20 ids that both have are the same" in found["token_ids"].text
    assert comparison.tokenizer.rows == (32, 24)


def test_equal_sizes_with_another_mapping_are_refused(tmp_path):
    found = by_key(compared(tmp_path, {"tokens": EQUAL}, {"tokens": EQUAL[::-1]}))
    assert found["rows"].verdict == found["entries"].verdict == "fits"
    assert found["token_ids"].verdict == "refused"
    assert "20 ids stand for other tokens" in found["token_ids"].text
    assert "0: 't0', 't19'" in found["token_ids"].text


def test_entries_that_one_side_lacks_are_counted_for_each(tmp_path):
    found = by_key(
        compared(
            tmp_path,
            {"tokens": EQUAL, "added": ["<a>", "<b>"], "rows": 24},
            {"tokens": EQUAL, "rows": 24},
        )
    )
    assert found["entries"].verdict == "differs"
    assert "2 ids are the target's alone" in found["entries"].text
    assert found["token_ids"].verdict == "fits"


def test_ids_without_a_row_in_the_target_are_told(tmp_path):
    longer = {"tokens": EQUAL, "added": [("<far>", 30)], "rows": 40}
    found = by_key(compared(tmp_path, {"tokens": EQUAL, "rows": 24}, longer))
    assert found["rows"].verdict == "differs"
    assert "ids up to 30 have no row there" in found["rows"].text


def test_a_special_token_with_another_name_is_no_mismatch(tmp_path):
    found = by_key(
        compared(
            tmp_path,
            {"tokens": EQUAL, "added": ["<|reserved|>"]},
            {"tokens": EQUAL, "added": ["<|tool|>"]},
        )
    )
    assert found["token_ids"].verdict == "fits"
    assert "1 are special tokens with another name" in found["token_ids"].text
    assert "'<|reserved|>', '<|tool|>'" in found["token_ids"].text


def settings_of(directory, ours, theirs, name="tokenizer_config.json"):
    for side, content in {"target": ours, "draft": theirs}.items():
        write_model(directory / side, EQUAL)
        write_json(directory / side, name, **content)
    sides = [inspect(directory / side) for side in ("target", "draft")]
    return by_key(compare(sides[1], sides[0]))


def test_settings_that_are_the_same_are_named(tmp_path):
    same = {"eos_token": "t1", "chat_template": "{{ a }}"}
    found = settings_of(tmp_path, same, same)
    assert found["special_tokens"].verdict == found["chat_template"].verdict == "fits"
    assert "the same: bos_token, eos_token" in found["special_tokens"].text


def test_settings_that_differ_are_told_apart(tmp_path):
    found = settings_of(
        tmp_path,
        {"eos_token": "t1", "chat_template": "a\nours"},
        {"eos_token": "t2", "chat_template": "a\ntheirs"},
    )
    assert found["special_tokens"].verdict == "differs"
    assert found["special_tokens"].text == "eos_token: t2, the target has t1"
    assert found["chat_template"].verdict == "differs"
    assert found["chat_template"].text == (
        "first in line 2: 'theirs', the target has 'ours'"
    )


def test_what_a_side_does_not_tell_is_left_out(tmp_path):
    write_model(tmp_path / "target", EQUAL)
    write_model(tmp_path / "draft", EQUAL)
    write_json(tmp_path / "draft", "tokenizer_config.json", eos_token="t1")
    sides = [inspect(tmp_path / side) for side in ("target", "draft")]
    assert (
        not {"special_tokens", "chat_template"} & by_key(compare(*sides[::-1])).keys()
    )


def test_rows_of_a_model_without_a_token_list_are_all_that_is_compared(tmp_path):
    for name, rows in {"target": 20, "draft": 24}.items():
        write_model(tmp_path / name, EQUAL, rows=rows)
    (tmp_path / "draft" / "tokenizer.json").unlink()
    sides = [inspect(tmp_path / side) for side in ("target", "draft")]
    found = by_key(compare(*sides[::-1]))
    assert found["rows"].verdict == "differs"
    assert not {"entries", "token_ids"} & found.keys()


def test_a_damaged_token_list_is_no_traceback(tmp_path):
    target = inspect(write_checkpoint(tmp_path / "target"))
    draft = inspect(write_checkpoint(tmp_path / "draft"))
    (tmp_path / "draft" / "tokenizer.json").write_text("{")
    comparison = compare(draft, target)
    assert comparison.tokenizer is None
    assert by_key(comparison)["rows"].verdict == "fits"


def test_a_gguf_has_the_rows_of_its_embedding(tmp_path):
    target = inspect(write_checkpoint(tmp_path / "target"))
    draft = inspect(write_gguf(tmp_path / "draft"))
    comparison = compare(draft, target)
    assert comparison.tokenizer.rows == (len(TOKENS), len(TOKENS))


@pytest.mark.parametrize(("tokens", "differs"), [(TOKENS, 0), (TOKENS[::-1], 1)])
def test_the_tokenizer_beside_a_head_shows_whom_it_was_made_for(
    tmp_path, tokens, differs
):
    target = inspect(write_checkpoint(tmp_path / "target"))
    head = write_eagle3(tmp_path / "head")
    write_tokens(head, tokens)
    for directory, end in ((tmp_path / "target", 1), (head, 2)):
        write_json(directory, "generation_config.json", eos_token_id=end)
    found = by_key(compare(inspect(head), target))
    assert found["token_ids"].verdict == ("differs" if differs else "fits")
    # a head ends no answer
    assert "special_tokens" not in found
    assert not {"rows", "entries"} & found.keys()


def test_a_tokenizer_beyond_the_rows_is_a_problem_however_few_its_entries(tmp_path):
    directory = write_model(tmp_path, EQUAL, added=[("<far>", 40)], rows=32)
    found = inspect(directory)
    (problem,) = found.problems
    assert "gives ids up to 40, and the embedding has 32 rows" in problem.what
    assert problem.allowed == "ids from 0 to 31"
    (fact,) = [fact for fact in found.facts if fact.key == "vocabulary"]
    assert fact.value == {"rows": 32, "entries": 21, "highest_id": 40}
    whole = json.loads((directory / "tokenizer.json").read_text())
    whole["added_tokens"][0]["id"] = 31
    (directory / "tokenizer.json").write_text(json.dumps(whole))
    assert inspect(directory).problems == ()
