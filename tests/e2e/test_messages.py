"""Mistakes of a new user: what the message says to do is enough to put them right.

Each test reads the edit out of the message, makes it, and checks again.
"""

import json
import re
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from tests.check.samples import content
from tests.models.drafters import write_eagle, write_eagle3, write_medusa
from tests.models.tiny import tensors, write_checkpoint, write_sharded
from trtspec.cli.main import cli
from trtspec.errors import TrtspecError

LIMITS = {"max_batch_size": 4, "max_input_tokens": 16, "max_total_tokens": 48}
ENGINES, RELEASE, MAIN = "1.0.0", "1.2.1", "1.3.0rc22"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A folder with small checkpoints of every kind that the recipes name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    write_checkpoint(tmp_path / "target")
    half = {n: t for n, t in tensors().items() if ".layers.1." not in n}
    write_checkpoint(tmp_path / "draft", weights=half, num_hidden_layers=1)
    return tmp_path


def recipe(**changes):
    return content(**{"limits": LIMITS, **changes})


def check(given, *flags):
    """Give what check says of a recipe, and whether it lets it pass."""
    text = given if isinstance(given, str) else yaml.safe_dump(given, sort_keys=False)
    Path("recipe.yaml").write_text(text)
    done = CliRunner().invoke(cli, ["check", "recipe.yaml", "--json", *flags])
    if done.exit_code == 0:
        return "", True
    assert isinstance(done.exception, TrtspecError | SystemExit), done.exception
    if not done.stdout.startswith("{"):
        return str(done.exception), False
    found = json.loads(done.stdout)["findings"]
    blocking = [f for f in found if f["severity"] == "blocking"]
    said = ("what", "why", "action", "snippet")
    return "\n".join(f[part] for f in blocking for part in said), False


def refused(given, *flags):
    text, passes = check(given, *flags)
    assert not passes
    return text


def advice(text, pattern):
    """Take the edit out of a message."""
    found = re.search(pattern, text)
    assert found, text
    return found[1]


def test_a_key_with_a_typing_error(here):
    text = yaml.safe_dump(recipe()).replace("max_batch_size", "max_bach_size")
    right = advice(refused(text), r"do: write (\w+)")
    assert check(text.replace("max_bach_size", right))[1]


def test_a_type_by_another_name(here):
    wrong = recipe(target={"model": "./target", "dtype": "fp16"})
    right = advice(refused(wrong), r"do: write dtype: (\w+)")
    assert check(recipe(target={"model": "./target", "dtype": right}))[1]


def test_a_path_with_a_typing_error(here):
    right = advice(refused(recipe(target={"model": "./targt"})), r"write model: (\S+)")
    assert check(recipe(target={"model": right}))[1]


def test_a_draft_model_of_another_family(here):
    other = tuple(f"x{number}" for number in range(16))
    half = {n: t for n, t in tensors().items() if ".layers.1." not in n}
    write_checkpoint(here / "other", weights=half, tokens=other, num_hidden_layers=1)
    drafting = {"method": "draft_target", "model": "./other", "draft_length": 4}
    text = refused(recipe(speculation=drafting))
    advice(text, "(draft model of the target's family, with the same tokenizer)")
    assert check(recipe(speculation={**drafting, "model": "./draft"}))[1]


def test_an_eagle_1_head_under_eagle3(here):
    write_eagle(here / "head")
    wrong = {"method": "eagle3", "model": "./head", "draft_length": 4}
    text = refused(recipe(backend="pytorch", speculation=wrong), "--trtllm", RELEASE)
    method, backend = re.search(r"method: (\w+) on backend (\w+)", text).groups()
    right = {"method": method, "model": "./head", "tree": [[0], [1], [0, 0]]}
    right |= {"num_layers": 2}
    assert check(recipe(backend=backend, speculation=right), "--trtllm", ENGINES)[1]


def test_an_eagle_3_head_as_a_draft_model(here):
    write_eagle3(here / "head")
    wrong = {"method": "draft_target", "model": "./head", "draft_length": 4}
    machine = ("--trtllm", RELEASE)
    text = refused(recipe(backend="pytorch", speculation=wrong), *machine)
    right = {**wrong, "method": advice(text, r"method: (\w+)")}
    assert check(recipe(backend="pytorch", speculation=right), *machine)[1]


def test_a_shard_that_is_missing(here):
    write_sharded(here / "sharded")
    shard = next((here / "sharded").glob("model-00002*"))
    kept = shard.read_bytes()
    shard.unlink()
    wrong = recipe(target={"model": "./sharded"})
    name = advice(refused(wrong), r"missing, first (\S+)")
    (here / "sharded" / name).write_bytes(kept)  # as "fetch the missing files" says
    assert check(wrong)[1]


def test_a_draft_length_of_nothing(here):
    wrong = {"method": "ngram", "draft_length": 0}
    method = advice(
        refused(recipe(speculation=wrong)), r"write method: (\w+) and delete draft_len"
    )
    assert check(recipe(speculation={"method": method}))[1]


def test_a_medusa_tree_that_is_deeper_than_the_heads(here):
    write_medusa(here / "heads", heads=2)
    tree = [[0], [0, 0], [0, 0, 0], [0, 0, 0, 0]]
    wrong = {"method": "medusa", "model": "./heads", "tree": tree}
    machine = ("--trtllm", ENGINES)
    target = {"model": "./target", "dtype": "float16"}

    def whole(speculation):
        return recipe(backend="tensorrt", target=target, speculation=speculation)

    text = refused(whole(wrong), *machine)
    heads = int(advice(text, r"num_heads: (\d+)"))
    most = int(advice(text, r"paths of tree that have (\d+) numbers or fewer"))
    kept = [path for path in tree if len(path) <= most]
    assert check(whole({**wrong, "num_heads": heads, "tree": kept}), *machine)[1]


def test_the_engine_backend_where_it_was_removed(here):
    text = refused(recipe(backend="tensorrt"), "--trtllm", MAIN)
    rewritten = advice(text, r"(?s)(schema: trtspec/v1\n.*)")
    lines = [
        line[4:] if line.startswith("    ") else line for line in rewritten.split("\n")
    ]
    indented = rewritten.split("\n")[1].startswith("    ")
    whole = "\n".join(lines) if indented else rewritten
    assert yaml.safe_load(whole)["backend"] == "pytorch"
    assert check(whole, "--trtllm", MAIN)[1]


def test_fp8_on_a_gpu_that_has_none(here):
    machine = ("--trtllm", ENGINES, "--gpu")
    target = {"model": "./target", "quantization": "fp8", "dtype": "bfloat16"}
    wrong = recipe(backend="tensorrt", target=target)
    gpu = advice(refused(wrong, *machine, "A100-80GB"), r"write --gpu '([^']+)'")
    right = advice(refused(wrong, *machine, gpu), r"choose int8_sq or (\w+)")
    target["quantization"] = right
    assert check(recipe(backend="tensorrt", target=target), *machine, gpu)[1]


def test_an_fp8_cache_on_a_gpu_that_has_no_fp8(here):
    machine = ("--trtllm", RELEASE, "--gpu", "A100 SXM 80GB")
    text = refused(recipe(backend="pytorch", pytorch={"kv_cache": "fp8"}), *machine)
    kind = advice(text, r"write pytorch.kv_cache: (\w+)")
    assert check(recipe(backend="pytorch", pytorch={"kv_cache": kind}), *machine)[1]


def test_more_tokens_than_the_model_was_made_for(here):
    long = {**LIMITS, "max_total_tokens": 4096}
    most = advice(
        refused(recipe(limits=long)), r"set limits.max_total_tokens to (\d+) or less"
    )
    assert check(recipe(limits={**LIMITS, "max_total_tokens": int(most)}))[1]


def test_lora_together_with_cuda_graphs(here):
    write_eagle3(here / "head")
    head = {"method": "eagle3", "model": "./head", "draft_length": 4}
    options = {"llm_args": {"enable_lora": True}}

    def whole(**more):
        return recipe(backend="pytorch", speculation=head, pytorch={**options, **more})

    key, value = re.search(
        r"write pytorch\.(\w+): (\w+)", refused(whole(), "--trtllm", RELEASE)
    ).groups()
    assert check(whole(**{key: json.loads(value)}), "--trtllm", RELEASE)[1]


def test_a_schedule_on_a_version_that_has_one_length_alone(here):
    write_eagle3(here / "head")
    head = {"method": "eagle3", "model": "./head", "draft_length": {2: 4, 4: 2}}
    text = refused(recipe(backend="pytorch", speculation=head), "--trtllm", ENGINES)
    head["draft_length"] = int(advice(text, r"write draft_length: (\d+)"))
    assert check(recipe(backend="pytorch", speculation=head), "--trtllm", ENGINES)[1]


def test_pipeline_parallelism_together_with_speculation(here):
    write_eagle3(here / "head")
    head = {"method": "eagle3", "model": "./head", "draft_length": 4}
    pipeline = {"llm_args": {"pipeline_parallel_size": 2}}
    wrong = recipe(backend="pytorch", speculation=head, pytorch=pipeline)
    text = refused(wrong, "--trtllm", RELEASE)
    assert advice(text, r"delete (\w+) and raise target") == "pipeline_parallel_size"
    right = recipe(
        backend="pytorch",
        speculation=head,
        target={"model": "./target", advice(text, r"raise target\.(\w+)"): 1},
    )
    assert check(right, "--trtllm", RELEASE)[1]
