"""Runs and reports that several tests read; made once."""

from __future__ import annotations

import pytest

from tests.report.made_runs import LOADS, Drafting, Made, make_run
from trtspec.bench.rundir import load_run
from trtspec.report.build import build_document
from trtspec.report.html import to_html
from trtspec.report.load import Loaded
from trtspec.report.markdown import to_markdown
from trtspec.report.view import RunView


class Reported:
    """A run with everything that is made of it."""

    def __init__(self, path):
        self.path = path
        self.run = load_run(path)
        self.view = RunView(self.run)
        self.document = build_document(Loaded((self.run,), ()))
        self.html = to_html(self.document)
        self.markdown = to_markdown(self.document)

    def section(self, title):
        (chapter,) = self.document.chapters
        return next(s for s in chapter.sections if s.title == title)

    @property
    def titles(self):
        return [s.title for s in self.document.chapters[0].sections]


def reported(folder, name, made):
    return Reported(make_run(folder.mktemp("runs") / name, made))


@pytest.fixture(scope="session")
def full(tmp_path_factory):
    """Three loads, two candidates, control, GPU, limits."""
    made = Made(gpu=True, goodput={"ttft": 0.2, "e2e": 1.0})
    return reported(tmp_path_factory, "full", made)


@pytest.fixture(scope="session")
def failing(tmp_path_factory):
    """A request fails at the middle load; few repeats, so that no claim is made."""
    made = Made(
        name="failing",
        fail=LOADS[1],
        failure="HTTP 503 of http://me:hunter2@host: overloaded",
        repeats=2,
        prompts=9,
    )
    return reported(tmp_path_factory, "failing", made)


@pytest.fixture(scope="session")
def partial(tmp_path_factory):
    """Stopped within the second load, and lossy."""
    arms = {"typical": Drafting(3, 0.1, 0.0001, lossy="typical acceptance", changes=3)}
    made = Made(name="partial", arms=arms, stop_after=17, prompts=9)
    return reported(tmp_path_factory, "partial", made)


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    """Servers that tell no steps, in an open loop, without control."""
    from trtspec.bench.records import Load

    made = Made(
        name="served",
        arms={"on": Drafting(4, 0.0, 0.0001, single_steps=False)},
        loads=(Load(arrivals="poisson", rate=2.0), Load(arrivals="fixed", rate=4.0)),
        control=False,
        server=True,
        command=(
            "--url",
            "on=http://user:hunter2@on.local:8000",
            "--api-key",
            "sk-123",
        ),
        prompts=9,
    )
    return reported(tmp_path_factory, "served", made)
