"""Whose configuration a file is, and what is said of one that cannot be read."""

from __future__ import annotations

import json

import pytest

from trtspec.errors import UsageError
from trtspec.verify.gate import configuration, read_configuration

EAGLE = {"method": "eagle3", "model": "head", "num_speculative_tokens": 3}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("speculative_config: {decoding_type: MTP, max_draft_len: 3}", "trtllm"),
        ("decoding_type: NGram\nmax_draft_len: 3", "trtllm"),
        (json.dumps({"speculative_config": EAGLE}), "vllm"),
        (json.dumps(EAGLE), "vllm"),
        ("speculative-config: {method: mtp, num_speculative_tokens: 1}", "vllm"),
        ("speculative_config: {method: ngram}", "vllm"),
        ("vllm serve m --max-model-len 4096", "vllm"),
        ("python -m sglang.launch_server --port 1", "sglang"),
        ("python -m sglang.launch_server --speculative-algorithm EAGLE", "sglang"),
        ("--speculative-algorithm EAGLE --port 1", "sglang"),
        ("speculative_algorithm: EAGLE", "sglang"),
        (json.dumps({"speculative_config": json.dumps(EAGLE)}), "vllm"),
    ],
)
def test_keys_tell_whose_it_is(text, kind):
    assert configuration(text, "file").kind == kind


def test_it_can_be_said_whose_it_is():
    text = "kv_cache_config: {dtype: fp8}"

    assert configuration(text, "file", "trtllm").kind == "trtllm"
    with pytest.raises(UsageError, match="cannot be told whose") as caught:
        configuration(text, "file")
    assert "vllm" in caught.value.problems[0].action


@pytest.mark.parametrize(
    "text", ["", "- a\n- b\n", "just words", "[1, 2]", "a: [", "{broken"]
)
def test_what_is_no_map_is_refused(text):
    with pytest.raises(UsageError):
        configuration(text, "file")


def test_trtllm_serve_has_no_flags_for_speculation():
    with pytest.raises(UsageError, match="no flag for speculation"):
        configuration("trtllm-serve m --config c.yaml", "file", "trtllm")


def test_variables_and_flags_of_a_command_line():
    text = "A=1 env B=two python -m sglang.launch_server --x-y 3 --z=4 --on C=5"

    found = configuration(text, "run.sh")
    assert found.environment == {"A": "1", "B": "two"}
    assert found.settings == {"x_y": "3", "z": "4", "on": "C=5"}


def test_a_file_is_read(tmp_path):
    file = tmp_path / "extra.yaml"
    file.write_text("speculative_config:\n  decoding_type: MTP\n  max_draft_len: 3\n")

    found = read_configuration(file)
    assert found.settings["speculative_config"]["max_draft_len"] == 3
    assert found.source == str(file)


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        read_configuration(tmp_path / "missing.yaml")
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(UsageError):
        read_configuration(binary)
    large = tmp_path / "large.yaml"
    large.write_text("# " + "x" * (1 << 20) + "\na: 1\n")
    with pytest.raises(UsageError, match="too large"):
        read_configuration(large)
