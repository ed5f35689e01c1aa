"""Recipes that come with trtspec, and configurations from the field."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.version import Version

from tests.verify.gate.asking import of, read
from trtspec.recipe import load_recipe
from trtspec.verify.gate import gate

ROOT = Path(__file__).resolve().parents[3]
RECIPES = sorted((ROOT / "recipes").rglob("*.yaml"))
VERSIONS = {"reference": None, "tensorrt": "1.2.1", "pytorch": "1.4.0rc4"}


def _name(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


@pytest.mark.parametrize("path", RECIPES, ids=_name)
def test_recipes_are_lossless_as_they_are(path):
    found = load_recipe(path).recipe
    version = VERSIONS[found.backend]

    result = gate(found, version=Version(version) if version else None, environment={})
    lossy = getattr(found.speculation, "acceptance", "exact") != "exact"
    assert result.verdict == ("fail" if lossy else "pass"), result.reasons
    assert of(result, "speculation.method").value == found.speculation.method


def test_the_official_example_that_turns_relaxed_acceptance_on():
    """examples/llm-api/llm_speculative_decoding.py of 1.3.0rc24, its MTP function."""
    text = """
speculative_config:
  decoding_type: MTP
  num_nextn_predict_layers: 1
  use_relaxed_acceptance_for_thinking: true
  relaxed_topk: 10
  relaxed_delta: 0.01
"""

    result = read(text, 0.0, version="1.3.0rc24", environment={})
    assert result.verdict == "fail"


def test_a_public_benchmark_that_pins_its_acceptance():
    text = """
SGLANG_SIMULATE_ACC_LEN=2.49 SGLANG_SIMULATE_ACC_METHOD=match-expected \\
python3 -m sglang.launch_server --model-path m \\
  --speculative-algorithm EAGLE --speculative-num-steps 3 \\
  --speculative-eagle-topk 1 --speculative-num-draft-tokens 4
"""

    result = read(text, 0.0)
    assert result.verdict == "fail"
    assert "2.49" in result.reasons[0]


def test_a_workload_as_people_send_it():
    """Temperature 0.7 with logprobs, a penalty and min_p (EAGLE-3 on 1.2)."""
    text = """
speculative_config:
  decoding_type: Eagle
  max_draft_len: 3
  speculative_model: head
  allow_advanced_sampling: true
"""
    controls = {"logprobs": 5, "repetition_penalty": 1.15, "min_p": 0.05}

    result = read(text, 0.7, version="1.2.1", environment={}, controls=controls)
    assert result.verdict == "fail"
    effects = {name: of(result, name).effect for name in controls}
    assert effects == {
        "logprobs": "lossy",
        "repetition_penalty": "lossless",
        "min_p": "lossy",
    }
