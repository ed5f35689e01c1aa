"""What is said before an artifact's checkpoints are hashed."""

import pytest

from tests.build.projects import load
from tests.build.projects import write_project as write_reference_project
from tests.build.test_links import linked
from tests.models.tiny import write_checkpoint
from tests.trtllm.pytorch.build.projects import build_project, write_project
from trtspec.build.resolve import inspected, named
from trtspec.build.unhashed import tell_of_hashing
from trtspec.cli.artifact import open_or_build
from trtspec.models import identity
from trtspec.models.identity import file_hashes


@pytest.fixture
def artifact(tmp_path, monkeypatch):
    """An artifact whose target, a link, is taken for large."""
    monkeypatch.setenv("TRTSPEC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(identity, "_QUICK_BYTES", 0)
    model = write_checkpoint(tmp_path / "model")
    (tmp_path / "target").symlink_to(model)
    return tmp_path


def test_large_checkpoint_is_told_once(artifact, lines, monkeypatch):
    said = linked(artifact / "model")
    tell_of_hashing(artifact, said, lines.progress)
    (line,) = lines
    assert line.startswith("comparing ")
    assert f"kept in {artifact / 'cache'} ($TRTSPEC_CACHE)" in line
    monkeypatch.setattr(identity, "_SETTLED_NS", -(10**12))  # files just written
    file_hashes(artifact / "model")
    tell_of_hashing(artifact, said, lines.progress)
    assert len(lines) == 1


def test_opening_an_artifact_tells(tmp_path, lines, monkeypatch):
    built = build_project(write_project(tmp_path), tmp_path / "engines").artifact
    monkeypatch.setattr(identity, "_QUICK_BYTES", 0)
    open_or_build(built.path, tmp_path / "engines", lines.progress)
    (line,) = lines
    assert line.startswith("comparing ")


def test_building_tells_of_a_large_checkpoint_once(tmp_path, lines, monkeypatch):
    monkeypatch.setenv("TRTSPEC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(identity, "_QUICK_BYTES", 0)
    monkeypatch.setattr(identity, "_SETTLED_NS", -(10**12))  # files just written
    inputs = named(load(write_reference_project(tmp_path)))
    first = inspected(inputs, lines.progress)
    (line,) = lines
    assert line.startswith("hashing ")
    assert f" in {inputs.target.directory}, which takes minutes" in line
    assert inspected(inputs, lines.progress) == first
    assert len(lines) == 1


def test_small_or_missing_ones_are_not(artifact, lines, monkeypatch):
    said = linked(artifact / "model")
    monkeypatch.setattr(identity, "_QUICK_BYTES", 1 << 30)
    tell_of_hashing(artifact, said, lines.progress)
    (artifact / "target").unlink()
    tell_of_hashing(artifact, said, lines.progress)
    assert lines == []
