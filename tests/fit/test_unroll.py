"""Drafting all chains at once is drafting one chain after the other."""

from __future__ import annotations

import pytest
import torch
from transformers import DynamicCache

from tests.fit.toy_fit import toy_objective, toy_store
from trtspec.fit.batches import collate


def states_beside_tokens(kind, objective, batch):
    if kind == "mtp":
        return batch.states[:, :-1, -32:].float()
    return objective.head.fuse(batch.states[:, :-1, :-32].float())


def one_chain(head, tokens, states, start, steps):
    """Read up to a chain's start, then step by step on the head's own states."""
    cache, given = DynamicCache(), states[None, : start + 1]
    fed, at = tokens[1 : start + 2], torch.arange(start + 1)
    found = []
    for step in range(steps):
        output = head(
            input_ids=fed[None],
            attention_mask=None
            if step == 0
            else torch.zeros(1, 1, 1, start + 1 + step),
            position_ids=at[None],
            past_key_values=cache,
            states=given,
        )
        found.append(output.logits[0, -1])
        given = output.states[:, -1:]
        fed, at = tokens[start + 2 + step][None], torch.tensor([start + 1 + step])
    return torch.stack(found)


@pytest.mark.parametrize("kind", ["eagle3", "mtp"])
def test_every_chain_drafts_as_it_would_alone(tmp_path, target, answers, kind):
    objective = toy_objective(kind, target, answers, steps=4)
    store = toy_store(tmp_path, target, objective.layers, answers[:4])
    batch = collate(answers, store, [1, 3, 0])
    with torch.no_grad():
        beside = states_beside_tokens(kind, objective, batch)
        by_step = list(objective.guesses(batch, objective.own))
        for chain in range(0, len(batch.row), 5):
            row, start = int(batch.row[chain]), int(batch.start[chain])
            steps = min(4, int(batch.room[chain]))
            alone = one_chain(
                objective.head, batch.tokens[row], beside[row], start, steps
            )
            for step in range(steps):
                place = batch.reaching(step).tolist().index(chain)
                torch.testing.assert_close(
                    by_step[step][place], alone[step], atol=3e-4, rtol=1e-3
                )


def test_a_later_step_teaches_the_first_one(tmp_path, target, answers):
    objective = toy_objective("eagle3", target, answers, steps=2)
    store = toy_store(tmp_path, target, objective.layers, answers[:2])
    batch = collate(answers, store, [0, 1])
    _, second = objective.guesses(batch, objective.own)
    second.sum().backward()
    # keys of step 0 are seen in step 1, and its states are read
    assert objective.head.fc.weight.grad.abs().sum() > 0
    assert objective.head.layers[0].self_attn.k_proj.weight.grad.abs().sum() > 0
