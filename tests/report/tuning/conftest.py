"""Pages that several tests read; made once."""

from __future__ import annotations

import pytest

from tests.report.tuning.made import RUN, everything, shown
from tests.tune.made_result import no_drafts, result


@pytest.fixture(scope="session")
def full(tmp_path_factory):
    """Three methods, categories, an exhaustive bench."""
    return shown(tmp_path_factory.mktemp("full"), everything(), RUN)


@pytest.fixture(scope="session")
def plain(tmp_path_factory):
    """One method, predicted only."""
    return shown(tmp_path_factory.mktemp("plain"), result())


@pytest.fixture(scope="session")
def none(tmp_path_factory):
    """Drafting pays nowhere."""
    return shown(tmp_path_factory.mktemp("none"), result(no_drafts()))
