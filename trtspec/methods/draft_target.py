"""``method: draft_target``: a smaller model with the same token ids proposes."""

from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal

from pydantic import Field

from trtspec.methods.base import DrafterKind
from trtspec.methods.exactness import Exactness
from trtspec.methods.external_drafts import BY_LOGITS, BY_TOKENS
from trtspec.methods.one_model import OneModelChain
from trtspec.methods.pytorch_rules import TWO_MODELS
from trtspec.methods.quantization import Quantization
from trtspec.methods.reference_rules import exact_chain


class DraftTarget(OneModelChain):
    """A draft model proposes a chain (arXiv 2211.17192, 2302.01318)."""

    summary: ClassVar[str] = "a smaller causal LM with the same token ids proposes"
    drafter_kind: ClassVar[DrafterKind | None] = "model"
    needs: ClassVar[str] = "a causal LM with the target's token ids"
    step: ClassVar[str] = "draft_length + 1"
    settings: ClassVar[tuple[Mapping[str, object], ...]] = (
        {"model": "path/to/draft-model", "draft_length": 4},
        {"use_draft_logits": True},
    )
    method: Literal["draft_target"] = Field(
        description="Separate draft model.", examples=["draft_target"]
    )
    model: str = Field(
        min_length=1,
        description="The model that drafts: directory (relative to the recipe), "
        "Hugging Face id or demo model.",
        examples=["HuggingFaceTB/SmolLM2-135M-Instruct"],
    )
    revision: str | None = Field(
        default=None,
        min_length=1,
        description="Revision of the draft model on the hub; its default if unset.",
    )
    family: str | None = Field(
        default=None,
        min_length=1,
        description="model_type of the draft model's configuration, such as llama; "
        "lets plan work before the checkpoint is on this machine.",
    )
    quantization: Quantization = Field(
        default="none",
        description="Weight quantization of the draft model; the reference backend has "
        "none.",
    )
    tensor_parallel: int = Field(
        default=1, ge=1, le=1024, description="GPUs that share the draft model."
    )
    use_draft_logits: bool = Field(
        default=False,
        description="TensorRT-LLM's engine backend: accept by the draft model's "
        "logits, which keeps sampled output exact; both need the same padded "
        "vocabulary.",
    )

    @property
    def draft_model(self) -> str | None:
        """Reference of the checkpoint that drafts."""
        return self.model

    def exactness(self) -> Iterable[Exactness]:
        """Exact on the reference engine; on TensorRT-LLM it depends on the logits."""
        on_engines = BY_LOGITS if self.use_draft_logits else BY_TOKENS
        return (exact_chain(), on_engines, *TWO_MODELS)
