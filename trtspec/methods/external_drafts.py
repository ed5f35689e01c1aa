"""What accepting tokens that are proposed from outside does to the output."""

from trtspec.methods.exactness import Exactness

_SOURCE = "cpp/tensorrt_llm/kernels/speculativeDecoding/externalDraftTokensKernels"

REFERENCE_CHAIN = Exactness(
    "reference", source="rejection sampling, arXiv 2211.17192 and 2302.01318"
)
"""The embedded engine: exact, greedy and sampled."""

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
