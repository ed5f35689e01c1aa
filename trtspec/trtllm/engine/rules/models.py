"""Whether the models are such that the method can be built for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from packaging.version import Version

from trtspec.check.finding import Finding
from trtspec.check.padding import padding_command
from trtspec.check.subject import SECTION, Role, Subject
from trtspec.methods import DraftTarget, Method
from trtspec.trtllm import facts
from trtspec.trtllm.engine.convert import carries_rotary_base
from trtspec.trtllm.engine.rules.families import (
    family_of,
    model_of,
    stated_family,
)
from trtspec.trtllm.installation import Installation

_ROLES: tuple[Role, ...] = ("target", "draft")


def family_is_stated_right(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Hold the family that the recipe states against the checkpoint's own."""
    for role, model in subject.models:
        stated = stated_family(subject, role)
        if stated is not None and stated != model.family:
            yield Finding(
                "family",
                "blocking",
                subject.where(SECTION[role], "family"),
                f"family is {stated}, but the {role} model is of the family "
                f"{model.family}",
                "the family decides which script converts the model",
                f"write family: {model.family}, or delete the line",
            )


def family_is_supported(
    installation: Installation, subject: Subject
) -> Iterator[Finding]:
    """Refuse families that the method cannot be built for in this version."""
    version = installation.version
    if version is None or not facts.has_backend(version):
        return
    method = subject.recipe.speculation
    if method.method not in facts.architectures():
        return  # no method of this backend's, which check.rules.method tells
    unfit: dict[str, list[Role]] = {}
    for role in _ROLES:
        family = family_of(subject, role)
        if family is None or family in _allowed(method, role, version):
            continue
        if model_of(subject, role) is None:
            yield _stated_family(subject, role, family, version)
        else:
            unfit.setdefault(family, []).append(role)
    for family, roles in unfit.items():
        models = "models are" if len(roles) > 1 else "model is"
        yield Finding(
            "family",
            "blocking",
            subject.where_model(roles[0]),
            f"the {' and the '.join(roles)} {models} of the family {family}, which "
            f"{method.method} cannot be built for on TensorRT-LLM {version}",
            _established(_allowed(method, roles[0], version)),
            _other_way(method, family, version),
        )


def _stated_family(
    subject: Subject, role: Role, family: str, version: Version
) -> Finding:
    """Refuse what the recipe says that a model will be."""
    method = subject.recipe.speculation
    what = f"the {role} model is of the family {family}, which {method.method} "
    what += f"cannot be built for on TensorRT-LLM {version}"
    action = _other_way(method, family, version)
    if family not in facts.targets("none", version):
        what = f"family {family} is none that TensorRT-LLM's scripts convert here"
        action = f"correct {SECTION[role]}.family: it is the model_type of the "
        action += "model's config.json"
    where = subject.where(SECTION[role], "family")
    why = _established(_allowed(method, role, version))
    return Finding("family", "blocking", where, what, why, action)


def _allowed(method: Method, role: Role, version: Version) -> frozenset[str]:
    """Families that can be built; a draft model is built as a plain one."""
    return facts.targets(method.method if role == "target" else "none", version)


def _established(families: Iterable[str]) -> str:
    return f"established are: {', '.join(sorted(families))}"


def _other_way(method: Method, family: str, version: Version) -> str:
    """Say which other method takes the family; if none does, where to go."""
    drafting = sorted(name for name in facts.architectures() if name != "none")
    if others := [m for m in drafting if family in facts.targets(m, version)]:
        return f"choose such a model, or another method: {', '.join(others)}"
    if any(entry.covers("pytorch", version) for entry in method.exactness()):
        return (
            f"set backend: pytorch, which has {method.method}, or choose such a model"
        )
    return "choose such a model: no method of backend tensorrt takes this one"


def heads_divide(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Refuse tensor parallelism that does not divide heads and key-value heads."""
    for role, model in subject.models:
        size = _parallel(subject, role)
        if model.heads % size:
            yield Finding(
                "tensor-parallel",
                "blocking",
                subject.where(SECTION[role], "tensor_parallel"),
                f"tensor_parallel {size} does not divide the {model.heads} attention "
                f"heads of the {role} model",
                "each GPU gets the same number of heads",
                f"choose a divisor of {model.heads}",
            )
        elif model.kv_heads and model.kv_heads % size and size % model.kv_heads:
            yield Finding(
                "tensor-parallel",
                "blocking",
                subject.where(SECTION[role], "tensor_parallel"),
                f"tensor_parallel {size} and the {model.kv_heads} key-value heads of "
                f"the {role} model do not divide one another",
                "each GPU gets the same number of them, or a copy of one "
                "(tensorrt_llm/models/llama/convert.py)",
                f"choose a divisor of {model.kv_heads}, or a multiple of it",
            )


def rotary_scaling_is_carried(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Refuse a scaled rotary encoding where the script loses its factors."""
    target, method = subject.target, subject.recipe.speculation
    if target is None or target.rope_scaling is None:
        return
    if carries_rotary_base(subject.recipe):
        yield Finding(
            "rope-scaling",
            "blocking",
            subject.where_model("target"),
            f"the target model scales its rotary encoding ({target.rope_scaling}), "
            f"with method {method.method}",
            "the convert script carries only the type of the scaling, not its factors "
            f"(examples/{method.method}/convert_checkpoint.py): the engine would "
            "compute something else than the model",
            "choose draft_target, ngram or lookahead, or a model whose rope_scaling is "
            "null",
        )


def vocabulary_rows_for_logits(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Refuse acceptance by logits between vocabularies of different sizes."""
    method, target, draft = subject.recipe.speculation, subject.target, subject.draft
    if not isinstance(method, DraftTarget) or not method.use_draft_logits:
        return
    if target is None or draft is None:
        return
    if target.vocabulary_rows != draft.vocabulary_rows:
        yield Finding(
            "draft-logits",
            "blocking",
            subject.where("speculation", "use_draft_logits"),
            f"the draft model has {draft.vocabulary_rows} vocabulary rows, the target "
            f"model {target.vocabulary_rows}",
            "the draft model's logits are compared with the target's, and acceptance "
            "fails with incompatible buffer sizes (#2789); the ids are another matter",
            "pad the draft model to as many rows as the target has and name the new "
            "directory as speculation.model, or write use_draft_logits: false",
            snippet=padding_command(method.model, target, draft),
            source="https://github.com/NVIDIA/TensorRT-LLM/issues/2789",
            values={
                "target_rows": target.vocabulary_rows,
                "draft_rows": draft.vocabulary_rows,
            },
        )


def one_kv_pool(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Refuse drafts for models whose layers keep their cache in different ways."""
    if not subject.recipe.speculation.longest_draft:
        return
    for role, model in subject.models:
        kinds = sorted(set(model.layer_types))
        if len(kinds) > 1:
            yield Finding(
                "layer-types",
                "blocking",
                subject.where_model(role),
                f"the {role} model has layers of the types {', '.join(kinds)}",
                "methods that cut the KV cache back need one pool for all layers "
                "(cpp/tensorrt_llm/batch_manager)",
                "choose a model with one kind of attention, or method: none",
            )


def _parallel(subject: Subject, role: Role) -> int:
    if role == "target":
        return subject.recipe.target.tensor_parallel
    method = subject.recipe.speculation
    return method.tensor_parallel if isinstance(method, DraftTarget) else 1
