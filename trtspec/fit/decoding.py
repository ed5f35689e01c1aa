"""How well a drafter does in real decoding, on prompts that were held out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from trtspec.fit.answers import Answer
from trtspec.fit.held_out import HeldOutResult
from trtspec.fit.target import Target
from trtspec.recipe import Recipe
from trtspec.reference.runner import ReferenceRunner
from trtspec.run import Request, generate

_AT_ONCE = 8


def decode(
    target: Target,
    drafter: Path,
    speculation: dict[str, Any],
    answers: Sequence[Answer],
) -> HeldOutResult:
    """Answer held-out prompts again, greedily and with drafts.

    :param drafter: an exported drafter.
    :param speculation: a recipe's section of that name, for this drafter.
    :param answers: whose first prompts are taken, and how long the answers become.
    """
    runner = ReferenceRunner(
        _recipe(target, speculation, answers),
        target.directory,
        drafter,
        device=str(target.device),
        threads=torch.get_num_threads(),
    )
    sources = {answer.id: answer.source for answer in answers}
    result = HeldOutResult()
    for chunk in generate(runner, [_request(answer) for answer in answers]):
        if (done := chunk.completion) is not None:
            walked = result.sources[sources[done.request_id]]
            walked.steps += done.steps
            walked.accepted += done.accepted
    runner.close()
    return result


def evenly(answers: Sequence[Answer], most: int) -> list[Answer]:
    """Choose at most so many answers, from all over the file."""
    if len(answers) <= most:
        return list(answers)
    return [answers[index * len(answers) // most] for index in range(most)]


def _request(answer: Answer) -> Request:
    begin, end = answer.spans[0]
    return Request(answer.id, answer.tokens[:begin], max(end - begin, 1))


def _recipe(
    target: Target, speculation: dict[str, Any], answers: Sequence[Answer]
) -> Recipe:
    """Describe the run; the checkpoints are given as folders."""
    prompt = max(answer.spans[0][0] for answer in answers)
    total = max(answer.spans[0][1] for answer in answers)
    weights = next(target.model.parameters())
    return Recipe.model_validate(
        {
            "schema": "trtspec/v1",
            "name": "held-out",
            "backend": "reference",
            "target": {
                "model": "./target",
                "dtype": str(weights.dtype).removeprefix("torch."),
            },
            "speculation": {"model": "./drafter", **speculation},
            "limits": {
                "max_batch_size": min(_AT_ONCE, len(answers)),
                "max_input_tokens": prompt,
                "max_total_tokens": total + 1,
            },
        }
    )
