"""How what was read becomes a report: a chapter per run, a comparison before them."""

from __future__ import annotations

from trtspec import __version__
from trtspec.bench.sentences import machine_line, software_line
from trtspec.report import numbers
from trtspec.report.document import Chapter, Document, Note
from trtspec.report.load import Differing, Loaded
from trtspec.report.sections import sections_of
from trtspec.report.sections.comparison import comparison_chapter, run_names
from trtspec.report.sections.foreign import foreign_chapter
from trtspec.report.tuning.chapter import tuning_chapter
from trtspec.report.verification import verification_chapter
from trtspec.report.view import RunView

_MADE_BY = f"trtspec report {__version__}"


def build_document(loaded: Loaded) -> Document:
    """Lay out a report of everything that was read."""
    views = [RunView(run) for run in loaded.runs]
    names = run_names(views)
    own = [_chapter(view, name) for view, name in zip(views, names, strict=True)]
    own += [tuning_chapter(found) for found in loaded.tunings]
    own += [verification_chapter(found) for found in loaded.verifications]
    own += [foreign_chapter(found) for found in loaded.foreign]
    before = [comparison_chapter(views, loaded.differing)] if len(views) > 1 else []
    return Document(
        title=own[0].title
        if len(own) == 1
        else f"{own[0].title} and {len(own) - 1} more",
        chapters=(*before, *own),
        made_by=_MADE_BY,
        notes=tuple(allowed_note(d) for d in loaded.differing if d.difference.matters),
    )


def allowed_note(differing: Differing) -> Note:
    """Say in plain sight that runs were compared in spite of a difference."""
    found = differing.difference
    first, other = (
        numbers.short_hashes(numbers.value_text(value)) for value in (found.a, found.b)
    )
    return Note(
        "warning",
        f"Compared although {found.key} differs: {first} in the first run, {other} in "
        f"{differing.run}.",
    )


def _chapter(view: RunView, name: str) -> Chapter:
    plan = view.plan
    day = f"{plan.started[:16].replace('T', ' ')} UTC"
    return Chapter(
        title=name,
        over=f"Speculation on against off{', partial' if view.result.partial else ''}",
        under=(
            f"{day}. {machine_line(plan)}.",
            f"{software_line(plan)}.",
        ),
        sections=tuple(sections_of(view)),
    )
