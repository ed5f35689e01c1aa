"""Rows, entries, ids and settings of two checkpoints get verdicts of their own."""

import pytest

from tests.models.tiny import write_config, write_gguf
from tests.models.vocabularies import numbered, write_json, write_model, write_tokens
from trtspec.errors import UsageError
from trtspec.models.tokenizer import compare_tokenizers


def pair(directory, target, draft):
    """Write two checkpoints, each given as (tokens, added, rows)."""
    for name, (tokens, added, rows) in {"target": target, "draft": draft}.items():
        write_tokens(directory / name, tokens, added)
        write_config(directory / name, vocab_size=rows)
    return compare_tokenizers(directory / "target", directory / "draft")


def test_padding_alone_touches_neither_entries_nor_ids(tmp_path):
    verdicts = pair(tmp_path, (numbered(20), (), 32), (numbered(20), (), 24))
    assert verdicts.rows == (32, 24)
    assert verdicts.entries == (20, 20)
    assert verdicts.same_tokens
    assert verdicts.ids.equal


def test_added_tokens_count_as_entries_and_rows_of_the_other_side_do_not(tmp_path):
    special = numbered(4, "<|special_")
    side = (numbered(12), special, 16)
    verdicts = pair(tmp_path, side, side)
    assert verdicts.rows == verdicts.entries == (16, 16)
    assert verdicts.same_tokens


def test_equal_sizes_with_another_mapping_are_a_mismatch(tmp_path):
    tokens = numbered(20)
    verdicts = pair(tmp_path, (tokens, (), 20), (tokens[::-1], (), 20))
    assert verdicts.rows == verdicts.entries == (20, 20)
    assert verdicts.same_tokens is False
    assert verdicts.ids.differing == 20


def test_further_entries_leave_the_ids_that_both_have_alone(tmp_path):
    verdicts = pair(tmp_path, (numbered(20), ["<tool>"], 24), (numbered(20), (), 24))
    assert verdicts.entries == (21, 20)
    assert verdicts.same_tokens
    assert verdicts.ids.ids == {"only_ours": (20,)}


def test_a_gguf_that_spells_its_tokens_otherwise_is_no_mismatch(tmp_path):
    write_tokens(tmp_path / "target", ["Ġ", "Ġthe", "Ċ", "a"])
    write_gguf(tmp_path / "draft", tokens=("▁", "▁the", "<0x0A>", "a"))
    verdicts = compare_tokenizers(tmp_path / "target", tmp_path / "draft")
    assert verdicts.same_tokens
    assert verdicts.ids.ids == {"spelled": (0, 1, 2)}


def test_what_no_file_tells_is_not_known(tmp_path):
    write_tokens(tmp_path / "target", numbered(3))
    (tmp_path / "draft").mkdir()
    verdicts = compare_tokenizers(tmp_path / "target", tmp_path / "draft")
    assert verdicts.rows == (None, None)
    assert verdicts.entries == (3, None)
    assert verdicts.ids is None
    assert verdicts.same_tokens is None
    assert verdicts.settings == ()


def test_rows_of_a_model_of_several_parts_are_those_of_its_text(tmp_path):
    for name in ("target", "draft"):
        write_json(tmp_path / name, "config.json", text_config={"vocab_size": 48})
    assert compare_tokenizers(tmp_path / "target", tmp_path / "draft").rows == (48, 48)


def test_settings_that_differ_are_told_beside_equal_ids(tmp_path):
    for name, end in {"target": "t1", "draft": "t2"}.items():
        write_model(tmp_path / name, numbered(4))
        write_json(tmp_path / name, "tokenizer_config.json", eos_token=end)
    verdicts = compare_tokenizers(tmp_path / "target", tmp_path / "draft")
    assert verdicts.same_tokens
    assert verdicts.settings == (("eos_token", "t1", "t2"),)


def test_a_damaged_file_is_refused(tmp_path):
    write_tokens(tmp_path / "target", numbered(3))
    write_json(tmp_path / "draft", "tokenizer.json", model=None)
    with pytest.raises(UsageError, match=r"has no model\.vocab"):
        compare_tokenizers(tmp_path / "target", tmp_path / "draft")
