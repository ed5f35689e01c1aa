"""Next-token heads: what they compute, and under which names they are found."""

from __future__ import annotations

import json

import pytest
import torch
from safetensors.torch import save_file

from tests.reference.toy_heads.mtp import toy_deepseek, toy_head
from tests.reference.toy_heads.setup import toy_setup
from tests.reference.toys import toy_model
from trtspec.errors import RunError
from trtspec.reference.heads.mtp import load_mtp, public_tensors
from trtspec.reference.heads.mtp_layouts import DEEPSEEK, MIMO, QWEN
from trtspec.reference.probe import require_faithful
from trtspec.reference.slots import Row, SlotModel

LAYERS = 2  # of the toys
TOKENS = torch.tensor([[3, 9, 4, 8, 2, 7, 5, 6, 4]])
STATES = torch.randn(1, 9, 32, generator=torch.Generator().manual_seed(5))
LAYOUTS = {"deepseek": DEEPSEEK, "qwen": QWEN, "mimo": MIMO}


def target_of(family: str):
    return toy_deepseek() if family == "deepseek_v3" else toy_model(family)


def forward(head):
    with torch.no_grad():
        return head(TOKENS, states=STATES)


def write(directory, *heads, layout=DEEPSEEK, **more):
    tensors = {
        layout.public(name, number, LAYERS): tensor.clone()
        for number, head in enumerate(heads)
        for name, tensor in head.state_dict().items()
    }
    save_file({**tensors, **more}, str(directory / "model.safetensors"))
    (directory / "config.json").write_text(json.dumps({"model_type": "llama"}))
    return directory


@pytest.mark.parametrize(
    "family", ["llama", "qwen2", "qwen3", "phi3", "gemma3_text", "deepseek_v3"]
)
def test_head_in_slots_equals_one_plain_forward(family):
    head = toy_head(target_of(family))
    slots = SlotModel(head, 2, 64, 8)
    expected = forward(head)
    slots.run(
        0,
        [Row([3, 9]), Row(TOKENS[0, :4].tolist(), states=STATES[0, :4])],
        last_only=True,
    )
    slots.keep(0, range(2))
    slots.keep(1, range(4))
    rows = [Row([]), Row(TOKENS[0, 4:].tolist(), states=STATES[0, 4:])]
    output = slots.run(0, rows, last_only=False)
    torch.testing.assert_close(
        output.logits[1], expected.logits[0, 4:], atol=1e-4, rtol=0
    )
    torch.testing.assert_close(
        output.states[1], expected.states[0, 4:], atol=1e-4, rtol=0
    )


def test_target_with_latent_attention_runs_in_slots():
    target = toy_deepseek()
    require_faithful(SlotModel(target, 2, 64, 8), target)


def test_head_of_a_target_with_experts_has_experts():
    names = toy_head(toy_deepseek()).state_dict()
    assert "block.mlp.experts.gate_up_proj" in names


def test_states_are_what_the_lm_head_reads():
    head = toy_head(toy_model())
    output = forward(head)
    torch.testing.assert_close(output.logits, head._shared[1](output.states))


def test_order_of_embedding_and_state_is_the_layouts():
    usual = toy_head(toy_model())
    reverse = toy_head(toy_model(), hidden_first=True)
    swapped = usual.eh_proj.weight.roll(32, 1)
    with torch.no_grad():
        reverse.eh_proj.weight.copy_(swapped)
    torch.testing.assert_close(forward(usual).logits, forward(reverse).logits)


def test_the_targets_modules_are_not_the_heads_own():
    names = public_tensors(toy_head(toy_model()), LAYERS)
    assert not [name for name in names if "embed" in name or "lm_head" in name]
    assert f"model.layers.{LAYERS}.shared_head.norm.weight" in names
    assert f"model.layers.{LAYERS}.self_attn.q_proj.weight" in names


@pytest.mark.parametrize("name", sorted(LAYOUTS))
def test_published_names_are_read(tmp_path, name):
    layout = LAYOUTS[name]
    head = toy_head(toy_model(), hidden_first=layout.hidden_first)
    write(tmp_path, head, layout=layout)
    (loaded,) = load_mtp(tmp_path, toy_setup())
    torch.testing.assert_close(forward(loaded).states, forward(head).states)


def test_heads_are_found_among_the_targets_own_tensors(tmp_path):
    heads = [toy_head(toy_model(), seed) for seed in range(2)]
    own = toy_model().state_dict()
    own.pop("lm_head.weight", None)
    write(tmp_path, *heads, **{name: t.clone() for name, t in own.items()})
    loaded = load_mtp(tmp_path, toy_setup())
    assert len(loaded) == 2
    for one, other in zip(loaded, heads, strict=True):
        torch.testing.assert_close(forward(one).states, forward(other).states)


def test_copies_of_embedding_and_lm_head_are_passed_over(tmp_path):
    copy = torch.zeros(48, 32)
    names = ("embed_tokens.weight", "shared_head.head.weight")
    copies = {f"model.layers.{LAYERS}.{name}": copy.clone() for name in names}
    write(tmp_path, toy_head(toy_model()), **copies)
    (loaded,) = load_mtp(tmp_path, toy_setup())
    assert forward(loaded).logits.std() > 0.1


def test_experts_that_are_stored_one_by_one_are_merged(tmp_path):
    target = toy_deepseek()
    head = toy_head(target)
    write(tmp_path, head)
    tensors = public_tensors(head, LAYERS)
    experts = f"model.layers.{LAYERS}.mlp.experts."
    both, down = (tensors.pop(experts + n) for n in ("gate_up_proj", "down_proj"))
    for number, (upper, lower) in enumerate(zip(both, down, strict=True)):
        gate, up = upper.chunk(2)
        parts = {"gate_proj": gate, "up_proj": up, "down_proj": lower}
        for part, weight in parts.items():
            tensors[f"{experts}{number}.{part}.weight"] = weight.clone()
    save_file(tensors, str(tmp_path / "model.safetensors"))
    (loaded,) = load_mtp(tmp_path, toy_setup(target))
    torch.testing.assert_close(forward(loaded).states, forward(head).states)


def test_missing_tensor_is_named_as_in_the_checkpoint(tmp_path):
    head = toy_head(toy_model())
    tensors = public_tensors(head, LAYERS)
    del tensors[f"model.layers.{LAYERS}.enorm.weight"]
    save_file(tensors, str(tmp_path / "model.safetensors"))
    with pytest.raises(
        RunError, match=r"lacks the tensor model\.layers\.2\.enorm\.weight"
    ):
        load_mtp(tmp_path, toy_setup())


def test_unexpected_tensor_is_named(tmp_path):
    more = {f"model.layers.{LAYERS}.mlp.router.weight": torch.zeros(4)}
    write(tmp_path, toy_head(toy_model()), **more)
    with pytest.raises(RunError, match=r"has also the tensor .*mlp\.router\.weight"):
        load_mtp(tmp_path, toy_setup())


def test_tensor_of_another_shape_is_named(tmp_path):
    write(tmp_path, toy_head(toy_model()))
    with pytest.raises(RunError, match=r"mlp.* has shape|lacks|self_attn.* has shape"):
        load_mtp(tmp_path, toy_setup(toy_model("phi3")))
    tensors = public_tensors(toy_head(toy_model()), LAYERS)
    tensors[f"model.layers.{LAYERS}.eh_proj.weight"] = torch.zeros(32, 32)
    save_file(tensors, str(tmp_path / "model.safetensors"))
    with pytest.raises(RunError, match=r"eh_proj\.weight has shape \[32, 32\]"):
        load_mtp(tmp_path, toy_setup())


def test_checkpoint_without_heads_is_refused(tmp_path):
    toy_model().save_pretrained(tmp_path)
    with pytest.raises(RunError, match="no next-token heads"):
        load_mtp(tmp_path, toy_setup())


def test_target_without_rotary_positions_is_refused():
    with pytest.raises(RunError, match="cannot be built for GPT2Model"):
        toy_head(toy_model("gpt2"))
