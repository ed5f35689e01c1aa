"""How many processes serve a recipe, and on how many nodes."""

from __future__ import annotations

from dataclasses import dataclass

from trtspec.errors import UsageError
from trtspec.recipe.pytorch import PyTorchOptions
from trtspec.recipe.schema import Recipe

_FURTHER_SIZES = ("pipeline_parallel_size", "context_parallel_size")


@dataclass(frozen=True, slots=True)
class Ranks:
    """The processes of a server, one per GPU.

    :param nodes: machines that they are spread over, evenly.
    """

    total: int
    nodes: int

    @property
    def per_node(self) -> int:
        """Processes on each machine."""
        return self.total // self.nodes


def ranks_of(recipe: Recipe) -> Ranks:
    """Count the ranks of a recipe: tensor x pipeline x context parallelism.

    They must be as many as the model's world size
    (examples/llm-api/llm_mgmn_trtllm_serve.sh). Without ``pytorch.gpus_per_node``
    one node is taken to have them all.

    :raises UsageError: if the nodes would not be filled evenly: TensorRT-LLM finds a
        rank's GPU by its number modulo the GPUs per node.
    """
    options = recipe.pytorch or PyTorchOptions()
    total = recipe.target.tensor_parallel
    for size in _FURTHER_SIZES:
        given = options.llm_args.get(size, 1)
        total *= given if isinstance(given, int) else 1
    per_node = options.gpus_per_node
    if per_node is None or total <= per_node:
        return Ranks(total, 1)
    if total % per_node:
        raise UsageError(
            f"{total} ranks do not fill nodes of {per_node} GPUs",
            where="pytorch.gpus_per_node",
            allowed=f"a divisor of {total}, or {total} and more for one node",
        )
    return Ranks(total, total // per_node)
