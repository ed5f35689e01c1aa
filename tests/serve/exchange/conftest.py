"""Toy models over bytes, written once for all that is asked of them."""

import pytest

from tests.serve.byte_toys import write_byte_models


@pytest.fixture(scope="session")
def byte_models(tmp_path_factory):
    """A folder with a target, a draft model and an EAGLE-3 head."""
    return write_byte_models(tmp_path_factory.mktemp("byte-models"))
