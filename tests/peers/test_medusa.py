"""Our Medusa heads against those of their authors, the PyPI package medusa-llm.

To run it: ``pip install --no-deps medusa-llm`` beside the development tools.
"""

from __future__ import annotations

import itertools

import pytest
import torch
import transformers
from safetensors.torch import save_file

from tests.reference.engines import TOKENIZER
from tests.reference.toy_heads.setup import spread, toy_setup
from tests.reference.toys import make_toy
from trtspec.methods import Medusa
from trtspec.reference.chance import SeededChance
from trtspec.reference.drafters import DraftContext, Observation, open_drafter
from trtspec.reference.heads.medusa import load_medusa
from trtspec.reference.slots import Row, SlotModel
from trtspec.run import SamplingParams

peer = pytest.importorskip(
    "medusa.model.medusa_model",
    reason="the PyPI package medusa-llm does not import here",
    exc_type=ImportError,
)

PROMPTS = torch.tensor([[3, 9, 4, 11, 7, 20], [8, 2, 40, 31, 5, 5]])
RANKS = (3, 2, 2)
"""Tokens per level; every combination is a path, which is all that 0.1 can have."""


@pytest.fixture(scope="module")
def target():
    return make_toy("llama", num_key_value_heads=2, head_dim=8)


@pytest.fixture(scope="module")
def model(target, tmp_path_factory):
    """The authors' model around our toy, with heads that are well spread."""
    name = tmp_path_factory.mktemp("tokenizer")
    transformers.PreTrainedTokenizerFast(tokenizer_object=TOKENIZER).save_pretrained(
        name
    )
    made = peer.MedusaModel(target, 3, 1, str(name))
    spread(made.medusa_head, seed=1)
    return made


@pytest.fixture(scope="module")
def checkpoint(model, tmp_path_factory):
    """What their training saves: the state of the list of heads."""
    directory = tmp_path_factory.mktemp("heads")
    save_file(model.medusa_head.state_dict(), directory / "medusa_lm_head.safetensors")
    return directory


@pytest.fixture(scope="module")
def states(target):
    """Final states [rows, n, hidden] of the prompts, as the engine gets them."""
    slots = SlotModel(target, 2, 32, 16)
    slots.capture((-1,))
    given = slots.run(0, [Row(row) for row in PROMPTS.tolist()], last_only=False).states
    slots.capture(())
    return given


@torch.inference_mode()
def test_every_heads_logits_are_those_of_the_authors(target, model, checkpoint, states):
    heads = load_medusa(
        checkpoint,
        hidden_size=32,
        lm_head=target.get_output_embeddings(),
        dtype=torch.float32,
        device=torch.device("cpu"),
    )
    theirs = model(PROMPTS)  # [heads, rows, n, vocabulary]
    ours = heads(states).movedim(2, 0)
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("row", [0, 1])
@torch.inference_mode()
def test_the_tree_is_that_of_the_authors(target, model, checkpoint, states, row):
    logits, _, pending = model(PROMPTS[row : row + 1], output_orig=True)
    buffers = peer.generate_medusa_buffers([1, *RANKS], device="cpu")
    _, candidates = peer.generate_candidates(
        logits, pending, list(RANKS), buffers["tree_indices"], 0.0
    )
    paths = tuple(
        path
        for depth in range(1, len(RANKS) + 1)
        for path in itertools.product(*map(range, RANKS[:depth]))
    )
    method = Medusa(method="medusa", model="./heads", tree=paths)
    drafter = open_drafter(method, checkpoint, toy_setup(target))
    drafter.observe(0, Observation(states[row]))
    first = int(pending[0, -1].argmax())
    asked = DraftContext(
        [*PROMPTS[row].tolist(), first], 9, SamplingParams(), SeededChance(0)
    )
    (tree,) = drafter.propose([asked])
    assert [first, *tree.tokens] == candidates[0].tolist()
    seen = buffers["medusa_attn_mask"][0, 0].bool()  # a node sees itself and above
    depths = [0, *tree.depths]
    assert [int(row.sum()) - 1 for row in seen] == depths
    for node, parent in enumerate(tree.parents):
        above = seen[parent + 1].clone()
        above[node + 1] = True
        assert torch.equal(seen[node + 1], above)
