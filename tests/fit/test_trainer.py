"""Training lowers the loss, and a run that was stopped ends as if it had not been."""

from __future__ import annotations

import pytest
import torch

from tests.fit.toy_fit import (
    KINDS,
    round_weights,
    toy_objective,
    toy_store,
    toy_trainer,
    train,
)
from trtspec.errors import RunError, UsageError
from trtspec.fit.schedule import Schedule
from trtspec.fit.settings import answers_of


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_falls(tmp_path, target, answers, kind):
    objective = toy_objective(kind, target, answers)
    store = toy_store(tmp_path, target, objective.layers, answers)
    losses = train(toy_trainer(objective, answers, store), 25)
    assert sum(losses[-5:]) < 0.98 * sum(losses[:5])


@pytest.mark.parametrize("kind", KINDS)
def test_a_resumed_run_ends_with_the_same_bits(tmp_path, target, answers, kind):
    def fresh():
        objective = toy_objective(kind, target, answers)
        store = toy_store(tmp_path / "states", target, objective.layers, answers)
        return toy_trainer(objective, answers, store)

    whole = fresh()
    train(whole, 9)
    first = fresh()
    train(first, 4)
    first.save(tmp_path / "run")
    second = fresh()
    assert second.resume(tmp_path / "run")
    train(second, 5)
    assert second.position == whole.position
    for name, tensor in whole.objective.module.state_dict().items():
        assert torch.equal(tensor, second.objective.module.state_dict()[name]), name
        assert torch.equal(whole.average.values[name], second.average.values[name])


def test_a_run_goes_on_with_more_answers_but_not_with_other_settings(
    tmp_path, target, answers
):
    objective = toy_objective("medusa", target, answers)
    store = toy_store(tmp_path / "states", target, (), answers)
    trainer = toy_trainer(objective, answers[:30], store)
    train(trainer, 3)
    trainer.save(tmp_path / "run", kind="medusa")
    grown = toy_trainer(objective, answers, store)
    assert grown.resume(tmp_path / "run", kind="medusa")
    while grown.position.epoch < 2:
        train(grown, 1)
    assert grown.position.answers == len(answers)
    with pytest.raises(UsageError, match="has kind medusa, not mtp"):
        grown.resume(tmp_path / "run", kind="mtp")


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_can_begin_from_an_exported_drafter(tmp_path, target, answers, kind):
    objective = toy_objective(kind, target, answers)
    store = toy_store(tmp_path, target, objective.layers, answers)
    train(toy_trainer(objective, answers, store), 3)
    round_weights(objective.module)
    wanted = {k: v.clone() for k, v in objective.module.state_dict().items()}
    objective.export(tmp_path / "drafter", wanted)
    other = toy_objective(kind, target, answers)
    other.begin_from(tmp_path / "drafter")
    for name, tensor in other.module.state_dict().items():
        assert torch.equal(tensor, wanted[name]), name
    with pytest.raises(RunError, match=r"lacks|has also|has no next-token"):
        other.begin_from(target.directory)


def test_a_damaged_run_says_so(tmp_path, target, answers):
    objective = toy_objective("medusa", target, answers)
    trainer = toy_trainer(objective, answers, toy_store(tmp_path, target, (), answers))
    assert not trainer.resume(tmp_path / "run")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "training.pt").write_bytes(b"PK\3\4")
    with pytest.raises(UsageError, match="is damaged"):
        trainer.resume(tmp_path / "run")


def test_measuring_leaves_the_trained_weights_alone(tmp_path, target, answers):
    objective = toy_objective("medusa", target, answers)
    store = toy_store(tmp_path, target, (), answers)
    trainer = toy_trainer(objective, answers, store)
    train(trainer, 3)
    before = {k: v.clone() for k, v in objective.module.state_dict().items()}
    with trainer.averaged():
        averaged = objective.module.state_dict()
        assert any(not torch.equal(before[name], averaged[name]) for name in before)
    for name, tensor in objective.module.state_dict().items():
        assert torch.equal(tensor, before[name])


def test_the_learning_rate_rises_stays_and_sinks():
    schedule = Schedule(peak=2.0, steps=100, warmup=4, decay=0.5)
    rates = [schedule.rate(step) for step in range(100)]
    assert rates[:5] == [0.5, 1.0, 1.5, 2.0, 2.0]
    assert rates[50] == 2.0
    assert rates[51:] == sorted(rates[51:], reverse=True)
    assert rates[-1] == pytest.approx(2.0 / 50)


def test_epochs_grow_until_they_go_over_all_answers():
    assert [answers_of(epoch, 300) for epoch in range(4)] == [64, 128, 256, 300]
    assert answers_of(500, 10**6) == 10**6
    assert answers_of(0, 300, stored=200) == 200
