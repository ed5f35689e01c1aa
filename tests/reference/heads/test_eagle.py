"""EAGLE-1 heads load from their public layouts, and from nothing else."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch

from tests.reference.toy_heads.eagle import captured, toy_eagle_head
from tests.reference.toy_heads.eagle_files import write, write_eagle
from tests.reference.toy_heads.setup import toy_setup
from tests.reference.toys import toy_model
from trtspec.errors import RunError
from trtspec.reference.capture import FINAL
from trtspec.reference.heads.eagle import EagleHead, load_eagle

TOKENS = torch.tensor([[3, 9, 4, 8, 2, 7]])


def answer(head: EagleHead) -> torch.Tensor:
    with torch.inference_mode():
        states = head.fuse(captured(toy_model(), TOKENS, (FINAL,)))
        return head(TOKENS, states=states).logits


def assert_same(directory, head: EagleHead) -> EagleHead:
    loaded = load_eagle(directory, toy_setup())
    torch.testing.assert_close(answer(loaded), answer(head), rtol=0, atol=1e-6)
    return loaded


@pytest.mark.parametrize("layers", [1, 2])
def test_the_layout_of_its_authors_loads(tmp_path, layers):
    head = toy_eagle_head(layers=layers)
    assert_same(write_eagle(tmp_path, head), head)


def test_the_projection_may_have_no_bias(tmp_path):
    head = toy_eagle_head()
    torch.nn.init.zeros_(head.fc.bias)
    tensors = head.state_dict()
    del tensors["fc.bias"]
    config = write_eagle(tmp_path, head)
    write(tmp_path / "bare", tensors, _config(config))
    loaded = assert_same(tmp_path / "bare", head)
    assert loaded.fc.bias is None


def test_an_embedding_of_its_own_is_used(tmp_path):
    head = toy_eagle_head()
    embedding = torch.randn(40, 32)
    tensors = {**head.state_dict(), "embed_tokens.weight": embedding}
    config = _config(write_eagle(tmp_path, head))
    loaded = load_eagle(write(tmp_path / "own", tensors, config), toy_setup())
    assert loaded.known_tokens == 40
    torch.testing.assert_close(loaded.embed_tokens.weight.data, embedding)
    assert not torch.allclose(answer(loaded), answer(head))


def test_the_layout_of_speculators_loads(tmp_path):
    head = toy_eagle_head()
    renamed = {"fc.": "fusion_fc.", "layers.0.": "transformer."}
    tensors = {}
    for name, tensor in head.state_dict().items():
        old = next(prefix for prefix in renamed if name.startswith(prefix))
        tensors[renamed[old] + name.removeprefix(old)] = tensor
    layers = _config(write_eagle(tmp_path, head))
    config = {"speculators_model_type": "eagle", "transformer_layer_config": layers}
    assert_same(write(tmp_path / "s", tensors, config), head)


@pytest.mark.parametrize(
    "extra", ["embedding_layernorm.weight", "pre_lm_head_layernorm.weight"]
)
def test_a_variant_with_more_norms_is_refused_by_name(tmp_path, extra):
    head = toy_eagle_head()
    tensors = {**head.state_dict(), extra: torch.ones(32)}
    write(tmp_path, tensors, _config(write_eagle(tmp_path / "x", head)))
    with pytest.raises(RunError, match=extra):
        load_eagle(tmp_path, toy_setup())


def _copied(tmp_path, change):
    """Give a head with an LM head, and a setup whose target stores one on disk."""
    head, setup = toy_eagle_head(), toy_setup()
    stored = setup.target.get_output_embeddings().weight.detach().clone()
    write(tmp_path / "target", {"model.embed_tokens.weight": stored}, {})
    tensors = {**head.state_dict(), "lm_head.weight": change(stored.clone())}
    config = _config(write_eagle(tmp_path / "x", head))
    write(tmp_path / "head", tensors, config)
    return head, replace(setup, target_directory=tmp_path / "target")


def test_a_copy_of_the_targets_lm_head_is_left_alone(tmp_path):
    head, setup = _copied(tmp_path, lambda copy: copy)
    loaded = load_eagle(tmp_path / "head", setup)
    assert loaded.state_dict().keys() == head.state_dict().keys()
    torch.testing.assert_close(answer(loaded), answer(head), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda copy: copy + 1e-3, "not the target's LM head"),
        (lambda copy: copy[:-1], "was made for another target"),
    ],
)
def test_an_lm_head_of_another_target_is_refused(tmp_path, change, said):
    _, setup = _copied(tmp_path, change)
    with pytest.raises(RunError, match=said):
        load_eagle(tmp_path / "head", setup)


def test_a_copy_that_nothing_can_be_held_against_is_refused(tmp_path):
    _, setup = _copied(tmp_path, lambda copy: copy)
    (tmp_path / "empty").mkdir()
    with pytest.raises(RunError, match="stores no LM head"):
        load_eagle(
            tmp_path / "head", replace(setup, target_directory=tmp_path / "empty")
        )


def test_another_targets_width_is_refused(tmp_path):
    head = toy_eagle_head(toy_model())
    write_eagle(tmp_path, head, hidden_size=16, num_attention_heads=2)
    with pytest.raises(RunError, match="hidden_size is 16"):
        load_eagle(tmp_path, toy_setup())


def test_the_first_layer_has_no_norm_before_its_attention():
    """Its input is scaled up, and with it what the attention reads."""
    head = toy_eagle_head(layers=2)
    names = head.state_dict()
    assert "layers.0.input_layernorm.weight" not in names
    assert "layers.1.input_layernorm.weight" in names
    assert "norm.weight" not in names


def _config(directory) -> dict:
    return json.loads((directory / "config.json").read_text())
