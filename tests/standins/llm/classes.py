"""What are the classes of ``tensorrt_llm.llmapi.llm_args`` in a version?"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar, Literal

from packaging.version import Version
from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    create_model,
    model_validator,
)

from tests.standins.llm import rules
from tests.standins.llm.fields import annotation, require_range
from tests.standins.voice import say
from trtspec.trtllm.facts import families, llm_args
from trtspec.trtllm.versions import contains

Note = Callable[..., None]


class Strict(BaseModel):
    """Base of all of them: no key that the version does not have, no other type."""

    model_config = ConfigDict(
        extra="forbid",
        arbitrary_types_allowed=True,
        populate_by_name=True,
        protected_namespaces=(),
    )
    version_: ClassVar[Version]
    keys_: ClassVar[dict[str, Any]]
    note_: ClassVar[Note]

    @model_validator(mode="after")
    def _obeys_the_rules(self) -> Any:
        for name in sorted(self.model_fields_set & set(self.keys_)):
            key = self.keys_[name]
            require_range(key, getattr(self, name))
            if key.deprecated and contains(key.deprecated, self.version_):
                say(f"[TRT-LLM] [W] {type(self).__name__}.{name} is deprecated")
                type(self).note_("deprecated", name=type(self).__name__, key=name)
        rules.check(self, str(families.family_of(self.version_)))
        return self


def make_classes(version: Version, note: Note) -> dict[str, Any]:
    """Every class of the module, by name.

    They are made once for each version: whoever asked last is told.

    :param note: is told of each deprecated key that is used.
    """
    classes = dict(_made(version))
    for made in classes.values():
        made.note_ = staticmethod(note)
    return classes


@cache
def _made(version: Version) -> dict[str, Any]:
    speculation = llm_args.speculation_classes()
    names = [n for n in llm_args.arg_classes() if n != llm_args.BASE]
    held = [n for n in names if n not in speculation or _type(n, version)]
    classes: dict[str, Any] = {}
    # nested ones first, the top level last
    last = llm_args.TOP_LEVEL
    order = sorted(held, key=lambda name: (name == last, name in speculation))
    for name in order:
        classes[name] = _make(name, version, classes)
    classes["LlmArgs"] = classes[llm_args.TOP_LEVEL]
    return classes


def _type(name: str, version: Version) -> str | None:
    return llm_args.decoding_type(name, version)


def _make(name: str, version: Version, classes: dict[str, Any]) -> Any:
    described = llm_args.keys(name, version)
    fields = {key.name: _field(key, classes) for key in described.values()}
    if name == llm_args.TOP_LEVEL:
        chosen = PlainValidator(lambda value: dispatch(value, version, classes))
        fields["speculative_config"] = (Any, Field(default=None))
        fields["speculative_config"][1].metadata.append(chosen)
    if name in llm_args.speculation_classes() and on_main(version):
        spelled = _type(name, version)
        fields["decoding_type"] = (Literal[spelled], spelled)
    made = create_model(name, __base__=Strict, **fields)
    made.version_, made.keys_ = version, described
    return made


def on_main(version: Version) -> bool:
    """Whether a version is of the family that has no TensorRT backend any more."""
    return families.family_of(version) == "main"


def _field(key: Any, classes: dict[str, Any]) -> Any:
    kind = annotation(key.type, classes)
    options: dict[str, Any] = {}
    if key.alias:
        options["validation_alias"] = AliasChoices(key.name, key.alias)
    if key.required:
        return (kind, Field(**options))
    nested = classes.get(key.type.partition("|")[0])
    if nested is not None and "null" not in key.type:
        return (kind, Field(default_factory=nested, **options))
    return (kind, Field(default=key.default, **options))


def dispatch(value: Any, version: Version, classes: dict[str, Any]) -> Any:
    """Make the right class of a ``speculative_config`` that is a map."""
    if not isinstance(value, dict):
        kinds = tuple(
            classes[n] for n in llm_args.speculation_classes() if n in classes
        )
        if value is not None and not isinstance(value, kinds):
            raise ValueError(f"Input should be a valid dictionary, not {value!r}")
        return value
    spelled = value.get("decoding_type")
    name = llm_args.class_of(str(spelled), version)
    if name is None:
        known = [_type(n, version) for n in llm_args.speculation_classes()]
        expected = ", ".join(repr(one) for one in known if one)
        raise ValueError(f"Invalid decoding type: {spelled!r} (expected {expected})")
    rest = {k: v for k, v in value.items() if k != "decoding_type"}
    return classes[name](**(value if on_main(version) else rest))
