"""What TensorRT engines do to the output when tokens are proposed from outside."""

from trtspec.methods.exactness import Exactness

_SOURCE = "cpp/tensorrt_llm/kernels/speculativeDecoding/externalDraftTokensKernels"

BY_TOKENS = Exactness(
    "tensorrt",
    sampled="after a rejection TensorRT-LLM draws from the whole target distribution, "
    "so a draft token of probability p comes out with p(2-p)",
    source=_SOURCE,
)
"""TensorRT-LLM's engine backend, when drafts come without their distribution."""

BY_LOGITS = Exactness("tensorrt", source=_SOURCE)
"""The same with draft logits: p/q rejection sampling; exact as long as the drafts are
sampled at temperature 1 without top-k and top-p, which is how our runner draws them."""
