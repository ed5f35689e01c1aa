"""Whether the target can be served as the recipe says."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject
from trtspec.trtllm.facts.families import family_of
from trtspec.trtllm.facts.serve import serve_flags
from trtspec.trtllm.installation import SERVER, Installation
from trtspec.trtllm.pytorch.build.quantize import options

_TEMPLATE = "--chat_template"


def heads_divide(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Refuse tensor parallelism that does not divide the attention heads.

    The draft model is shared by the same GPUs.
    """
    size = subject.recipe.target.tensor_parallel
    if options(subject.recipe).attention_dp:
        return
    for role, model in subject.models:
        if model.heads % size:
            yield Finding(
                "tensor-parallel",
                "blocking",
                subject.where("target", "tensor_parallel"),
                f"tensor_parallel {size} does not divide the {model.heads} attention "
                f"heads of the {role} model",
                "each GPU gets the same number of heads",
                f"choose a divisor of {model.heads}",
            )


def chat_template_is_served(
    installation: Installation, subject: Subject
) -> Iterator[Finding]:
    """Refuse a chat template of the recipe's where the server takes none."""
    version = installation.version
    if version is None or family_of(version) is None:
        return
    if subject.recipe.target.chat_template and _TEMPLATE not in serve_flags(version):
        yield Finding(
            "chat-template",
            "blocking",
            subject.where("target", "chat_template"),
            f"{SERVER} of TensorRT-LLM {version} takes no chat template",
            f"it has no flag {_TEMPLATE}, and would write conversations in another way",
            "put the template into the checkpoint's tokenizer_config.json, as "
            "chat_template, and delete the key; or take 1.2 or later",
        )


def server_is_here(installation: Installation, subject: Subject) -> Iterator[Finding]:
    """Tell that nothing can be served without the server's executable."""
    if installation.assumed or installation.package is None or installation.server:
        return
    yield Finding(
        "server",
        "warning",
        subject.where("backend"),
        f"no {SERVER}: an artifact can be built and run in process, but not served",
        installation.why_absent("server"),
        "put the folder of TensorRT-LLM's executables on PATH",
    )


def float32_is_unsettled(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Tell that float32 is no type that models are served in."""
    if subject.recipe.target.dtype == "float32":
        yield Finding(
            "precision",
            "note",
            subject.where("target", "dtype"),
            "float32 on backend pytorch",
            "TensorRT-LLM's kernels are made for bfloat16 and float16; what it does "
            "with float32 is not established",
            "write dtype: bfloat16",
        )
