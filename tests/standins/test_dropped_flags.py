"""No flag can be lost unseen: what is written depends on every one of them."""

import json
from pathlib import Path

import pytest

from tests.models.tiny import write_checkpoint
from tests.standins.samples import make_bench

CONVERT = (
    ("--model_dir", "hf"),
    ("--dtype", "float32"),
    ("--tp_size", "2"),
    ("--workers", "2"),
    ("--output_dir", "plain"),
)
BUILD = (
    ("--checkpoint_dir", "plain"),
    ("--output_dir", "engine"),
    ("--speculative_decoding_mode", "draft_tokens_external"),
    ("--max_draft_len", "5"),
    ("--max_batch_size", "4"),
    ("--max_input_len", "20"),
    ("--max_seq_len", "40"),
    ("--max_num_tokens", "100"),
    ("--gemm_plugin", "float16"),
    ("--use_paged_context_fmha", "enable"),
    ("--gather_generation_logits",),
    ("--workers", "2"),
)


def written(folder: Path, convert, build):
    """What both commands leave behind; None if one of them fails."""
    bench = make_bench(folder, "0.17.0", gpus=2)
    write_checkpoint(folder / "hf")
    flags = [word for flag in convert for word in flag]
    if bench.script("llama", *flags).returncode:
        return None
    if bench.build_raw(*(word for flag in build for word in flag)).returncode:
        return None
    found = {}
    for path in sorted(folder.rglob("*")):
        kept = path.name in ("config.json", "rank0.engine", "rank0.safetensors")
        if kept and path.parent.name != "hf":
            found[str(path.relative_to(folder))] = path.read_bytes()
    return found


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    found = written(tmp_path_factory.mktemp("whole"), CONVERT, BUILD)
    assert json.loads(found["engine/config.json"])["version"] == "0.17.0"
    return found


@pytest.mark.parametrize("dropped", CONVERT, ids=lambda flag: flag[0])
def test_convert_without_a_flag_writes_something_else_or_fails(
    whole, tmp_path, dropped
):
    rest = [flag for flag in CONVERT if flag != dropped]
    assert written(tmp_path, rest, BUILD) != whole


@pytest.mark.parametrize("dropped", BUILD, ids=lambda flag: flag[0])
def test_build_without_a_flag_writes_something_else_or_fails(whole, tmp_path, dropped):
    rest = [flag for flag in BUILD if flag != dropped]
    assert written(tmp_path, CONVERT, rest) != whole


def test_the_same_flags_write_the_same(whole, tmp_path):
    assert written(tmp_path, CONVERT, BUILD) == whole
