"""Ranks are as many as the model is split into, and nodes are filled evenly."""

import pytest

from tests.trtllm.pytorch.launch.recipes import recipe
from trtspec.errors import UsageError
from trtspec.trtllm.pytorch.launch.ranks import ranks_of


@pytest.mark.parametrize(
    ("tensor_parallel", "options", "total", "nodes", "per_node"),
    [
        (1, {}, 1, 1, 1),
        (16, {}, 16, 1, 16),
        (8, {"gpus_per_node": 8}, 8, 1, 8),
        (4, {"gpus_per_node": 8}, 4, 1, 4),
        (16, {"gpus_per_node": 8}, 16, 2, 8),
        (16, {"gpus_per_node": 4}, 16, 4, 4),
        (
            4,
            {"gpus_per_node": 8, "llm_args": {"pipeline_parallel_size": 4}},
            *(16, 2, 8),
        ),
        (2, {"llm_args": {"context_parallel_size": 2}}, 4, 1, 4),
    ],
)
def test_ranks(tensor_parallel, options, total, nodes, per_node):
    ranks = ranks_of(recipe(tensor_parallel=tensor_parallel, **options))
    assert (ranks.total, ranks.nodes, ranks.per_node) == (total, nodes, per_node)


def test_nodes_that_would_not_be_filled_are_refused():
    with pytest.raises(UsageError, match="12 ranks do not fill nodes of 8 GPUs"):
        ranks_of(recipe(tensor_parallel=12, gpus_per_node=8))
