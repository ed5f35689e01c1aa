"""Tunings on disk, and their pages."""

from __future__ import annotations

from tests.report.made_runs import LOADS, Drafting, Made, make_run
from tests.tune.made_result import EXHAUSTIVE, confirmed
from trtspec.report.build import build_document
from trtspec.report.html import to_html
from trtspec.report.load import Loaded
from trtspec.report.markdown import to_markdown
from trtspec.report.tuning.load import load_tuning

ARMS = {
    "tuned": Drafting(3, 0.0, 0.0001),
    **{f"draft length {k}": Drafting(k, 0.0, 0.0001) for k in (1, 2, 3, 4)},
}
RUN = Made(
    name="toy-ngram", arms=ARMS, loads=LOADS[:2], prompts=9, repeats=3, command=()
)


def write_tuning(path, result, run=None):
    """Write a tuning as ``trtspec tune`` leaves it; give its directory."""
    for part in ("traces", "costs"):
        (path / part).mkdir(parents=True)
    text = result.model_dump_json(indent=1, by_alias=True)
    (path / "result.json").write_text(text, encoding="utf-8")
    if run:
        make_run(path / "confirmation", run)
    return path


class Shown:
    """A tuning that was read back, with its page."""

    def __init__(self, path):
        self.found = load_tuning(path)
        self.document = build_document(Loaded(tunings=(self.found,)))
        (self.chapter,) = self.document.chapters
        self.html = to_html(self.document)
        self.markdown = to_markdown(self.document)

    @property
    def titles(self):
        return [section.title for section in self.chapter.sections]

    def section(self, title):
        return next(s for s in self.chapter.sections if s.title == title)

    def of(self, title, kind):
        """Give the blocks of a kind in a section."""
        return [b for b in self.section(title).blocks if b.kind == kind]


def shown(folder, result, run=None):
    return Shown(write_tuning(folder / "20261130T164300Z-toy", result, run))


def everything():
    """Give a tuning with all that there can be."""
    from tests.tune.made_result import candidate, no_drafts

    result = confirmed(EXHAUSTIVE, tpot_limit=0.05)
    own = {"chat": {1: 2, 4: 0, 8: 0}, "code": {1: 4, 4: 3, 8: 1}}
    best = result.best.model_copy(update={"by_category": own})
    others = (candidate("suffix"), no_drafts("medusa", by_category={}))
    return result.model_copy(update={"candidates": (best, *others)})
