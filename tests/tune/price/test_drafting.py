"""What a round of drafting runs, by method."""

from __future__ import annotations

import pytest

from tests.tune.price import models
from trtspec.errors import UsageError
from trtspec.methods import (
    DFlash,
    DraftTarget,
    Eagle,
    Eagle3,
    Lookahead,
    Medusa,
    Mtp,
    NGram,
    Pard,
    ReDrafter,
    Suffix,
)
from trtspec.tune.price.drafting import drafter_forwards, drafting, forwards
from trtspec.tune.price.parts import Forward
from trtspec.tune.price.subject import Subject

CONTEXT = 100


class Counting:
    """A second per token of a model's forward, and per forward of a head."""

    def forward(self, placed, requests, width, context, *, once):
        assert once, "a draft model's own steps read each cache once"
        assert context == CONTEXT
        return float(requests * width)

    def head(self, head, requests, forwards, context):
        return float(len(forwards))


@pytest.fixture
def target(tmp_path):
    return models.placed(models.model(tmp_path / "8b", models.LLAMA_8B))


@pytest.mark.parametrize(
    "method",
    [
        NGram(method="ngram", draft_length=4),
        Suffix(method="suffix", draft_length=4),
        Lookahead(method="lookahead"),
    ],
    ids=lambda m: m.method,
)
def test_what_looks_things_up_takes_nothing_of_the_gpu(target, method):
    seconds = drafting(Subject("toy", method, target), Counting(), CONTEXT)
    assert seconds(16, 4) == 0.0
    assert drafter_forwards(method, 4) == 0


def test_a_draft_model_runs_once_per_token(target):
    method = DraftTarget(method="draft_target", model="d", draft_length=5)
    subject = Subject("toy", method, target, draft=target)
    assert drafting(subject, Counting(), CONTEXT)(2, 5) == 5 * 2
    assert drafter_forwards(method, 5) == 5


def test_a_parallel_draft_model_runs_once(target):
    method = Pard(method="pard", model="d", draft_length=5)
    subject = Subject("toy", method, target, draft=target)
    assert drafting(subject, Counting(), CONTEXT)(2, 5) == 2 * 10
    assert drafter_forwards(method, 5) == 1


def test_a_chain_first_reads_what_was_accepted_then_goes_token_by_token(
    target, tmp_path
):
    head = models.eagle3_head(tmp_path / "head", models.EAGLE3_8B)
    subject = models.eagle3(target, head)
    assert forwards(subject.method, 3) == (
        Forward(body=4, fused=4),
        Forward(body=1),
        Forward(body=1),
    )
    assert drafting(subject, Counting(), CONTEXT)(8, 3) == 3
    assert drafter_forwards(subject.method, 3) == 3
    assert len(forwards(Mtp(method="mtp", draft_length=2), 2)) == 2


def test_a_tree_takes_a_forward_per_level_as_wide_as_its_inner_nodes():
    tree = [[0], [1], [0, 0], [1, 0], [0, 0, 0]]
    method = Eagle(method="eagle", model="h", num_layers=3, tree=tree)
    first, *others = forwards(method, 5)
    assert first == Forward(body=4, fused=4)
    assert others == [Forward(body=2, output=2)] * 2


def test_a_dynamic_tree_is_as_deep_and_wide_as_the_recipe_says():
    eagle2 = Eagle(
        method="eagle", model="h", num_layers=4, tree="dynamic", dynamic_top_k=10
    )
    assert [one.body for one in forwards(eagle2, 60)] == [5, 10, 10, 10]
    eagle3 = Eagle3(
        method="eagle3", model="h", draft_length=3, tree="dynamic", tree_top_k=4
    )
    assert [one.body for one in forwards(eagle3, 12)] == [4, 4, 4]


def test_heads_and_blocks_take_one_forward():
    medusa = Medusa(
        method="medusa", model="h", num_heads=3, tree=[[0], [0, 0], [0, 0, 0]]
    )
    assert forwards(medusa, 3) == (Forward(body=1),)
    block = DFlash(method="dflash", model="h", draft_length=7)
    assert forwards(block, 7) == (Forward(body=8, output=7, fused=8),)


def test_a_method_nobody_can_price_is_refused(target):
    method = ReDrafter(method="redrafter", model="h")
    with pytest.raises(UsageError, match="what method redrafter drafts with"):
        drafting(Subject("toy", method, target), Counting(), CONTEXT)
