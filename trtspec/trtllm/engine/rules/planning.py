"""Whether commands can be planned for the recipe: all that ``plan`` would refuse."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from trtspec.check.finding import Finding
from trtspec.check.subject import SECTION, Role, Subject
from trtspec.errors import BuildError
from trtspec.methods import DraftTarget
from trtspec.trtllm import facts
from trtspec.trtllm.engine.calibration import local_dataset
from trtspec.trtllm.engine.compile import draft_command, target_command
from trtspec.trtllm.engine.conversion import CONVERT_TARGET, Conversion, Known
from trtspec.trtllm.engine.convert import draft_conversion, target_conversions
from trtspec.trtllm.engine.quantization import draft_is_quantized, is_quantized
from trtspec.trtllm.engine.rules import flags, models, precision
from trtspec.trtllm.engine.rules.families import family_of
from trtspec.trtllm.engine.sizes import draft_sizes, target_sizes
from trtspec.trtllm.engine.toolchain import Toolchain
from trtspec.trtllm.installation import Installation

Key = tuple[str, ...]

_SAY_MORE = (
    models.family_is_stated_right,
    models.family_is_supported,
    precision.quantized_eagle,
    precision.quantized_redrafter,
    precision.format_exists,
    flags.flags_are_known,
)
"""Rules that explain why there is no plan, better than the plan could."""


def family_is_known(installation: Installation, subject: Subject) -> Iterator[Finding]:
    """Tell of a model that is not here yet, of which plan must know the family."""
    if installation.version is None or not facts.has_backend(installation.version):
        return
    for role in _roles(subject):
        if family_of(subject, role) is None:
            key = f"{SECTION[role]}.family"
            yield Finding(
                "family",
                "note",
                subject.where_model(role),
                f"plan needs {key} until the model is here",
                "the family decides which script converts the model; build downloads "
                "the model first",
                f"add {key}, the model_type of its config.json, such as llama",
            )


def commands_are_established(
    installation: Installation, subject: Subject
) -> Iterator[Finding]:
    """Refuse what this version has no commands for, at the key that it follows from."""
    version = installation.version
    if version is None or not facts.has_backend(version):
        return
    if subject.recipe.speculation.method not in facts.architectures():
        return  # no method of this backend's, which check.rules.method tells
    explained = (f for rule in _SAY_MORE for f in rule(installation, subject))
    if any(finding.severity == "blocking" for finding in explained):
        return
    if subject.missing:  # scripts that do not fit are told of already
        installation = replace(installation, examples=None)
    planned = _Planned(Toolchain(installation), subject)
    for key, plan in planned.steps():
        try:
            plan()
        except BuildError as error:
            yield _finding(subject, key, error)
            return


@dataclass(frozen=True, slots=True)
class _Planned:
    """The commands of a recipe, as far as its models' families are known."""

    tools: Toolchain
    subject: Subject

    def steps(self) -> Iterator[tuple[Key, Callable[[], object]]]:
        """Give what is to be planned, with the key that decides on it."""
        recipe, version = self.subject.recipe, self.tools.version
        method = recipe.speculation
        if family := family_of(self.subject, "target"):
            yield self._target_key, lambda: self._target(family)
        sizes = target_sizes(recipe, version)
        yield (
            ("engine",),
            lambda: target_command(self.tools, recipe, sizes, CONVERT_TARGET),
        )
        if not isinstance(method, DraftTarget):
            return
        if drafts := family_of(self.subject, "draft"):
            yield self._draft_key(method), lambda: self._draft(method, drafts)
        smaller = draft_sizes(recipe, version)
        yield (
            ("engine",),
            lambda: draft_command(self.tools, recipe, method, smaller, CONVERT_TARGET),
        )

    def _target(self, family: str) -> None:
        recipe = self.subject.recipe
        self._find(target_conversions(self.tools, recipe, family, self._known))

    def _draft(self, method: DraftTarget, family: str) -> None:
        recipe = self.subject.recipe
        known = self._known
        self._find([draft_conversion(self.tools, recipe, method, family, known)])

    def _find(self, conversions: Iterable[Conversion]) -> None:
        for conversion in conversions:
            self.tools.script(conversion.program)

    @property
    def _known(self) -> Known:
        target, recipe = self.subject.target, self.subject.recipe
        data = local_dataset(recipe, self.subject.base)
        theta = None if target is None else target.rope_theta
        return Known(theta, local_data=data is not None)

    @property
    def _target_key(self) -> Key:
        recipe = self.subject.recipe
        if recipe.speculation.drafter_kind not in (None, "model"):
            return ("speculation", "method")
        return ("target", "quantization" if is_quantized(recipe) else "model")

    def _draft_key(self, method: DraftTarget) -> Key:
        quantized = draft_is_quantized(self.subject.recipe, method)
        return ("speculation", "quantization" if quantized else "model")


def _roles(subject: Subject) -> Iterator[Role]:
    yield "target"
    if isinstance(subject.recipe.speculation, DraftTarget):
        yield "draft"


def _finding(subject: Subject, key: Key, error: BuildError) -> Finding:
    problem = error.problems[0]
    allowed = f"allowed: {problem.allowed}" if problem.allowed else ""
    why = allowed or "without it there is no plan, and nothing to build with"
    where = subject.where(*key)
    action = problem.action or "choose another version, or a recipe without it"
    return Finding("no-plan", "blocking", where, problem.what, why, action)
