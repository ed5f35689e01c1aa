"""What to begin with: every way to speculate with its verdict, and one recipe."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

from trtspec.advise.candidates import Candidate, candidates
from trtspec.advise.drafters import find_drafters
from trtspec.advise.fitting import Check, Circumstances
from trtspec.advise.recipe import Wish
from trtspec.advise.target import Target, look_at, path_in_recipe, refuse_unwritable
from trtspec.advise.tokenizer import encoder
from trtspec.advise.workload import WorkloadFacts, read_workload


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked.

    :param target: a directory, a Hugging Face id or ``demo:...``.
    :param recipe: file that the recipe is to be written to.
    :param base: directory that the names on the command line start from.
    :param workload: a prompts file.
    :param drafts: directories or ids of drafters.
    :param backends: those to choose from, the preferred one first.
    :param version: of TensorRT-LLM; None if there is none.
    :param method: the only one to write a recipe for; None for the best.
    :param most_gpus: that can share the target.
    """

    target: str
    recipe: Path
    base: Path
    workload: str | None = None
    drafts: tuple[str, ...] = ()
    backends: tuple[str, ...] = ("reference",)
    version: Version | None = None
    method: str | None = None
    most_gpus: int = 1


@dataclass(frozen=True, slots=True)
class Advice:
    """The answer.

    :param candidates: every way, the one to try first in front.
    :param chosen: the way that the recipe begins with; None if there is none.
    """

    target: Target
    workload: WorkloadFacts | None
    version: Version | None
    candidates: tuple[Candidate, ...]
    chosen: Candidate | None


def advise(question: Question, check: Check) -> Advice:
    """Look at target, drafters and workload; say what can be used, and begin with one.

    Reads configurations, headers, tokenizer and prompts; downloads nothing.

    :param check: what is wrong with a recipe, on the installation in question.
    :raises UsageError: if the target, a drafter or the workload cannot be read.
    """
    folder = question.recipe.parent
    target = look_at(question.target, question.base, folder)
    drafters = find_drafters(target, question.drafts, question.base, folder)
    workload = _workload(question, target)
    prompts = None
    if question.workload is not None:
        prompts = path_in_recipe(question.workload, question.base, folder)
    found = candidates(
        Circumstances(
            wish=Wish(target, workload, prompts),
            drafters=drafters,
            backends=question.backends,
            check=check,
            recipe=question.recipe,
            version=question.version,
            most_gpus=question.most_gpus,
        )
    )
    chosen = next((c for c in found if _may_be_chosen(c, question, target)), None)
    return Advice(target, workload, question.version, tuple(found), chosen)


def _workload(question: Question, target: Target) -> WorkloadFacts | None:
    if question.workload is None:
        return None
    refuse_unwritable(question.workload, "--workload")
    encode = encoder(target.reference.path)
    return read_workload(question.base / question.workload, encode)


def _may_be_chosen(candidate: Candidate, question: Question, target: Target) -> bool:
    """Whether a recipe may begin with it.

    What was found by the name of the target's folder alone is listed only: another
    model may lie there.
    """
    if question.method not in (None, candidate.method):
        return False
    drafter = candidate.drafter
    guessed = target.by_folder and drafter is not None and not drafter.is_here
    by_name = guessed and drafter is not None and drafter.origin == "published"
    return candidate.can_be_written and (not by_name or question.method is not None)
