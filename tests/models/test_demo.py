"""The facts of the demo model are those of its file."""

import pytest

from trtspec.files import cache_dir, sha256_file
from trtspec.models.demo import DEMO
from trtspec.models.demo_fetch import fetch_demo
from trtspec.models.describe import describe
from trtspec.models.vocabulary import token_map


def test_it_lies_in_the_cache_under_its_name():
    assert DEMO.directory == cache_dir() / "demo" / "smollm2-135m-instruct"
    assert DEMO.gguf_name == "SmolLM2-135M-Instruct.Q4_1.gguf"


def test_it_is_here_only_with_the_right_size():
    assert not DEMO.is_here
    DEMO.directory.mkdir(parents=True)
    with (DEMO.directory / DEMO.gguf_name).open("wb") as stream:
        stream.truncate(DEMO.gguf_bytes - 1)
    assert not DEMO.is_here
    with (DEMO.directory / DEMO.gguf_name).open("wb") as stream:
        stream.truncate(DEMO.gguf_bytes)
    assert DEMO.is_here


@pytest.mark.slow
def test_the_real_file_has_the_pinned_hash_and_facts():
    said = []
    directory = fetch_demo(said.append)
    assert "93 MB" in said[0]
    assert "Apache-2.0" in said[0]
    gguf = directory / DEMO.gguf_name
    assert gguf.stat().st_size == DEMO.gguf_bytes
    assert sha256_file(gguf) == DEMO.gguf_sha256
    assert describe(directory) == DEMO.info
    tokens = token_map(directory)
    assert len(tokens) == DEMO.info.tokenizer_entries
    assert tokens["<|im_start|>"] == 1
    assert sorted(path.name for path in directory.iterdir()) == ["LICENSE", gguf.name]
    assert "Apache License" in (directory / "LICENSE").read_text()
