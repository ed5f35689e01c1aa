"""One directory of checkpoints for all tests of kinds."""

import pytest

from tests.check.kinds.asking import Place


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    """A place to check recipes at; its checkpoints are written once."""
    return Place(tmp_path_factory.mktemp("kinds"))
