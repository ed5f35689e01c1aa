"""Whether the backend can run such a model at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trtspec.check.finding import Finding
from trtspec.check.subject import SECTION, Role, Subject
from trtspec.models.families import ROLLED_BACK, reference_refuses
from trtspec.models.files import TOKENIZER_FILES
from trtspec.models.info import Format, ModelInfo


class _Unread(NamedTuple):
    """A format that a backend does not read, and what to say about it."""

    format: Format
    are: str
    why: str
    action: str


_UNREAD_FORMATS = {
    "reference": _Unread(
        "torch",
        "pickled (pytorch_model.bin), a format that can run code when it is loaded",
        "backend reference reads safetensors and GGUF only",
        "convert them to safetensors: load the model with transformers where you trust "
        "it, then save_pretrained(DIRECTORY); or use backend tensorrt",
    ),
    "tensorrt": _Unread(
        "gguf",
        "stored as GGUF",
        "TensorRT-LLM's conversion scripts read transformers checkpoints: safetensors "
        "or pytorch_model.bin",
        "give the checkpoint that the GGUF was made from, or use backend reference",
    ),
    "pytorch": _Unread(
        "gguf",
        "stored as GGUF",
        "TensorRT-LLM's backend pytorch reads transformers checkpoints: safetensors or "
        "pytorch_model.bin",
        "give the checkpoint that the GGUF was made from, or use backend reference",
    ),
}


def tokenizer(subject: Subject) -> Iterator[Finding]:
    """Refuse models without a tokenizer, or without a row for each token."""
    for role, model in subject.models:
        if not _has_tokenizer(model):
            yield Finding(
                "tokenizer",
                "blocking",
                subject.where_model(role),
                f"the {role} model comes without a tokenizer",
                f"expected one of {', '.join(TOKENIZER_FILES)} in its directory",
                "add the tokenizer files that belong to the checkpoint",
            )
        elif model.lacks_rows or (model.tokenizer_entries or 0) > model.vocabulary_rows:
            highest = model.highest_token
            up_to = "" if highest is None else f", ids up to {highest}"
            yield Finding(
                "tokenizer",
                "blocking",
                subject.where_model(role),
                f"the {role} model's tokenizer has {model.tokenizer_entries} "
                f"entries{up_to}, its vocabulary {model.vocabulary_rows} rows",
                "an id without a row makes the model fail",
                "use the tokenizer that belongs to the checkpoint",
                values={
                    "entries": model.tokenizer_entries,
                    "highest_id": highest,
                    "rows": model.vocabulary_rows,
                },
            )


def layers_roll_back(subject: Subject) -> Iterator[Finding]:
    """Refuse layers whose state cannot be cut back when a draft is rejected."""
    for role, model, reason in _refused_on_reference(subject):
        if other := sorted(set(model.layer_types) - ROLLED_BACK):
            yield Finding(
                "layer-types",
                "blocking",
                subject.where_model(role),
                f"the {role} model has layers of type {', '.join(other)}",
                reason,
                "choose a model with full or sliding-window attention only",
            )


def family_is_supported(subject: Subject) -> Iterator[Finding]:
    """Refuse families that cannot be run with drafts, whatever their layers say."""
    for role, model, reason in _refused_on_reference(subject):
        if not set(model.layer_types) - ROLLED_BACK:
            yield Finding(
                "family",
                "blocking",
                subject.where_model(role),
                f"the {role} model is of the family {model.family}: {reason}",
                "with drafts its output would be that of another model",
                "choose a model with full or sliding-window attention only",
            )


def _refused_on_reference(subject: Subject) -> Iterator[tuple[Role, ModelInfo, str]]:
    if subject.recipe.backend == "reference":
        for role, model in subject.models:
            if reason := reference_refuses(model):
                yield role, model, reason


def stored_format(subject: Subject) -> Iterator[Finding]:
    """Refuse weights in a format that the backend does not read."""
    unread = _UNREAD_FORMATS.get(subject.recipe.backend)
    for role, model in subject.models:
        if unread is not None and model.format == unread.format:
            yield Finding(
                "stored-format",
                "blocking",
                subject.where_model(role),
                f"the {role} model's weights are {unread.are}",
                unread.why,
                unread.action,
            )


def stored_quantization(subject: Subject) -> Iterator[Finding]:
    """Refuse quantized weights that the reference backend cannot convert."""
    if subject.recipe.backend != "reference":
        return
    for role, model in subject.models:
        if model.quantization == "none":
            continue
        if model.format == "gguf":
            yield Finding(
                "stored-quantization",
                "note",
                subject.where_model(role),
                f"the {role} model's weights are stored as {model.quantization}; build "
                f"converts them to {subject.recipe.target.dtype}",
                "the output is that of the quantized weights, speculation or not",
            )
        else:
            yield Finding(
                "stored-quantization",
                "blocking",
                subject.where_model(role),
                f"the {role} model's weights are quantized with {model.quantization}",
                "backend reference converts plain float weights and GGUF files only",
                "give the checkpoint as it was before quantization",
            )


def wanted_options(subject: Subject) -> Iterator[Finding]:
    """Refuse to quantize or split a model where the backend does neither."""
    target = subject.recipe.target
    if subject.recipe.backend != "reference":
        return
    if target.quantization != "none":
        yield _refused(subject, "quantization", target.quantization, "none")
    if target.tensor_parallel != 1:
        yield _refused(subject, "tensor_parallel", target.tensor_parallel, 1)


def _refused(subject: Subject, key: str, value: object, allowed: object) -> Finding:
    return Finding(
        "backend-option",
        "blocking",
        subject.where(SECTION["target"], key),
        f"{key} {value} does not exist on backend reference",
        f"it runs one unquantized copy of the model; expected: {allowed}",
        f"set target.{key} to {allowed}",
    )


def _has_tokenizer(model: ModelInfo) -> bool:
    if model.tokenizer_entries is not None:
        return True
    directory = model.directory
    return directory is not None and any(
        (directory / name).is_file() for name in TOKENIZER_FILES
    )
