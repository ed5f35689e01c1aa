"""The sections of a tuning's page, in the order in which they stand."""

from __future__ import annotations

from collections.abc import Callable

from trtspec.report.document import Chapter, Section
from trtspec.report.tuning.behind import (
    conditions_section,
    recipe_section,
    reproduce_section,
)
from trtspec.report.tuning.bench import bench_section
from trtspec.report.tuning.choice import choice_section
from trtspec.report.tuning.compared import categories_section, methods_section
from trtspec.report.tuning.grounds import bill_section, grounds_section
from trtspec.report.tuning.load import LoadedTuning
from trtspec.report.tuning.surface import surface_section
from trtspec.tune.sentences import listed

_SECTIONS: tuple[Callable[[LoadedTuning], Section | None], ...] = (
    choice_section,
    surface_section,
    bench_section,
    methods_section,
    categories_section,
    grounds_section,
    bill_section,
    recipe_section,
    conditions_section,
    reproduce_section,
)


def tuning_chapter(found: LoadedTuning) -> Chapter:
    """Lay out a tuning: the choice first, then all that it stands on."""
    result = found.result
    day = f"{result.started[:16].replace('T', ' ')} UTC"
    loads = listed(load.concurrency for load in result.best.loads)
    return Chapter(
        title=result.best.recipe,
        over="Tuned draft length",
        under=(
            f"{day}. {result.prompts.count} prompts of {result.prompts.file}, up to "
            f"{result.output_tokens} tokens, concurrency {loads}.",
            f"Step times {result.costs}, on {result.hardware}.",
        ),
        sections=tuple(
            section for make in _SECTIONS if (section := make(found)) is not None
        ),
    )
