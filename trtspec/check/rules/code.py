"""Whether a checkpoint needs Python code of its own, and who would execute it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from trtspec.check.finding import Finding
from trtspec.check.subject import Role, Subject

_TRUST = "trust_remote_code"
_TABLE = "models/auto/modeling_auto.py"
_CAUSAL = re.compile(r"^MODEL_FOR_CAUSAL_LM_MAPPING_NAMES = .*?^\)", re.S | re.M)


def own_code(subject: Subject) -> Iterator[Finding]:
    """Say what becomes of code that a checkpoint brings along."""
    for role, model in subject.models:
        if model.own_code is None:
            continue
        if subject.recipe.backend == "reference":
            yield _on_reference(subject.where_model(role), role, model.own_code)
        elif subject.recipe.backend == "pytorch":
            yield _on_pytorch(subject, role)


def _on_reference(where: str, role: Role, own: str) -> Finding:
    """Refuse models that transformers has no implementation of."""
    known = bool(own) and _is_known(own)
    if known is False:
        return Finding(
            "own-code",
            "blocking",
            where,
            f"the {role} model ({own or 'without a model_type'}) needs code from the "
            "checkpoint, which is never executed",
            "the installed transformers has no causal language model of this type",
            "choose another model, or a transformers version that knows it",
        )
    return Finding(
        "own-code",
        "note" if known else "warning",
        where,
        f"the {role} model comes with code of its own (auto_map)",
        "trtspec never executes code from a checkpoint, and uses transformers' "
        f"own implementation of {own}",
    )


def _on_pytorch(subject: Subject, role: Role) -> Finding:
    """Tell whether TensorRT-LLM executes it.

    Of a drafter in the target's engine it always loads the configuration with
    ``trust_remote_code`` (tensorrt_llm/_torch/models/modeling_speculative.py); a recipe
    cannot set that key.
    """
    what = f"the {role} model comes with code of its own (auto_map)"
    where = subject.where_model(role)
    if role == "draft":
        why = (
            f"TensorRT-LLM loads a drafter's configuration with {_TRUST}, and may "
            "execute it"
        )
        action = "read it before, or choose a checkpoint without"
        return Finding("own-code", "warning", where, what, why, action)
    why = (
        f"{_TRUST} is off: it is not executed, and whether TensorRT-LLM needs it for "
        "this model is not established"
    )
    return Finding("own-code", "note", where, what, why)


def _is_known(model_type: str) -> bool | None:
    """Look a type up in transformers' table, without the seconds of its import.

    :returns: None if transformers or its table is not found.
    """
    package = find_spec("transformers")
    if package is None or package.origin is None:
        return None
    try:
        text = (Path(package.origin).parent / _TABLE).read_text(encoding="utf-8")
    except OSError:
        return None
    table = _CAUSAL.search(text)
    return None if table is None else f'("{model_type}", ' in table[0]
