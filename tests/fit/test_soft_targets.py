import pytest
import torch

from trtspec.fit.soft_targets import soft_cross_entropy


def plain(logits, wanted, places):
    return -(wanted[places] * logits.float().log_softmax(-1)).sum(-1)


@pytest.mark.parametrize("rows", [1, 32, 71])  # within, at and over a cached part
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_loss_and_gradient_are_those_of_the_plain_formula(rows, dtype):
    generator = torch.Generator().manual_seed(rows)
    scale = torch.tensor(3.0, dtype=dtype)
    first = torch.randn(rows, 17, generator=generator).to(dtype) * scale
    wanted = torch.randn(5, 17, generator=generator).softmax(-1)
    places = torch.randint(0, 5, (rows,), generator=generator)
    weights = torch.rand(rows, generator=generator)
    found = []
    for loss in (soft_cross_entropy, plain):
        logits = first.clone().requires_grad_()
        losses = loss(logits, wanted, places)
        (losses * weights).sum().backward()
        found.append((losses.detach(), logits.grad))
    torch.testing.assert_close(found[0][0], found[1][0], rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(found[0][1], found[1][1])
    assert found[0][1].dtype == dtype


def test_no_places_have_no_loss():
    logits = torch.zeros(0, 7, requires_grad=True)
    losses = soft_cross_entropy(logits, torch.zeros(3, 7), torch.zeros(0).long())
    losses.sum().backward()
    assert losses.shape == (0,)
    assert logits.grad.shape == (0, 7)
