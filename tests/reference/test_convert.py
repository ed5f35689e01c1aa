"""Whether conversion keeps what a checkpoint is, and gives the same bytes each time."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from tests.models.tiny import (
    shapes,
    tensors,
    write_checkpoint,
    write_sharded,
)
from tests.reference.gguf_files import TOKENS, write_gguf
from trtspec.models.describe import describe
from trtspec.models.files import checkpoint_files
from trtspec.models.json_file import read_json_object
from trtspec.reference.convert import WAYS, copy_checkpoint, main
from trtspec.reference.settings_files import normalise

ORIGIN = "/home/someone/models/secret"


def convert(way, source, output, dtype):
    """Convert as the program does, in this process."""
    output.mkdir(exist_ok=True)
    names = [path.name for path in checkpoint_files(source)]
    WAYS[way](source, output, names, dtype)
    return output


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def add_json(path, **content):
    old = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**old, **content}))


@pytest.fixture
def source(tmp_path):
    return write_checkpoint(tmp_path / "source")


def test_copy_keeps_weights_and_tokenizer_byte_for_byte(source, tmp_path):
    output = convert("copy", source, tmp_path / "out", "float32")
    for name in ("model.safetensors", "tokenizer.json"):
        assert (output / name).read_bytes() == (source / name).read_bytes()
        assert not (output / name).samefile(source / name)


def test_copy_follows_the_links_of_the_hub_cache(source, tmp_path):
    linked = tmp_path / "snapshot"
    linked.mkdir()
    for path in source.iterdir():
        (linked / path.name).symlink_to(path)
    output = convert("copy", linked, tmp_path / "out", "float32")
    assert not any(path.is_symlink() for path in output.iterdir())
    assert describe(output) == describe(source)


def test_copy_takes_only_the_named_files(source, tmp_path):
    (source / "README.md").write_text("read me")
    output = convert("copy", source, tmp_path / "out", "float32")
    assert not (output / "README.md").exists()


def test_configuration_states_the_dtype_in_every_section(source, tmp_path):
    add_json(
        source / "config.json",
        torch_dtype="float16",
        text_config={"torch_dtype": "float16", "dtype": "float16", "rows": 3},
    )
    output = convert("copy", source, tmp_path / "out", "float32")
    config = read_json_object(output / "config.json")
    assert config["dtype"] == config["torch_dtype"] == "float32"
    assert config["text_config"] == {
        "torch_dtype": "float32",
        "dtype": "float32",
        "rows": 3,
    }


def test_nothing_tells_where_the_files_came_from(source, tmp_path):
    add_json(source / "config.json", _name_or_path=ORIGIN)
    add_json(source / "generation_config.json", eos_token_id=1, _commit_hash=ORIGIN)
    add_json(
        source / "tokenizer_config.json",
        eos_token="t1",
        name_or_path=ORIGIN,
        tokenizer_file=ORIGIN,
        is_local=True,
        local_files_only=False,
    )
    output = convert("copy", source, tmp_path / "out", "float32")
    assert ORIGIN.encode() not in b"".join(contents(output).values())
    assert read_json_object(output / "generation_config.json") == {"eos_token_id": 1}
    assert read_json_object(output / "tokenizer_config.json") == {"eos_token": "t1"}


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_cast_rounds_each_tensor_as_torch_does(source, tmp_path, dtype):
    output = convert("cast", source, tmp_path / "out", dtype)
    wanted = getattr(torch, dtype)
    found = load_file(output / "model.safetensors")
    assert set(found) == set(shapes())
    for name, tensor in load_file(source / "model.safetensors").items():
        assert found[name].dtype == wanted
        assert torch.equal(found[name], tensor.to(wanted))
    assert describe(output).dtype == dtype


def test_cast_leaves_integers_alone(tmp_path):
    weights = {name: torch.tensor(t) for name, t in tensors().items()}
    weights["counts"] = torch.arange(5)
    source = write_checkpoint(tmp_path / "source")
    save_file(weights, source / "model.safetensors")
    output = convert("cast", source, tmp_path / "out", "bfloat16")
    assert torch.equal(
        load_file(output / "model.safetensors")["counts"], torch.arange(5)
    )


def test_cast_keeps_shards_names_and_index(tmp_path):
    source = write_sharded(tmp_path / "source")
    output = convert("cast", source, tmp_path / "out", "float16")
    assert {path.name for path in output.iterdir()} == {
        path.name for path in source.iterdir()
    }
    index = read_json_object(output / "model.safetensors.index.json")
    assert (
        index["weight_map"]
        == (read_json_object(source / "model.safetensors.index.json")["weight_map"])
    )
    assert index["metadata"]["total_size"] == describe(output).weight_bytes
    assert describe(output).weight_bytes * 2 == describe(source).weight_bytes


def test_cast_writes_one_metadata_entry_whatever_the_source_had(tmp_path):
    source = write_checkpoint(tmp_path / "source")
    weights = load_file(source / "model.safetensors")
    notes = {"format": "pt", "a": "1", "b": ORIGIN, "c": "3"}
    save_file(weights, source / "model.safetensors", metadata=notes)
    output = convert("cast", source, tmp_path / "out", "bfloat16")
    with safe_open(output / "model.safetensors", framework="pt") as stored:
        assert stored.metadata() == {"format": "pt"}


@pytest.fixture(scope="module")
def gguf_source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gguf") / "someones-models"
    write_gguf(folder)
    return folder


@pytest.fixture(scope="module")
def gguf_output(gguf_source, tmp_path_factory):
    return convert("load", gguf_source, tmp_path_factory.mktemp("out"), "float32")


def test_gguf_becomes_a_checkpoint_of_the_same_model(gguf_source, gguf_output):
    info, was = describe(gguf_output), describe(gguf_source)
    assert info.format == "safetensors"
    assert info.architecture == "LlamaForCausalLM" or info.family == "llama"
    for fact in ("layers", "heads", "kv_heads", "hidden_size", "vocabulary_rows",
                 "parameters", "tied_embeddings", "context_length"):  # fmt: skip
        assert getattr(info, fact) == getattr(was, fact), fact


def test_gguf_weights_are_kept(gguf_output):
    found = load_file(gguf_output / "model.safetensors")
    for name, tensor in tensors().items():
        if "q_proj" in name or "k_proj" in name:
            continue  # a GGUF stores their rows in another order
        np.testing.assert_array_equal(found[name].numpy(), tensor.astype(np.float32))


def test_gguf_end_token_is_kept(gguf_output):
    generation = read_json_object(gguf_output / "generation_config.json")
    assert generation["eos_token_id"] == TOKENS.index("<|end|>")


def test_gguf_output_says_nothing_of_quantization_or_origin(gguf_source, gguf_output):
    config = read_json_object(gguf_output / "config.json")
    assert "quantization_config" not in config
    assert config["dtype"] == "float32"
    everything = b"".join(contents(gguf_output).values())
    assert str(gguf_source).encode() not in everything


def test_gguf_in_another_dtype_is_the_rounded_float32(
    gguf_source, gguf_output, tmp_path
):
    half = convert("load", gguf_source, tmp_path / "half", "bfloat16")
    exact = load_file(gguf_output / "model.safetensors")
    for name, tensor in load_file(half / "model.safetensors").items():
        assert torch.equal(tensor, exact[name].to(torch.bfloat16)), name


def test_gguf_output_loads_and_generates(gguf_output):
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(gguf_output, dtype=torch.float32)
    assert model.get_output_embeddings().weight.data_ptr() == (
        model.get_input_embeddings().weight.data_ptr()
    )
    tokens = model.generate(torch.tensor([[3, 4]]), max_new_tokens=2, do_sample=False)
    assert tokens.shape[1] >= 3


def test_gguf_tokenizer_of_another_kind_is_left_to_transformers(tmp_path):
    write_gguf(tmp_path / "source", pre="qwen2")
    output = convert("load", tmp_path / "source", tmp_path / "out", "float32")
    assert (output / "tokenizer.json").is_file()


def program(task, **options):
    """Run the converter as the builder does: it ends when its input closes."""
    reading, writing = os.pipe()
    try:
        return subprocess.run(
            [sys.executable, "-m", "trtspec.reference.convert", json.dumps(task)],
            stdin=reading,
            capture_output=True,
            text=True,
            check=False,
            **options,
        )
    finally:
        os.close(reading)
        os.close(writing)


def task(source, output, way, dtype="bfloat16", **changes):
    names = [path.name for path in checkpoint_files(source)]
    return {
        "source": str(source), "output": str(output), "names": names, "way": way,
        "dtype": dtype, "make_tokenizer": False, **changes,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("way", "make"),
    [("copy", write_checkpoint), ("cast", write_checkpoint), ("load", write_gguf)],
)
def test_two_processes_write_the_same_bytes(tmp_path, way, make):
    make(tmp_path / "source")
    here, there = tmp_path / "here", tmp_path / "there"
    for output in (here, there):
        output.mkdir()
    main([json.dumps(task(tmp_path / "source", here, way))])
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    result = program(task(tmp_path / "source", there, way), env=environment)
    assert result.returncode == 0, result.stderr
    assert contents(here) == contents(there)
    assert len(contents(here)) >= 3


def test_failure_ends_in_one_line_that_says_why(source, tmp_path):
    result = program(task(source, tmp_path / "gone", "cast"))
    assert result.returncode == 1
    assert "Traceback" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("FileNotFoundError: ")


def test_full_disk_is_recognisable_in_the_last_line(source, tmp_path, monkeypatch):
    from safetensors import SafetensorError

    def full(*args, **options):
        raise SafetensorError("I/O error: No space left on device (os error 28)")

    (tmp_path / "out").mkdir()
    monkeypatch.setattr("safetensors.torch.save_file", full)
    with pytest.raises(SystemExit, match=r"os error 28"):
        main([json.dumps(task(source, tmp_path / "out", "cast"))])


def test_converter_whose_builder_is_gone_makes_nothing(source, tmp_path):
    (tmp_path / "out").mkdir()
    arguments = json.dumps(task(source, tmp_path / "out", "cast"))
    result = subprocess.run(
        [sys.executable, "-m", "trtspec.reference.convert", arguments],
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert result.returncode == 1
    assert not (tmp_path / "out" / "model.safetensors").exists()


def test_converter_ends_when_its_standard_input_closes():
    code = (
        "from trtspec.reference.convert import end_with_parent\n"
        "import time\n"
        "end_with_parent()\n"
        "print('ready', flush=True)\n"
        "time.sleep(600)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    process.stdin.close()
    assert process.wait(timeout=60) == 1
    process.stdout.close()


def test_fast_tokenizer_is_made_from_the_slow_ones_files(tmp_path):
    source = write_checkpoint(tmp_path / "source")
    (source / "tokenizer.json").unlink()
    vocabulary = {"<e>": 0, "a": 1, "b": 2, "ab": 3}
    (source / "vocab.json").write_text(json.dumps(vocabulary))
    (source / "merges.txt").write_text("#version: 0.2\na b\n")
    add_json(
        source / "tokenizer_config.json",
        tokenizer_class="GPT2Tokenizer",
        eos_token="<e>",
        bos_token="<e>",
        unk_token="<e>",
    )
    (tmp_path / "out").mkdir()
    wanted = task(
        source, tmp_path / "out", "copy", dtype="float32", make_tokenizer=True
    )
    main([json.dumps(wanted)])
    made = read_json_object(tmp_path / "out" / "tokenizer.json")
    assert made["model"]["vocab"] == vocabulary
    config = (tmp_path / "out" / "tokenizer_config.json").read_text()
    assert str(tmp_path) not in config


def test_normalising_twice_changes_nothing(source, tmp_path):
    output = convert("copy", source, tmp_path / "out", "float32")
    before = contents(output)
    normalise(output, "float32")
    assert contents(output) == before


def test_text_outside_ascii_stays_readable(source, tmp_path):
    add_json(source / "tokenizer_config.json", eos_token="▁é")
    (tmp_path / "out").mkdir()
    names = ["config.json", "tokenizer_config.json"]
    copy_checkpoint(source, tmp_path / "out", names, "float32")
    text = (tmp_path / "out" / "tokenizer_config.json").read_text(encoding="utf-8")
    assert '"▁é"' in text
