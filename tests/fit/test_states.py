"""Stored states are the target's, and grow with the answers."""

from __future__ import annotations

import pytest
import torch

from tests.fit.toy_fit import toy_store, toy_target
from trtspec.errors import UsageError
from trtspec.fit.states import StateStore
from trtspec.fit.target import identify


def test_states_are_those_of_a_plain_forward(tmp_path, target, answers):
    store = toy_store(tmp_path, target, (0, 1), answers[:20])
    for index in (0, 7, 19):
        tokens = torch.tensor([answers[index].tokens])
        with torch.no_grad():
            output = target.model(tokens, output_hidden_states=True, use_cache=False)
            # transformers gives the last layer's state after the final norm only
            first, final = output.hidden_states[1][0], output.hidden_states[-1][0]
        stored = store.read(index).float()
        assert stored.shape == (len(answers[index].tokens), 3 * 32)
        torch.testing.assert_close(stored[:, :32], first, atol=2e-2, rtol=1e-2)
        torch.testing.assert_close(stored[:, 64:], final, atol=2e-2, rtol=1e-2)


def test_a_store_grows_and_keeps_what_it_has(tmp_path, target, answers):
    small = toy_store(tmp_path / "a", target, (0,), answers[:5])
    before = [small.read(index) for index in range(5)]
    grown = toy_store(tmp_path / "a", target, (0,), answers[:11])
    assert (grown.count, grown.tokens) == (
        11,
        sum(len(answer.tokens) for answer in answers[:11]),
    )
    for index, states in enumerate(before):
        assert torch.equal(grown.read(index), states)


def test_what_an_interrupt_left_behind_does_not_count(tmp_path, target, answers):
    toy_store(tmp_path / "a", target, (0,), answers[:5])
    with (tmp_path / "a" / "states.bf16").open("ab") as stream:
        stream.write(b"\1" * 77)
    grown = toy_store(tmp_path / "a", target, (0,), answers[:9])
    whole = toy_store(tmp_path / "b", target, (0,), answers[:9])
    torch.testing.assert_close(grown.read(8), whole.read(8), atol=2e-2, rtol=1e-2)


def test_states_of_another_target_or_other_layers_are_refused(
    tmp_path, target, answers
):
    toy_store(tmp_path / "a", target, (0,), answers[:2])
    other = toy_target(tmp_path / "other", seed=1)
    with pytest.raises(UsageError, match="another target, or of other layers"):
        toy_store(tmp_path / "a", other, (0,), answers[:2])
    with pytest.raises(UsageError, match="another target, or of other layers"):
        StateStore(tmp_path / "a", identify(target.directory), (1,), 32)
