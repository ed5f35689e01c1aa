"""The demo model, fetched once into the user's own cache, and its built artifact."""

from __future__ import annotations

from pathlib import Path

import pytest

from trtspec.build.artifact import Artifact
from trtspec.build.build import build
from trtspec.build.progress import SILENT
from trtspec.cli.common import backend_for
from trtspec.recipe import load_recipe

ROOT = Path(__file__).resolve().parent.parent.parent
RECIPE = ROOT / "recipes/smollm2-135m/ngram.yaml"


@pytest.fixture(scope="session")
def demo_engines(tmp_path_factory) -> Path:
    """Directory that holds the demo's artifact."""
    return tmp_path_factory.mktemp("demo") / "engines"


@pytest.fixture(scope="session")
def demo(demo_engines) -> Artifact:
    """SmolLM2-135M-Instruct in float32 with prompt lookup."""
    loaded = load_recipe(RECIPE)
    return build(loaded, backend_for(loaded.recipe), demo_engines, SILENT).artifact
