"""Whether the tokenizer inside a GGUF comes out as the file describes it."""

import json

import pytest
from tokenizers import Tokenizer

from tests.reference.gguf_files import MERGES, TEMPLATE, TOKENS, write_gguf
from trtspec.models.vocabulary import token_map
from trtspec.reference.gguf_tokenizer import write_tokenizer


@pytest.fixture
def made(tmp_path):
    """Makes the tokenizer of a file with the given fields."""

    def make(**fields):
        output = tmp_path / "output"
        output.mkdir(exist_ok=True)
        assert write_tokenizer(write_gguf(tmp_path / "source", **fields), output)
        return Tokenizer.from_file(str(output / "tokenizer.json")), output

    return make


def test_ids_are_the_positions_in_the_file(made):
    tokenizer, output = made()
    assert tokenizer.get_vocab_size() == len(TOKENS)
    assert token_map(output) == {token: at for at, token in enumerate(TOKENS)}


def test_text_is_merged_and_comes_back(made):
    tokenizer, _ = made()
    encoded = tokenizer.encode("ab ab  a")
    assert encoded.tokens == ["ab", "Ġab", "Ġ", "Ġa"]
    assert tokenizer.decode(encoded.ids) == "ab ab  a"
    assert len(MERGES) == 4


def test_each_digit_stands_alone_where_the_file_says_so(made):
    assert made(pre="smollm")[0].encode("a  1").tokens == ["a", "ĠĠ", "1"]
    assert made(pre="gpt-2")[0].encode("a  1").tokens == ["a", "Ġ", "Ġ", "1"]


def test_control_tokens_are_matched_whole_and_are_special(made):
    tokenizer, _ = made()
    encoded = tokenizer.encode("a<|end|>b")
    assert encoded.tokens == ["a", "<|end|>", "b"]
    assert tokenizer.decode(encoded.ids, skip_special_tokens=True) == "ab"


@pytest.mark.parametrize("add_bos", [None, False])
def test_nothing_is_put_in_front_unless_the_file_asks(made, add_bos):
    assert made(add_bos=add_bos)[0].encode("a").tokens == ["a"]


def test_begin_token_is_put_in_front_where_the_file_asks(made):
    tokenizer, _ = made(add_bos=True)
    assert tokenizer.encode("a").tokens == ["<|begin|>", "a"]
    assert tokenizer.encode("a", add_special_tokens=False).tokens == ["a"]


def test_configuration_names_the_tokens_and_the_template_is_kept(made):
    _, output = made()
    config = json.loads((output / "tokenizer_config.json").read_text())
    assert config["eos_token"] == "<|end|>"
    assert config["bos_token"] == "<|begin|>"
    assert "pad_token" not in config
    assert (output / "chat_template.jinja").read_text() == TEMPLATE


def test_file_without_chat_template_gives_none(made):
    _, output = made(template=None)
    assert not (output / "chat_template.jinja").exists()


def test_transformers_reads_it(made):
    transformers = pytest.importorskip("transformers")
    _, output = made()
    tokenizer = transformers.AutoTokenizer.from_pretrained(output)
    messages = [{"role": "user", "content": "ab a"}]
    text = tokenizer.apply_chat_template(messages, tokenize=False)
    assert text == "ab a"
    assert tokenizer("ab a").input_ids == [TOKENS.index("ab"), TOKENS.index("Ġa")]
    assert len(tokenizer) == len(TOKENS)
    assert tokenizer.eos_token == "<|end|>"


@pytest.mark.parametrize("fields", [{"model": "llama"}, {"pre": "qwen2"}])
def test_other_kinds_are_left_to_transformers(tmp_path, fields):
    (tmp_path / "output").mkdir()
    path = write_gguf(tmp_path / "source", **fields)
    assert not write_tokenizer(path, tmp_path / "output")
    assert list((tmp_path / "output").iterdir()) == []


def test_same_file_gives_the_same_bytes(tmp_path):
    path = write_gguf(tmp_path / "source")
    contents = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write_tokenizer(path, tmp_path / name)
        contents.append({p.name: p.read_bytes() for p in (tmp_path / name).iterdir()})
    assert contents[0] == contents[1]
