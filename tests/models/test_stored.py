"""Weights of another model than the configuration describes are refused."""

import numpy as np
import pytest

from tests.models.tiny import HIDDEN, ROWS, tensors, write_checkpoint
from trtspec.errors import UsageError
from trtspec.models.describe import describe


def refusal(directory, **changes):
    with pytest.raises(UsageError) as caught:
        describe(write_checkpoint(directory, **changes))
    (problem,) = caught.value.problems
    assert problem.where == str(directory / "config.json")
    return problem.what


def renamed(name):
    weights = tensors()
    weights[name] = weights.pop("model.embed_tokens.weight")
    return weights


@pytest.mark.parametrize(
    "name", ["model.embed_tokens.weight", "transformer.wte.weight"]
)
def test_another_number_of_embedding_rows_is_refused(tmp_path, name):
    what = refusal(tmp_path, weights=renamed(name), vocab_size=ROWS + 1)
    assert what == f"vocab_size is 17, but the weights hold 16 rows of {name}"


@pytest.mark.parametrize("layers", [1, 3])
def test_another_number_of_layers_is_refused(tmp_path, layers):
    what = refusal(tmp_path, num_hidden_layers=layers)
    assert what == f"num_hidden_layers is {layers}, but the weights hold 2 layers"


def test_layers_for_further_tokens_are_counted_apart(tmp_path):
    changes = {"num_hidden_layers": 1, "num_nextn_predict_layers": 1}
    assert describe(write_checkpoint(tmp_path / "with", **changes)).layers == 1
    without = {"num_hidden_layers": 2, "num_nextn_predict_layers": 1}
    assert describe(write_checkpoint(tmp_path / "without", **without)).layers == 2


def test_unknown_names_tell_nothing(tmp_path):
    weights = {
        "other.embed.weight": np.zeros((3, HIDDEN), np.float32),
        "vision.model.layers.9.weight": np.zeros(3, np.float32),
    }
    assert describe(write_checkpoint(tmp_path, weights=weights)).layers == 2
