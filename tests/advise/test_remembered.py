"""Models are looked at once per name and loader, and never taken for another."""

from __future__ import annotations

import pytest

from tests.check.samples import loaded
from tests.models.drafters import write_eagle3
from tests.models.tiny import write_checkpoint
from trtspec.advise import remembering
from trtspec.check.resolve import resolve

HEAD = {"method": "eagle3", "model": "./head", "draft_length": 2}
MODEL = {"method": "draft_target", "model": "./draft", "draft_length": 2}


@pytest.fixture
def directory(tmp_path):
    for name in ("target", "draft", "other"):
        write_checkpoint(tmp_path / name)
    write_eagle3(tmp_path / "head")
    return tmp_path


def test_the_same_target_is_looked_at_once(directory, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "trtspec.advise.remembered.resolve",
        lambda recipe, role: asked.append(role) or resolve(recipe, role),
    )
    find = remembering()
    for speculation in (HEAD, MODEL, HEAD):
        recipe = loaded(directory, speculation=speculation)
        find(recipe, "target")
        find(recipe, "draft")
    assert asked == ["target", "draft", "draft"]


@pytest.mark.parametrize("backend", ["reference", "pytorch", "tensorrt"])
@pytest.mark.parametrize("speculation", [HEAD, MODEL], ids=["head", "model"])
def test_what_it_gives_is_what_looking_gives(directory, speculation, backend):
    find = remembering()
    for name in ("target", "other", "nowhere", "target"):
        recipe = loaded(
            directory,
            target={"model": f"./{name}"},
            speculation=speculation,
            backend=backend,
        )
        for role in ("target", "draft"):
            assert find(recipe, role) == resolve(recipe, role)
