"""What a drafter observes: the target's states of exactly the tokens that count."""

from __future__ import annotations

import pytest
import torch

from tests.reference.engines import finish, request, sampled, submit
from tests.reference.toys import toy_model, toy_slots
from trtspec.methods import NGram
from trtspec.reference.capture import FINAL
from trtspec.reference.drafters import BaseDrafter
from trtspec.reference.engine import Engine
from trtspec.reference.tree import NO_DRAFT, ROOT, DraftTree

METHOD = NGram(method="ngram", draft_length=2)


class Witness(BaseDrafter):
    """Proposes small trees, some of them right, and checks what it observes."""

    reads = (0, FINAL)

    def __init__(self) -> None:
        self.states: dict[int, torch.Tensor] = {}
        self.observed = self.accepted = self.released = 0

    def propose(self, contexts):
        return [self._tree(slot, context) for slot, context in enumerate(contexts)]

    def _tree(self, slot, context):
        if slot not in self.states:
            assert context.limit == 0  # speculation is off: nothing was observed
            return NO_DRAFT
        assert len(self.states[slot]) == len(context.tokens) - 1
        _, logits = plain(context.tokens)
        best = int(logits[-1].argmax())
        return DraftTree((best ^ 1, best, 7, 9), (ROOT, ROOT, 0, 1)[: 2 + 2])

    def observe(self, slot, observation):
        earlier = self.states.get(slot, torch.zeros(0, 64))
        self.states[slot] = torch.cat([earlier, observation.states])
        self.observed += 1
        self.accepted += len(observation.path)
        if observation.best:
            assert len(observation.best) in (1, 5)

    def move(self, source, target):
        if source in self.states:
            self.states[target] = self.states.pop(source)

    def release(self, slot):
        self.states.pop(slot, None)
        self.released += 1


@torch.inference_mode()
def plain(tokens):
    output = toy_model()(
        torch.tensor([list(tokens)]), use_cache=False, output_hidden_states=True
    )
    states = torch.cat([output.hidden_states[1][0], output.hidden_states[2][0]], -1)
    return states, output.logits[0]


@pytest.mark.parametrize("slots", [1, 3])
def test_states_belong_to_all_tokens_but_the_pending_one(slots):
    witness = Witness()
    engine = Engine(toy_slots(slots=slots, max_tokens=700), witness, METHOD)
    prompts = [(3, 9, 4), (6, 2, 40, 9, 5), tuple(range(2, 40)) * 15, (8,)]
    for index, prompt in enumerate(prompts):
        submit(engine, request(str(index), prompt, 6 + index))
    while engine.queue:
        engine.advance()
        for slot, running in enumerate(engine.running):
            expected, _ = plain(running.tokens[:-1])
            torch.testing.assert_close(
                witness.states[slot], expected, atol=2e-4, rtol=1e-4
            )
    assert witness.accepted > 0
    assert witness.released >= len(prompts)


def test_a_request_without_speculation_is_not_observed():
    witness = Witness()
    engine = Engine(toy_slots(slots=2), witness, METHOD)
    submit(engine, request("off", speculate=False))
    submit(engine, request("on", (6, 2, 4), sampling=sampled(3)))
    finish(engine)
    assert witness.observed > 0
    alone = Witness()
    engine = Engine(toy_slots(slots=2), alone, METHOD)
    submit(engine, request("off", speculate=False))
    finish(engine)
    assert alone.observed == 0
