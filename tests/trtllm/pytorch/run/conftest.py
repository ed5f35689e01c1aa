"""Fixtures for the tests of backend pytorch's runner."""

from __future__ import annotations

import pytest

from tests.trtllm.engine.run.artifacts import write_tokenizer
from tests.trtllm.pytorch.run.fakes import END, recipe, runner_on
from trtspec.run.tokens import TextCodec


@pytest.fixture
def codec(tmp_path):
    """Token i is the word ``w<i>``; token 1 ends an output."""
    return TextCodec(write_tokenizer(tmp_path / "tokenizer", (END,)))


@pytest.fixture
def open_on(codec):
    """Opens a runner on a source; closes it when the test ends."""
    opened = []

    def open_one(source, method="none", version="1.2.1", **options):
        opened.append(runner_on(source, codec, recipe(method, **options), version))
        return opened[-1]

    yield open_one
    for runner in opened:
        runner.close()
