"""Whether a checkpoint needs Python code of its own, which is never executed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject

_TABLE = "models/auto/modeling_auto.py"
_CAUSAL = re.compile(r"^MODEL_FOR_CAUSAL_LM_MAPPING_NAMES = .*?^\)", re.S | re.M)


def own_code(subject: Subject) -> Iterator[Finding]:
    """Refuse models that transformers has no implementation of."""
    if subject.recipe.backend != "reference":
        return
    for role, model in subject.models:
        if model.own_code is None:
            continue
        where = subject.where_model(role)
        known = bool(model.own_code) and _is_known(model.own_code)
        if known is False:
            kind = model.own_code or "without a model_type"
            yield Finding(
                "own-code",
                "blocking",
                where,
                f"the {role} model ({kind}) needs code from the checkpoint, which is "
                "never executed",
                "the installed transformers has no causal language model of this type",
                "choose another model, or a transformers version that knows it",
            )
        else:
            yield Finding(
                "own-code",
                "note" if known else "warning",
                where,
                f"the {role} model comes with code of its own (auto_map)",
                "trtspec never executes code from a checkpoint, and uses transformers' "
                f"own implementation of {model.own_code}",
            )


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
