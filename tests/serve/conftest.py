"""Toy models that many of the server's tests load."""

import pytest

from tests.reference.artifacts import recipe, write_model
from tests.serve.engine.fakes import FakeRunner
from tests.serve.serving import runner_of, served


@pytest.fixture(scope="session")
def word_models(tmp_path_factory):
    """A folder with a target whose token i is the word ``w<i>``."""
    folder = tmp_path_factory.mktemp("word-models")
    write_model(folder / "target")
    return folder


@pytest.fixture(scope="session")
def word_recipe():
    return recipe({"method": "ngram", "draft_length": 3})


@pytest.fixture(scope="module")
def server(word_models, word_recipe):
    """A server for the tests of one file."""
    with served(runner_of(word_recipe, word_models / "target"), word_recipe) as found:
        yield found


@pytest.fixture(scope="module")
def client(server):
    with server.client() as found:
        yield found


@pytest.fixture(scope="module")
def codec(word_models, word_recipe):
    return runner_of(word_recipe, word_models / "target").codec


@pytest.fixture
def fake(codec):
    """A runner whose steps wait for its gate."""
    runner = FakeRunner()
    runner.codec = codec
    yield runner
    runner.gate.set()
