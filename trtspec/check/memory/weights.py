"""How many bytes of weights lie on one GPU."""

from __future__ import annotations

from typing import NamedTuple

from trtspec.check.memory.parallel import Parallel
from trtspec.methods import Quantization
from trtspec.models.info import DTYPE_BYTES, ModelInfo

WEIGHT_BITS: dict[Quantization, float] = {
    "fp8": 8.0,
    # blocks of 16 values share a scale of 8 bits
    "nvfp4": 4.5,
    # groups of 128 values share a scale of 16 bits
    "int4_awq": 4.125,
    "int8_sq": 8.0,
    "int8_wo": 8.0,
}
"""Bits of one quantized weight, its share of a scale included."""

_NORMS_PER_LAYER = 2


class Weights(NamedTuple):
    """Bytes of a whole model.

    :ivar layers: of all layers, without their norms.
    :ivar embedding: of the embedding, which quantization leaves alone.
    :ivar output: of the LM head, which it leaves alone too; 0 if it is the embedding.
    :ivar norms: of the norms, which every GPU has.
    :ivar how: where the numbers come from.
    """

    layers: int
    embedding: int
    output: int
    norms: int
    how: str

    @property
    def total(self) -> int:
        """Bytes of all."""
        return self.layers + self.embedding + self.output + self.norms


def model_weights(
    model: ModelInfo, dtype: str, quantization: Quantization = "none"
) -> Weights:
    """Count a model's weights.

    As they are stored, if they are quantized there; else in ``dtype``, or as they
    will be: quantized, but for embedding, LM head and norms.

    :param dtype: of what is not quantized.
    :param quantization: that the recipe asks for.
    """
    size = DTYPE_BYTES[dtype]
    matrix = model.vocabulary_rows * model.hidden_size
    norms = (_NORMS_PER_LAYER * model.layers + 1) * model.hidden_size
    output = 0 if model.tied_embeddings else matrix
    kept = matrix + output + norms
    inner = max(model.parameters - kept, 0)
    if model.quantization != "none":
        layers, how = max(model.weight_bytes - kept * size, 0), "as stored"
    elif quantization == "none":
        layers, how = inner * size, dtype
    else:
        bits = WEIGHT_BITS[quantization]
        layers, how = int(inner * bits) // 8, f"{quantization}, estimated"
    return Weights(layers, matrix * size, output * size, norms * size, how)


def weights_per_gpu(
    weights: Weights, parallel: Parallel, *, whole_embedding: bool = False
) -> int:
    """Bytes on the GPU that has most of them.

    Layers are divided among all GPUs; of a pipeline the first stage has the embedding
    and the last one the LM head. Norms are on every GPU.

    :param whole_embedding: whether every GPU has all of the embedding.
    """
    embedding = weights.embedding if whole_embedding else 0
    embedding = embedding or -(-weights.embedding // parallel.tensor)
    output = -(-weights.output // parallel.tensor)
    # a tied LM head is a second copy of the embedding, on another stage
    ends = embedding + output if parallel.pipeline == 1 else max(embedding, output)
    return -(-weights.layers // parallel.gpus) + ends + weights.norms
