"""A sharded model of 70 billion parameters is checked by its headers, without torch."""

import json
import subprocess
import sys

from tests.e2e.conftest import ROOT
from tests.models.public import TARGETS, write_target

NAME = "meta-llama/Llama-3.1-70B"
RECIPE = """\
schema: trtspec/v1
name: large
backend: pytorch
target: {model: ./target, tensor_parallel: 4}
speculation: {method: ngram, draft_length: 4}
"""
CHECK = """\
import sys
from trtspec.cli.main import cli
cli(sys.argv[1:], standalone_mode=False)
heavy = {"torch", "transformers", "tensorrt_llm"} & sys.modules.keys()
assert not heavy, heavy
"""


def test_thirty_shards_are_read_and_planned_for(tmp_path):
    write_target(tmp_path / "target", TARGETS[NAME])
    assert len(list((tmp_path / "target").glob("*.safetensors"))) == 30
    (tmp_path / "recipe.yaml").write_text(RECIPE)
    asked = ["check", "recipe.yaml", "--json", "--trtllm", "1.2.1", "--gpu", "H200x4"]
    done = subprocess.run(
        [sys.executable, "-c", CHECK, *asked],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "", "HF_HUB_CACHE": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["verdict"] == "ok"
    plan = next(f for f in found["findings"] if f["rule"] == "memory-plan")["values"]
    assert plan["bytes_per_token"] == TARGETS[NAME]["kv_bytes_per_token"] // 4
    whole = 2 * TARGETS[NAME]["parameters"]["value"]
    assert 0.24 < plan["weight_bytes"] / whole < 0.26
