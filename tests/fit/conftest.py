"""The toy target and its answers, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fit.toy_fit import toy_answers, toy_target


@pytest.fixture(scope="session")
def toy_folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("fit")


@pytest.fixture(scope="session")
def target(toy_folder):
    return toy_target(toy_folder / "target")


@pytest.fixture(scope="session")
def answers(toy_folder, target):
    return toy_answers(toy_folder / "answers.jsonl", target, 70)
