"""How much of a workload's text is made of tokens that a drafter can propose."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from trtspec.check.subject import Subject
from trtspec.errors import TrtspecError
from trtspec.models.token_use import most_emitted, share_of, token_counts
from trtspec.recipe.answers import answers_of
from trtspec.recipe.workload import Prompt, load_prompts, prompts_path


@dataclass(frozen=True, slots=True)
class AcceptanceBound:
    """Share of a workload's tokens that could be drafted at all.

    Where the target emits another token, the draft is rejected, so that no position's
    acceptance can be higher. How good the drafts are, it does not tell.

    :param share: of the tokens counted, each weighted by how often it occurs.
    :param counted: ``answers`` where the workload has some, else ``prompts``.
    """

    share: float
    counted: str

    def sentence(self, draft_length: int) -> str:
        """Say what it means, and what it is."""
        most = most_emitted(self.share, draft_length)
        taken = "" if self.counted == "answers" else "; answers may hold other words"
        return (
            f"{percent(self.share)} of the tokens in the workload's {self.counted} are "
            f"among them, so that no more can be accepted: at draft_length "
            f"{draft_length} at most {most:.2f} of {draft_length + 1} tokens per "
            f"verification step (an estimate by longest match{taken})"
        )


def acceptance_bound(
    subject: Subject, tokens: Mapping[str, int], draftable: Collection[int]
) -> AcceptanceBound | None:
    """Weigh the ids that can be drafted by the recipe's own workload.

    :param tokens: the target's tokens and ids.
    :param draftable: the target's ids that a draft can hold.
    :returns: None without a workload that can be read.
    """
    texts, counted = _texts(subject)
    share = share_of(token_counts(texts, tokens), draftable)
    return None if share is None else AcceptanceBound(share, counted)


def percent(share: float) -> str:
    """Write a share, and never 100 % for less than all."""
    return "100 %" if share == 1 else f"{min(100 * share, 99.9):.1f} %"


def _texts(subject: Subject) -> tuple[list[str], str]:
    prompts = _prompts(subject)
    answers = [answer.text for prompt in prompts for answer in answers_of(prompt)]
    if answers:
        return answers, "answers"
    return [m["content"] for prompt in prompts for m in prompt.messages], "prompts"


def _prompts(subject: Subject) -> tuple[Prompt, ...]:
    """Read the workload; what is wrong with it, the rule ``prompts`` says."""
    workload = subject.recipe.workload
    if workload is None or subject.base is None:
        return ()
    try:
        return load_prompts(prompts_path(subject.base, workload.prompts))
    except TrtspecError:
        return ()
