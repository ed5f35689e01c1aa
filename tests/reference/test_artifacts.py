"""Every method's artifact is built from public layouts, runs, and changes no token."""

import json
from functools import cache

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.reference.artifacts import write_model
from tests.reference.toy_heads.dflash import toy_head as toy_dflash_head
from tests.reference.toy_heads.dflash import write_head
from tests.reference.toy_heads.eagle import toy_eagle3_head, toy_eagle_head
from tests.reference.toy_heads.eagle_files import (
    write_eagle,
    write_eagle3,
    write_speculators,
)
from tests.reference.toy_heads.mtp import toy_head as toy_mtp_head
from tests.reference.toy_heads.setup import spread
from tests.reference.toys import toy_model
from trtspec.build.build import build
from trtspec.recipe import load_recipe
from trtspec.reference.backend import ReferenceBackend
from trtspec.reference.heads.medusa import MedusaHeads
from trtspec.reference.heads.mtp import public_tensors
from trtspec.reference.heads.redrafter import ReDrafterHead
from trtspec.reference.runner import open_runner
from trtspec.run import Request
from trtspec.run.generate import generate

WIDTH, ROWS, LAYERS = 32, 48, 2
DRAFTED = range(10, 30)
TREE = [[0], [1], [0, 0], [0, 0, 0]]
READS = [0, 1, -1]
REDRAFTER = {
    "model_type": "recurrent_drafting_drafter",
    "hidden_size": WIDTH,
    "exit_dim": 2 * WIDTH,
    "num_draft_layers": 1,
    "rnn": True,
    "vocab_size": ROWS,
}


def store(directory, tensors, config, name="model.safetensors"):
    """Write a checkpoint; pickled if its name says so."""
    directory.mkdir()
    (directory / "config.json").write_text(json.dumps(config))
    own = {key: tensor.clone().contiguous() for key, tensor in tensors.items()}
    if name.endswith(".pt"):
        torch.save(own, directory / name)
    else:
        save_file(own, directory / name, metadata={"format": "pt"})


def medusa(directory):
    heads = spread(MedusaHeads(4, 1, WIDTH, vocabulary=ROWS), 0)
    store(directory, heads.state_dict(), {}, "medusa_lm_head.safetensors")


def medusa_pickled(directory):
    heads = spread(MedusaHeads(4, 1, WIDTH, vocabulary=ROWS), 0)
    store(directory, heads.state_dict(), {}, "medusa_lm_head.pt")


def redrafter(directory):
    head = spread(ReDrafterHead(WIDTH, 2 * WIDTH, 1, ROWS, recurrent=True), 1)
    store(directory, head.state_dict(), REDRAFTER)


def next_token_heads(directory):
    store(directory, next_token_tensors(), {"hidden_size": WIDTH})


def next_token_tensors():
    return public_tensors(toy_mtp_head(toy_model()), LAYERS)


def pard(directory):
    config = read_config(write_model(directory, seed=1))
    write_config(directory, {**config, "pard_token": 3})


def target_with_heads(directory):
    """Write a target that holds next-token heads behind its layers."""
    config = read_config(write_model(directory))
    write_config(directory, {**config, "num_nextn_predict_layers": 1})
    file = directory / "model.safetensors"
    tensors = load_file(file) | next_token_tensors()
    save_file(
        {name: tensor.clone() for name, tensor in tensors.items()},
        file,
        metadata={"format": "pt"},
    )


def read_config(directory):
    return json.loads((directory / "config.json").read_text())


def write_config(directory, config):
    (directory / "config.json").write_text(json.dumps(config))


def reduced():
    return toy_eagle3_head(drafted=DRAFTED, fitted=False)


CHAIN = {"draft_length": 3}
EAGLE3 = {**CHAIN, "layers_to_capture": READS}
CASES = {
    "suffix": ("suffix", None, CHAIN),
    "lookahead": ("lookahead", None, {}),
    "draft_target": ("draft_target", lambda to: write_model(to, seed=1), CHAIN),
    "pard": ("pard", pard, CHAIN),
    "medusa": ("medusa", medusa, {"tree": TREE}),
    "medusa, pickled": ("medusa", medusa_pickled, {"tree": TREE}),
    "eagle": (
        "eagle",
        lambda to: write_eagle(to, toy_eagle_head()),
        {"num_layers": 3, "tree": TREE},
    ),
    "eagle3": ("eagle3", lambda to: write_eagle3(to, reduced()), EAGLE3),
    "eagle3 of speculators": (
        "eagle3",
        lambda to: write_speculators(to, reduced()),
        EAGLE3,
    ),
    "eagle3 of another width": (
        "eagle3",
        lambda to: write_eagle3(
            to, toy_eagle3_head(width=48, has_embedding=True, fitted=False)
        ),
        EAGLE3,
    ),
    "dflash": (
        "dflash",
        lambda to: write_head(to, toy_dflash_head(toy_model())),
        CHAIN,
    ),
    "redrafter": ("redrafter", redrafter, {"num_beams": 2, "draft_length_per_beam": 3}),
    "mtp": ("mtp", next_token_heads, CHAIN),
    "mtp of the target's own heads": ("mtp", None, CHAIN),
}
"""Name → method, what writes its checkpoint, further parameters."""


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TRTSPEC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def built(folder, speculation):
    """Build a recipe over the target beside it."""
    recipe = {
        "schema": "trtspec/v1",
        "name": "toy",
        "target": {"model": "./target", "dtype": "float32"},
        "speculation": speculation,
        "limits": {"max_batch_size": 2, "max_input_tokens": 20, "max_total_tokens": 60},
    }
    (folder / "toy.yaml").write_text(json.dumps(recipe))
    loaded = load_recipe(folder / "toy.yaml")
    return build(loaded, ReferenceBackend(), folder / "engines").artifact


def output(artifact):
    """Give the greedy tokens of one request, and how many were drafted."""
    request = Request("a", (5, 6, 7), 24, ignore_eos=True)
    with_end = open_runner(artifact, threads=1)
    chunks = list(generate(with_end, [request]))
    with_end.close()
    done = chunks[-1].completion
    return done.tokens, done.drafted


@cache
def plain_output():
    """Greedy tokens of the toy target by itself."""
    with torch.inference_mode():
        made = toy_model().generate(
            torch.tensor([[5, 6, 7]]), max_new_tokens=24, do_sample=False,
            eos_token_id=None,
        )  # fmt: skip
    return made[0, 3:].tolist()


@pytest.mark.parametrize("case", CASES)
def test_an_artifact_of_each_method_runs_and_keeps_the_output(tmp_path, case):
    method, write, parameters = CASES[case]
    speculation = {"method": method, **parameters}
    write_model(tmp_path / "target")
    if write is not None:
        write(tmp_path / "drafter")
        speculation["model"] = "./drafter"
    elif method == "mtp":
        target_with_heads(tmp_path / "target")
    artifact = built(tmp_path, speculation)
    assert (artifact.draft is None) is (write is None)
    if write is not None:
        assert (artifact.draft / "model.safetensors").is_file()
    tokens, drafted = output(artifact)
    assert tokens == plain_output()
    assert drafted > 0
