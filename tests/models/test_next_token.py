"""Next-token heads are found and counted by the names of their tensors."""

import pytest

from tests.models.drafters import mtp_shapes
from tests.models.tiny import shapes, tensors, write_checkpoint
from trtspec.models.describe import describe
from trtspec.models.next_token import next_token_name, stored_next_token_heads


@pytest.mark.parametrize(
    ("layout", "name"),
    [
        ("deepseek", "model.layers.2.eh_proj.weight"),
        ("qwen", "mtp.fc.weight"),
        ("mimo", "model.mtp_layers.0.input_proj.weight"),
    ],
)
@pytest.mark.parametrize("heads", [1, 3])
def test_heads_are_counted_in_each_layout(layout, name, heads):
    names = shapes() | mtp_shapes(layout, heads)
    assert next_token_name(names) == name
    assert stored_next_token_heads(names) == heads


def test_a_model_without_heads_has_none():
    assert next_token_name(shapes()) is None
    assert stored_next_token_heads(shapes()) == 0


@pytest.mark.parametrize("layout", ["deepseek", "qwen", "mimo"])
def test_a_checkpoint_tells_the_heads_that_it_really_holds(tmp_path, layout):
    extra = mtp_shapes(layout, heads=2)
    info = describe(
        write_checkpoint(tmp_path, weights=tensors(**extra), num_nextn_predict_layers=2)
    )
    assert (info.stored_next_token_heads, info.layers) == (2, 2)
    bare = write_checkpoint(tmp_path / "bare", num_nextn_predict_layers=2)
    assert describe(bare).stored_next_token_heads == 0
