"""Whether a recipe's models are found, fetched and described."""

import json
import os
from dataclasses import replace

import pytest

from tests.build.projects import load, write_project
from tests.models.drafters import write_medusa
from tests.models.tiny import write_pickled
from trtspec.build import resolve
from trtspec.build.resolve import (
    fetched,
    inspected,
    inspected_without_fetching,
    named,
)
from trtspec.errors import UsageError
from trtspec.models.demo import DEMO

DEMO_REFERENCE = f"demo:{DEMO.name}"


def write_fake_demo():
    """Make a file that passes for the demo model by its size."""
    DEMO.directory.mkdir(parents=True)
    with (DEMO.directory / DEMO.gguf_name).open("wb") as stream:
        stream.truncate(DEMO.gguf_bytes)


def test_target_and_draft_are_named_without_looking_into_them(tmp_path):
    inputs = named(load(write_project(tmp_path, draft=True)))
    assert [source.role for source in inputs.sources] == ["target", "draft"]
    assert inputs.target.directory == tmp_path / "target-model"
    assert inputs.draft.directory == tmp_path / "draft-model"
    assert inputs.formats == frozenset()
    assert inputs.files == {}


def test_method_without_draft_model_has_one_source(tmp_path):
    inputs = named(load(write_project(tmp_path)))
    assert inputs.draft is None
    assert inputs.sources == (inputs.target,)


def test_missing_directory_is_told_with_its_line(tmp_path):
    recipe = write_project(tmp_path, target="./gone")
    with pytest.raises(UsageError, match=r"tiny\.yaml:1: .*gone"):
        named(load(recipe))


@pytest.mark.parametrize("look", [inspected, inspected_without_fetching])
def test_directories_are_described_and_hashed(tmp_path, look):
    inputs = look(named(load(write_project(tmp_path, draft=True))))
    assert inputs.target.info.layers == 2
    assert inputs.draft.info.layers == 1
    assert set(inputs.files) == {"target", "draft"}
    assert "model.safetensors" in inputs.files["target"]
    assert inputs.formats == {"safetensors"}


def test_demo_model_is_known_before_it_is_here(tmp_path):
    inputs = named(load(write_project(tmp_path, target=DEMO_REFERENCE)))
    known = inspected_without_fetching(inputs).target
    assert known.directory is None
    assert known.files == {DEMO.gguf_name: DEMO.gguf_sha256}
    assert known.format == "gguf"


def test_hub_model_is_unknown_before_it_is_here(tmp_path):
    inputs = named(load(write_project(tmp_path, target="org/name")))
    known = inspected_without_fetching(inputs)
    assert known.target.info is None
    assert known.target.files is None
    assert known.target.format is None
    assert known.files == {}


def test_large_files_that_were_never_hashed_stay_unknown(tmp_path, monkeypatch):
    monkeypatch.setattr("trtspec.models.identity._QUICK_BYTES", 10)
    inputs = named(load(write_project(tmp_path)))
    known = inspected_without_fetching(inputs).target
    assert known.info is not None
    assert known.files is None
    assert inspected(inputs).target.files is not None


def test_what_is_not_here_is_fetched_and_told(tmp_path, monkeypatch, lines):
    def fetch(reference, progress):
        progress(f"downloading {reference.text}")
        return tmp_path / "target-model"

    monkeypatch.setattr(resolve, "fetch", fetch)
    inputs = named(load(write_project(tmp_path, target="org/name")))
    assert fetched(inputs, lines.progress).target.directory == tmp_path / "target-model"
    assert lines == ["downloading org/name"]


def test_demo_model_that_was_damaged_is_refused(tmp_path, monkeypatch):
    write_fake_demo()
    inputs = named(load(write_project(tmp_path, target=DEMO_REFERENCE)))
    monkeypatch.setattr(resolve, "describe", lambda directory: DEMO.info)
    with pytest.raises(UsageError, match="does not hold the demo model") as caught:
        inspected(inputs)
    assert "delete that directory" in str(caught.value)


def test_format_is_told_by_the_files_when_nothing_else_is_known(tmp_path):
    source = named(load(write_project(tmp_path))).target
    assert replace(source, files={"a.gguf": "0"}).format == "gguf"
    assert replace(source, files={"a.safetensors": "0"}).format is None


def test_fetching_changes_no_file_of_a_directory(tmp_path, lines):
    inputs = named(load(write_project(tmp_path)))
    before = os.stat(tmp_path / "target-model" / "config.json").st_mtime_ns
    assert fetched(inputs, lines.progress) == inputs
    assert os.stat(tmp_path / "target-model" / "config.json").st_mtime_ns == before
    assert lines == []


MEDUSA = {"method": "medusa", "model": "./heads"}


def heads_project(folder):
    """Write a recipe for the engine backend with Medusa heads."""
    write_medusa(folder / "heads", heads=5, pickled=False)
    path = write_project(folder, method=MEDUSA)
    recipe = {**json.loads(path.read_text()), "backend": "tensorrt"}
    path.write_text(json.dumps(recipe))
    return path


@pytest.mark.parametrize("look", [inspected, inspected_without_fetching])
def test_medusa_heads_are_described_and_hashed_as_what_they_are(tmp_path, look):
    draft = look(named(load(heads_project(tmp_path)))).draft
    assert (draft.kind, draft.reference.checkpoint) == ("medusa", "medusa")
    assert (draft.info.heads, draft.format) == (5, "safetensors")
    assert set(draft.files) == {"config.json", "medusa_lm_head.safetensors"}


def test_a_draft_model_is_of_the_kind_model(tmp_path):
    inputs = named(load(write_project(tmp_path, draft=True)))
    assert [source.kind for source in inputs.sources] == ["model", "model"]


def test_drafter_that_is_not_here_is_fetched_as_what_it_is(
    tmp_path, monkeypatch, lines
):
    asked = []

    def fetch(reference, progress):
        asked.append(reference.checkpoint)
        return tmp_path

    monkeypatch.setattr(resolve, "fetch", fetch)
    fetched(named(load(heads_project(tmp_path))), lines.progress)
    assert sorted(asked) == ["medusa", "model"]


def test_target_with_pickled_weights_is_described_and_hashed(tmp_path):
    path = write_project(tmp_path)
    (tmp_path / "target-model" / "model.safetensors").unlink()
    write_pickled(tmp_path / "target-model")
    target = inspected(named(load(path))).target
    assert target.format == "torch"
    assert "pytorch_model.bin" in target.files
