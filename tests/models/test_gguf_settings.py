"""Template, special tokens and end token of a GGUF are compared like those of JSON."""

import pytest

from tests.models.tiny import TOKENS, write_checkpoint, write_gguf
from tests.models.vocabularies import write_json
from trtspec.models.gguf_settings import gguf_settings
from trtspec.models.inspection import inspect
from trtspec.models.token_list import listed_tokens
from trtspec.models.tokenizer_settings import ENDS, START, compare_settings

NORMAL, CONTROL = 1, 3


def fields(*, bos=1, eos=2, template="{{ a }}\n", adds=True):
    def extra(writer):
        for add, value in (
            (writer.add_bos_token_id, bos),
            (writer.add_eos_token_id, eos),
            (writer.add_chat_template, template),
            (writer.add_add_bos_token, adds),
        ):
            if value is not None:
                add(value)

    return extra


def gguf(directory, **given):
    return write_gguf(directory, extra=fields(**given))


def test_ids_become_tokens_and_the_template_is_read(tmp_path):
    found = gguf_settings(gguf(tmp_path))
    assert found.tokens == {"bos_token": "t1", "eos_token": "t2"}
    assert (found.start, found.template, found.end) == ("t1", "{{ a }}", "2")


def test_what_the_fields_do_not_tell_is_not_known(tmp_path):
    found = gguf_settings(
        gguf(tmp_path, bos=None, eos=len(TOKENS) + 3, template=None, adds=None)
    )
    assert found.tokens == {}
    assert (found.start, found.template) == (None, "")


def test_a_directory_without_one_gguf_or_without_a_tokenizer_tells_nothing(tmp_path):
    assert gguf_settings(write_checkpoint(tmp_path / "a")) is None
    assert gguf_settings(write_gguf(tmp_path / "b", tokens=None)) is None
    gguf(tmp_path / "c")
    write_gguf(tmp_path / "c", name="second.gguf")
    assert gguf_settings(tmp_path / "c") is None


@pytest.mark.parametrize(
    ("given", "difference"),
    [
        ({}, None),
        ({"bos": 3}, ("bos_token", "t1", "t3")),
        ({"template": "{{ b }}"}, ("chat_template, line 1", "{{ a }}", "{{ b }}")),
        ({"template": None}, ("chat_template, line 1", "{{ a }}", "none")),
        ({"adds": False}, (START, "t1", "none")),
    ],
)
def test_two_ggufs_are_compared(tmp_path, given, difference):
    found = compare_settings(gguf(tmp_path / "a"), gguf(tmp_path / "b", **given))
    assert (difference in found) if difference else found == ()


def test_another_end_of_a_gguf_is_told_as_token_and_as_id(tmp_path):
    found = compare_settings(gguf(tmp_path / "a"), gguf(tmp_path / "b", eos=5))
    assert found == (("eos_token", "t2", "t5"), (ENDS, "2", "5"))


def json_side(directory, ends=2, **given):
    write_checkpoint(directory)
    whole = {"bos_token": "t1", "eos_token": "t2", "chat_template": "{{ a }}"}
    write_json(directory, "tokenizer_config.json", **{**whole, **given})
    write_json(directory, "generation_config.json", eos_token_id=ends)
    return directory


def test_a_gguf_agrees_with_the_files_it_was_made_from(tmp_path):
    ours = json_side(tmp_path / "a", ends=[2, 7])
    assert compare_settings(ours, gguf(tmp_path / "b")) == ()


def test_a_gguf_of_another_release_is_told_from_its_target(tmp_path):
    ours = json_side(tmp_path / "a", ends=[3, 7], eos_token="t3", chat_template="b")
    found = {one.name: one[1:] for one in compare_settings(ours, gguf(tmp_path / "b"))}
    assert found == {
        "eos_token": ("t3", "t2"),
        ENDS: ("3, 7", "2"),
        "chat_template, line 1": ("b", "{{ a }}"),
    }


def test_control_tokens_are_special(tmp_path):
    types = [CONTROL if n < 2 else NORMAL for n in range(len(TOKENS))]
    directory = write_gguf(tmp_path, extra=lambda w: w.add_token_types(types))
    assert listed_tokens(directory).special == {"t0", "t1"}


@pytest.mark.parametrize(
    ("scaling", "told"), [(None, (None, None)), ("yarn", ("yarn", 4.0))]
)
def test_the_rotary_encoding_is_read(tmp_path, scaling, told):
    def extra(writer):
        writer.add_rope_freq_base(500000.0)
        if scaling:
            writer.add_string("llama.rope.scaling.type", scaling)
            writer.add_rope_scaling_factor(4.0)

    shape = inspect(write_gguf(tmp_path, extra=extra)).shape
    assert shape.rope_theta == 500000.0
    assert (shape.rope_scaling, shape.rope_factor) == told
