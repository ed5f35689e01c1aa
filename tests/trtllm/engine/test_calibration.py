"""A calibration dataset beside the recipe is found, and its content counts."""

import os
from dataclasses import replace

import pytest

from tests.trtllm.engine.samples import inputs, recipe, tools
from trtspec.trtllm.engine import calibration
from trtspec.trtllm.engine.calibration import content_digest, local_dataset
from trtspec.trtllm.engine.stages import engine_stages


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "texts.jsonl").write_text("one")
    return folder


def of(dataset, method="none", **target):
    return recipe(
        method,
        target={"quantization": "fp8", **target},
        engine={"calibration_dataset": dataset},
    )


def test_folder_is_found_relative_to_the_recipe(data, tmp_path):
    for named in ("data", "./data", str(data)):
        assert local_dataset(of(named), tmp_path) == data
    assert local_dataset(of("cnn_dailymail"), tmp_path) is None
    assert local_dataset(recipe(), tmp_path) is None


def test_folder_is_found_without_a_recipe_file(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert local_dataset(of("data"), None) == data


def rename(folder):
    (folder / "sub" / "texts.jsonl").rename(folder / "texts.jsonl")


def rewrite(folder):
    (folder / "sub" / "texts.jsonl").write_text("two")


def add(folder):
    (folder / "empty").write_text("")


@pytest.mark.parametrize("change", [rename, rewrite, add])
def test_digest_changes_with_the_content(data, change):
    before = content_digest(data)
    assert content_digest(data) == before
    change(data)
    assert content_digest(data) != before


def test_large_content_is_told_apart_by_its_time(data, monkeypatch):
    monkeypatch.setattr(calibration, "_QUICK_BYTES", 2)
    before, path = content_digest(data), data / "sub" / "texts.jsonl"
    os.utime(path, ns=(1, 1))
    assert content_digest(data) != before


def quantizing(made, base):
    found = engine_stages(tools(), replace(inputs(made), base=base))
    return [stage for stage in found if stage.name.startswith("quantize")]


def test_stages_that_calibrate_have_the_folder_and_its_content(data, tmp_path):
    made = of("./data", "draft_target", dtype="float16")
    made = made.model_copy(
        update={"speculation": made.speculation.model_copy(
            update={"quantization": "fp8"})}
    )  # fmt: skip
    before = quantizing(made, tmp_path)
    assert [stage.name for stage in before] == ["quantize-target", "quantize-draft"]
    for stage in before:
        assert stage.paths["calibration"] == str(data)
        assert "{calibration}" in stage.command.arguments
        assert str(data) not in " ".join(stage.inputs.values())
    rewrite(data)
    after = quantizing(made, tmp_path)
    assert all(a.key != b.key for a, b in zip(before, after, strict=True))


def test_dataset_of_the_hub_is_named_as_it_is(tmp_path):
    (stage,) = quantizing(of("cnn_dailymail"), tmp_path)
    assert "calibration" not in stage.paths
    assert "cnn_dailymail" in stage.command.arguments
