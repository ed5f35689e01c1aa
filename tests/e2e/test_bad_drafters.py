"""Drafters that cannot work are refused by check and build, from headers alone."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from tests.build.projects import write_project
from tests.models.drafters import (
    as_speculators,
    write_dflash,
    write_eagle,
    write_eagle3,
    write_medusa,
    write_mtp,
)
from tests.models.tiny import write_checkpoint
from trtspec.cli.main import cli

BLOCKED = 3
DRAFTER = "drafter"
TREE = [[0], [0, 0], [0, 0, 0]]
LAYERS = [0, 1, -1]


def truncated(directory, write):
    """Write a drafter and lose the end of its weights."""
    (file,) = write(directory).glob("*.safetensors")
    file.write_bytes(file.read_bytes()[:-10])


def named(method, **parameters):
    """Give the speculation section of a recipe with a drafter."""
    chains = ("eagle3", "draft_target", "dflash", "mtp")
    length = {"draft_length": 2} if method in chains else {}
    return {"method": method, "model": f"./{DRAFTER}", **length, **parameters}


EAGLE3 = named("eagle3", layers_to_capture=LAYERS)
BAD = {
    "an EAGLE-1 head given as eagle3": (
        EAGLE3,
        write_eagle,
        "is an EAGLE-1 or EAGLE-2 drafter (fc.weight is [8, 16], from one embedding "
        "and one hidden state)",
        "expected: an EAGLE-3 head",
        "write method: eagle, or give an EAGLE-3 head",
    ),
    "an EAGLE-3 head given as draft_target": (
        named("draft_target"),
        write_eagle3,
        "is an EAGLE-3 head (config.json has draft_vocab_size)",
        "expected: a causal language model of its own",
        "name the head under speculation.model with method: eagle3",
    ),
    "an EAGLE-3 head given as eagle": (
        named("eagle", num_layers=3, tree=TREE),
        write_eagle3,
        "is an EAGLE-3 head (it holds the tensor",
        "expected: an EAGLE-1 or EAGLE-2 drafter",
        "write method: eagle3, or give an EAGLE-1 or EAGLE-2 drafter",
    ),
    "fewer Medusa heads than the tree is deep": (
        named("medusa", tree=TREE),
        lambda to: write_medusa(to, heads=2, medusa_num_heads=None),
        "the tree is 3 levels deep, and the checkpoint has 2 Medusa heads",
        "expected: a tree of up to 2 levels",
        "choose a flatter tree, or a checkpoint with more heads",
    ),
    "heads for hidden states of another size": (
        named("medusa", tree=TREE),
        lambda to: write_medusa(to, hidden=12),
        "the medusa drafter has hidden_size 12, the target model 8",
        "both must be equal",
        "choose the drafter that was trained for this target model",
    ),
    "a head that fuses hidden states of another size": (
        EAGLE3,
        lambda to: write_eagle3(to, target=12, embedding=True, target_hidden_size=12),
        "the eagle3 drafter has hidden_size 12, the target model 8",
        "both must be equal",
        "choose the drafter that was trained for this target model",
    ),
    "a truncated file": (
        EAGLE3,
        lambda to: truncated(to, write_eagle3),
        "model.safetensors is truncated: expected ",
        "",
        "fetch this file again",
    ),
    "Medusa heads given as eagle3": (
        EAGLE3,
        write_medusa,
        "is a checkpoint of Medusa heads",
        "expected: an EAGLE-3 head",
        "write method: medusa, or give an EAGLE-3 head",
    ),
    "an EAGLE-3 head given as medusa": (
        named("medusa", tree=TREE),
        write_eagle3,
        "is an EAGLE-3 head",
        "expected: a checkpoint of Medusa heads",
        "write method: eagle3, or give a checkpoint of Medusa heads",
    ),
    "a draft model given as eagle3": (
        EAGLE3,
        write_checkpoint,
        "is a causal language model of its own",
        "expected: an EAGLE-3 head",
        "write method: draft_target, or give an EAGLE-3 head",
    ),
    "a speculators checkpoint of another algorithm": (
        EAGLE3,
        lambda to: as_speculators(write_eagle3(to, prefix="layers."), "peagle"),
        "is laid out for the speculators library (speculators_model_type: peagle)",
        "speculators' own layouts, eagle, eagle3",
        "choose another drafter",
    ),
    "a DFlash drafter whose layers the target does not have": (
        named("dflash"),
        write_dflash,
        "the drafter's config.json names layer 8, and the target model has 2 layers",
        "expected: layers from 0 to 1",
        "choose the drafter that was trained for this target model",
    ),
    "no layers that an EAGLE-3 head of so small a target could read": (
        named("eagle3"),
        write_eagle3,
        "nothing tells which layers of the target the 3 hidden states",
        "6 layers or more only",
        "set speculation.layers_to_capture",
    ),
    "a tree for several next-token heads": (
        named("mtp", tree="dynamic", tree_top_k=2),
        lambda to: write_mtp(to, heads=2),
        "tree dynamic with 2 next-token heads, one per position",
        "one head drafts all positions",
        "delete tree",
    ),
    "a target without next-token heads": (
        {"method": "mtp", "draft_length": 2},
        None,
        "the target's checkpoint holds no next-token heads",
        "method mtp drafts with the heads of the target's checkpoint",
        "choose a checkpoint that has them",
    ),
    "a method that TensorRT-LLM configures": (
        {"method": "auto"},
        None,
        "method auto does not run on backend reference",
        "it runs on: pytorch",
        "set backend: pytorch, or choose another method",
    ),
}
every_bad_one = pytest.mark.parametrize("case", BAD)


def project(folder, method, write):
    """Write a recipe, its target and its drafter; gives the recipe's path."""
    if write is not None:
        write(folder / DRAFTER)
    return write_project(folder, method=method)


def run(*arguments):
    return CliRunner().invoke(cli, [*map(str, arguments)])


@pytest.fixture(autouse=True)
def own_caches(tmp_path, monkeypatch):
    monkeypatch.setenv("TRTSPEC_CACHE", str(tmp_path / "cache"))


@every_bad_one
def test_check_refuses_it_with_place_values_and_advice(tmp_path, case):
    method, write, what, allowed, action = BAD[case]
    recipe = project(tmp_path, method, write)
    result = run("check", recipe, "--json")
    assert result.exception.exit_code == BLOCKED
    findings = json.loads(result.stdout)["findings"]
    blocking = [f for f in findings if f["severity"] == "blocking"]
    (finding,) = [f for f in blocking if what in f["what"]]
    assert finding["where"].startswith(f"{recipe}:")
    assert allowed in finding["why"]
    assert action in finding["action"]


@every_bad_one
def test_build_refuses_it_before_anything_is_converted(tmp_path, case):
    method, write, what, allowed, action = BAD[case]
    recipe = project(tmp_path, method, write)
    engines = tmp_path / "engines"
    error = run("build", recipe, "--engines", engines).exception
    assert error.exit_code == BLOCKED
    (problem,) = [problem for problem in error.problems if what in problem.what]
    assert problem.where.startswith(f"{recipe}:")
    assert allowed in problem.what
    assert action in problem.action
    assert not engines.exists()


GOOD = {
    "head count absent from config.json": (
        named("medusa", tree=TREE),
        lambda to: write_medusa(to, medusa_num_heads=None, medusa_num_layers=None),
    ),
    "head count of config.json below that of the tensors": (
        named("medusa", tree=TREE),
        lambda to: write_medusa(to, medusa_num_heads=2),
    ),
    "heads without an LM head of their own": (
        named("medusa", tree=TREE),
        lambda to: write_medusa(to, output=False),
    ),
    "a head in the speculators layout": (
        EAGLE3,
        lambda to: as_speculators(write_eagle3(to, prefix="layers.")),
    ),
    "an EAGLE drafter without bias": (
        named("eagle", num_layers=3, tree=TREE),
        lambda to: write_eagle(to, bias=False),
    ),
    "next-token heads beside the target": (named("mtp"), write_mtp),
}


@pytest.mark.parametrize("case", GOOD)
def test_check_accepts(tmp_path, case):
    result = run("check", project(tmp_path, *GOOD[case]), "--json")
    assert [
        f for f in json.loads(result.stdout)["findings"] if f["severity"] == "blocking"
    ] == []
    assert result.exit_code == 0


def test_check_of_a_drafter_imports_neither_torch_nor_transformers(tmp_path):
    recipe = project(tmp_path, named("medusa", tree=TREE), write_medusa)
    code = (
        "import sys\n"
        "from trtspec.cli.main import cli\n"
        f"cli(['check', {str(recipe)!r}], standalone_mode=False)\n"
        "slow = {'torch', 'transformers', 'scipy', 'huggingface_hub'}\n"
        "sys.exit(', '.join(slow & set(sys.modules)) or 0)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr.strip()) == (0, "")
