"""The command that a finding gives makes a draft model of the target's rows."""

from dataclasses import replace

import pytest

from tests.check.samples import DRAFT, MODEL
from tests.models.tiny import ROWS, TOKENS, write_checkpoint
from trtspec.check.padding import padding_command
from trtspec.models.describe import describe
from trtspec.models.vocabulary import token_map


@pytest.mark.parametrize("rows", [ROWS + 3, ROWS])
def test_the_command_pads_or_cuts_and_keeps_the_tokenizer(tmp_path, monkeypatch, rows):
    from safetensors.numpy import load_file

    monkeypatch.chdir(tmp_path)
    draft = describe(write_checkpoint(tmp_path / "draft"))
    target = replace(draft, vocabulary_rows=rows)
    command = padding_command("./draft", target, draft)
    exec(command.split("<<'END'\n")[1].removesuffix("END"), {})
    padded = describe(tmp_path / f"draft-{rows}-rows")
    assert padded.vocabulary_rows == rows
    assert token_map(padded.directory) == token_map(draft.directory)
    before, after = (
        load_file(model.directory / "model.safetensors")["model.embed_tokens.weight"]
        for model in (draft, padded)
    )
    assert (after[:ROWS] == before).all()
    assert not after[ROWS:].any()


def test_no_command_takes_a_row_from_a_token():
    longer = replace(DRAFT, vocabulary_rows=24, tokenizer_entries=20)
    assert padding_command("./draft", MODEL, longer) == ""
    unlisted = replace(longer, tokenizer_entries=None)
    assert padding_command("./draft", MODEL, unlisted) == ""
    padded = replace(longer, tokenizer_entries=len(TOKENS))
    assert "'draft-16-rows'" in padding_command("./draft", MODEL, padded)


def test_a_model_of_the_hub_is_named_by_its_last_part():
    command = padding_command("org/small", replace(MODEL, vocabulary_rows=32), DRAFT)
    assert "Path('small-32-rows'), 32" in command
