"""What ``--control NAME=VALUE`` says."""

from __future__ import annotations

import json
from collections.abc import Sequence

from trtspec.errors import UsageError

OPTION = "--control"
_SHOWN = 60


def read_controls(texts: Sequence[str]) -> dict[str, object]:
    """Read controls; a value is YAML: a number, a word, [1, 2], {json_object: true}.

    :raises UsageError: if a text is none, a name occurs twice or is no control's, or
        a value is of another kind than the control's.
    """
    found: dict[str, object] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        name = name.strip()
        if not name or not separator:
            raise UsageError(
                f"{text!r} has no name and value",
                where=OPTION,
                allowed="NAME=VALUE, such as repetition_penalty=1.1",
            )
        if name in found:
            raise UsageError(f"{name} is given twice", where=OPTION)
        found[name] = _value(name, value)
    if found:
        _require_known(found)
    return found


def _require_known(controls: dict[str, object]) -> None:
    from trtspec.trtllm.pytorch.run.controls import misnamed

    if problems := misnamed(controls, OPTION):
        raise UsageError.from_problems(problems)


def _value(name: str, text: str) -> object:
    """Read a value, which must be one that JSON has: requests hold it as such."""
    import yaml

    try:
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)):
            raise _no_value(name, text, "it has an alias (*name)")
        value = yaml.safe_load(text)
        json.dumps(value)
    except yaml.YAMLError as error:
        said = str(error).splitlines()[0]
        raise _no_value(name, text, f"it is no YAML: {said}") from None
    except (TypeError, ValueError, RecursionError) as error:
        raise _no_value(name, text, str(error).splitlines()[0]) from None
    if value is None:
        raise UsageError(
            f"{name} has no value", where=OPTION, action="give one, or leave it out"
        )
    return value


def _no_value(name: str, text: str, why: str) -> UsageError:
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    return UsageError(
        f"{name}: {shown!r} cannot be taken: {why}",
        where=OPTION,
        action="put texts with special characters into quotes",
    )
