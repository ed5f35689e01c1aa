"""Drafters of every kind become safetensors in one type; nothing of a pickle is run."""

import json
import pickle

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.build.projects import load, write_project
from tests.models.drafters import (
    mtp_shapes,
    write_dflash,
    write_eagle,
    write_eagle3,
    write_medusa,
    write_mtp,
    write_redrafter,
)
from tests.models.tiny import HIDDEN, ROWS, tensors
from trtspec.build.command import CommandError
from trtspec.build.progress import SILENT
from trtspec.build.resolve import inspected, named
from trtspec.build.stage import StageContext
from trtspec.errors import BuildError, FindingsError
from trtspec.reference import convert_stage
from trtspec.reference.backend import ReferenceBackend
from trtspec.reference.conversion import plan_conversion
from trtspec.reference.convert import cast_checkpoint, unpickle_checkpoint

LAYERS = [0, 1, -1]
TREE = [[0], [0, 0]]
METHODS = {
    "medusa": (write_medusa, {"tree": TREE}),
    "eagle": (write_eagle, {"num_layers": 2, "tree": TREE}),
    "eagle3": (write_eagle3, {"draft_length": 2, "layers_to_capture": LAYERS}),
    "dflash": (write_dflash, {"draft_length": 2, "target_layers": [0, 0, 1]}),
    "redrafter": (write_redrafter, {}),
    "mtp": (write_mtp, {"draft_length": 2}),
}
every_method = pytest.mark.parametrize("method", METHODS)


@pytest.fixture(autouse=True)
def _own_caches(caches, monkeypatch):
    monkeypatch.setenv("TRTSPEC_CACHE", str(caches / "trtspec"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def inputs_of(folder, method, dtype="float16", write=None):
    """Describe a project with a drafter; by default one that float16 fits."""
    writer, parameters = METHODS[method]
    (write or writer)(folder / "drafter")
    speculation = {"method": method, "model": "./drafter", **parameters}
    recipe = write_project(folder, method=speculation, dtype=dtype)
    return inspected(named(load(recipe)))


def stages(inputs):
    return {stage.name: stage for stage in ReferenceBackend().stages(inputs)}


def context(folder, inputs=None):
    (folder / "out").mkdir()
    return StageContext(folder / "out", inputs or {}, folder / "log", SILENT)


def pickled(directory, content, name="medusa_lm_head.pt"):
    """Write a drafter whose weights are whatever ``content`` is, pickled."""
    write_medusa(directory, pickled=True)
    torch.save(content, directory / name)
    return directory


def heads():
    """Two Medusa heads whose weights share memory, as a training run leaves them."""
    weight, bias = torch.ones(HIDDEN, HIDDEN), torch.zeros(HIDDEN)
    return {
        f"{head}.0.linear.{name}": part
        for head in range(2)
        for name, part in (("weight", weight), ("bias", bias))
    } | {f"{head}.1.weight": torch.ones(ROWS, HIDDEN) for head in range(2)}


@every_method
def test_a_drafter_is_a_stage_with_the_folder_draft(tmp_path, method):
    planned = stages(inputs_of(tmp_path, method))
    assert {name: stage.folder for name, stage in planned.items()} == {
        "convert-target": "target",
        "convert-draft": "draft",
        "check-pair": "",
    }
    assert planned["convert-draft"].summary == ("copy float16 safetensors",)
    assert planned["check-pair"].summary == ("compare the sizes of target and drafter",)


@every_method
def test_a_copied_drafter_is_one_file_with_its_tensors_as_they_are(tmp_path, method):
    inputs = inputs_of(tmp_path, method)
    here = context(tmp_path)
    stages(inputs)["convert-draft"].action(here)
    (weights,) = (tmp_path / "drafter").glob("*.safetensors")
    assert {path.name for path in here.output.iterdir()} == {
        "config.json",
        "model.safetensors",
    }
    assert (here.output / "model.safetensors").read_bytes() == weights.read_bytes()


@every_method
def test_what_was_copied_is_judged_again(tmp_path, method):
    inputs = inputs_of(tmp_path, method)
    converted = context(tmp_path)
    planned = stages(inputs)
    planned["convert-draft"].action(converted)
    (tmp_path / "check").mkdir()
    places = {
        "convert-target": tmp_path / "target-model",
        "convert-draft": converted.output,
    }
    planned["check-pair"].action(context(tmp_path / "check", places))
    found = json.loads((tmp_path / "check/out/findings.json").read_text())
    assert not [f for f in found if f["severity"] == "blocking"]


def test_a_cast_keeps_names_and_whole_numbers(tmp_path):
    write_eagle3(tmp_path / "head")
    stored = load_file(tmp_path / "head/model.safetensors")
    stored |= {"d2t": torch.arange(ROWS // 2), "t2d": torch.ones(ROWS).bool()}
    save_file(stored, tmp_path / "head/model.safetensors")
    (tmp_path / "out").mkdir()
    names = ["config.json", "model.safetensors"]
    cast_checkpoint(tmp_path / "head", tmp_path / "out", names, "bfloat16")
    cast = load_file(tmp_path / "out/model.safetensors")
    assert cast.keys() == stored.keys()
    assert {name: t.dtype for name, t in cast.items() if not t.is_floating_point()} == {
        "d2t": torch.int64,
        "t2d": torch.bool,
    }
    floats = {t.dtype for t in cast.values() if t.is_floating_point()}
    assert floats == {torch.bfloat16}


def test_medusa_heads_are_renamed_when_they_are_cast(tmp_path):
    write_medusa(tmp_path / "head")
    (tmp_path / "out").mkdir()
    names = ["config.json", "medusa_lm_head.safetensors"]
    cast_checkpoint(tmp_path / "head", tmp_path / "out", names, "float32")
    assert (tmp_path / "out/model.safetensors").is_file()
    assert not (tmp_path / "out/medusa_lm_head.safetensors").exists()


def test_the_way_and_the_room_follow_from_the_stored_types(tmp_path):
    copied = plan_conversion(inputs_of(tmp_path / "a", "medusa").draft, "float16")
    source = inputs_of(tmp_path / "b", "medusa", dtype="float32").draft
    cast = plan_conversion(source, "float32")
    assert (copied.way, cast.way) == ("copy", "cast")
    assert set(cast.versions) == {"torch", "safetensors"}
    assert cast.needs_bytes - copied.needs_bytes == source.info.weight_bytes


def test_pickled_tensors_are_read_and_cast(tmp_path):
    pickled(tmp_path / "head", heads() | {"counts": torch.arange(3)})
    (tmp_path / "out").mkdir()
    names = ["config.json", "medusa_lm_head.pt"]
    unpickle_checkpoint(tmp_path / "head", tmp_path / "out", names, "bfloat16")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "config.json",
        "model.safetensors",
    }
    read = load_file(tmp_path / "out/model.safetensors")
    assert read.pop("counts").tolist() == [0, 1, 2]
    assert read.keys() == heads().keys()
    for name, tensor in heads().items():
        assert torch.equal(read[name], tensor.bfloat16())


def test_pickled_shards_become_one_file(tmp_path):
    write_eagle(tmp_path / "head", pickled=True)
    (tmp_path / "head/pytorch_model.bin").unlink()
    torch.save({"fc.weight": torch.ones(2)}, tmp_path / "head/pytorch_model-1.bin")
    torch.save({"fc.bias": torch.ones(1)}, tmp_path / "head/pytorch_model-2.bin")
    (tmp_path / "head/pytorch_model.bin.index.json").write_text("{}")
    (tmp_path / "out").mkdir()
    names = sorted(path.name for path in (tmp_path / "head").iterdir())
    unpickle_checkpoint(tmp_path / "head", tmp_path / "out", names, "float32")
    read = load_file(tmp_path / "out/model.safetensors")
    assert set(read) == {"fc.weight", "fc.bias"}


class Trap:
    """Runs code where it is unpickled without care."""

    def __reduce__(self):
        return print, ("code of the file was run",)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"0.0.linear.weight": Trap()}, "holds more than weights.*GLOBAL"),
        ({"epoch": 3}, "'epoch' is a int"),
        ([torch.ones(2)], "holds one list"),
        ({7: torch.ones(2)}, "7 is a Tensor"),
        ({"a": torch.ones(2, device="meta")}, "holds the empty tensor 'a'"),
        ({"a": torch.eye(2).to_sparse()}, "holds the sparse tensor 'a'"),
        ({"a": torch.ones(2).to(torch.complex64)}, "holds the complex tensor 'a'"),
    ],
    ids=["code", "no tensor", "a list", "no name", "empty", "sparse", "complex"],
)
def test_a_pickle_of_anything_else_is_refused(tmp_path, capfd, content, reason):
    pickled(tmp_path / "head", content)
    (tmp_path / "out").mkdir()
    names = ["config.json", "medusa_lm_head.pt"]
    with pytest.raises(ValueError, match=reason):
        unpickle_checkpoint(tmp_path / "head", tmp_path / "out", names, "float32")
    assert "code of the file was run" not in capfd.readouterr().out
    assert not (tmp_path / "out/model.safetensors").exists()


def test_a_damaged_pickle_is_refused(tmp_path):
    pickled(tmp_path / "head", heads())
    file = tmp_path / "head/medusa_lm_head.pt"
    file.write_bytes(file.read_bytes()[:-100])
    (tmp_path / "out").mkdir()
    with pytest.raises(ValueError, match=r"medusa_lm_head\.pt is damaged"):
        unpickle_checkpoint(
            tmp_path / "head", tmp_path / "out", ["config.json", file.name], "float32"
        )


@pytest.mark.parametrize(
    "content",
    [b"hello world" * 100, b"PK\x03\x04" + b"0" * 500, b"\x80\x02.", b"{}"],
    ids=["text", "half a zip", "an empty pickle", "JSON"],
)
def test_what_is_no_pickle_at_all_is_refused_in_one_line(tmp_path, content):
    write_medusa(tmp_path / "head", pickled=True)
    (tmp_path / "head/medusa_lm_head.pt").write_bytes(content)
    (tmp_path / "out").mkdir()
    names = ["config.json", "medusa_lm_head.pt"]
    with pytest.raises(ValueError, match=r"medusa_lm_head\.pt is damaged") as caught:
        unpickle_checkpoint(tmp_path / "head", tmp_path / "out", names, "float32")
    said = str(caught.value)
    assert "\n" not in said
    assert "weights_only` set to `False" not in said  # torch's advice, not ours
    assert len(said) < 300


def test_build_names_the_file_that_it_does_not_unpickle(tmp_path):
    def write(directory):
        write_medusa(directory, pickled=True)
        (directory / "medusa_lm_head.pt").write_bytes(pickle.dumps({"a": Trap()}))

    stage = stages(inputs_of(tmp_path, "medusa", write=write))["convert-draft"]
    assert stage.summary[0].startswith("read pickled tensors (weights_only)")
    here = context(tmp_path)
    with pytest.raises(BuildError) as caught:
        stage.action(here)
    (problem,) = caught.value.problems
    assert problem.what.startswith("medusa_lm_head.pt is damaged, or holds more than")
    assert "\n" not in problem.what
    assert problem.where == str(tmp_path / "drafter")
    assert "convert it to safetensors where you trust it" in problem.action
    assert "weights_only=True" in problem.allowed


def test_another_failure_of_unpickling_is_told_as_what_it_is(tmp_path, monkeypatch):
    def full(*_, **__):
        raise CommandError("SafetensorError: File too large", action="see the log")

    monkeypatch.setattr(convert_stage, "run_command", full)
    inputs = inputs_of(
        tmp_path, "medusa", write=lambda to: write_medusa(to, pickled=True)
    )
    with pytest.raises(CommandError, match="File too large") as caught:
        stages(inputs)["convert-draft"].action(context(tmp_path))
    assert caught.value.problems[0].action == "see the log"


def test_what_a_pickle_turns_out_to_be_is_refused_after_the_conversion(tmp_path):
    inputs = inputs_of(
        tmp_path, "medusa", write=lambda to: write_medusa(to, pickled=True)
    )
    check = stages(inputs)["check-pair"]
    write_medusa(tmp_path / "converted", heads=1, name="model.safetensors")
    places = {
        "convert-target": tmp_path / "target-model",
        "convert-draft": tmp_path / "converted",
    }
    with pytest.raises(FindingsError, match="has 1 Medusa head"):
        check.action(context(tmp_path, places))


def test_a_pickle_of_no_drafter_at_all_is_refused_by_the_name_that_was_given(tmp_path):
    def write(directory):
        pickled(directory, {"other.weight": torch.ones(2)})

    check = stages(inputs_of(tmp_path, "medusa", write=write))["check-pair"]
    (tmp_path / "converted").mkdir()
    save_file({"other.weight": torch.ones(2)}, tmp_path / "converted/model.safetensors")
    (tmp_path / "converted/config.json").write_text("{}")
    places = {
        "convert-target": tmp_path / "target-model",
        "convert-draft": tmp_path / "converted",
    }
    with pytest.raises(FindingsError, match="hold no Medusa heads") as caught:
        check.action(context(tmp_path, places))
    assert caught.value.problems[0].where == str(tmp_path / "drafter")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_next_token_heads_of_the_target_survive_its_conversion(tmp_path, dtype):
    shapes = mtp_shapes()
    recipe = write_project(
        tmp_path, method={"method": "mtp", "draft_length": 2}, dtype=dtype
    )
    weights = {n: torch.tensor(t) for n, t in tensors(**shapes).items()}
    save_file(weights, tmp_path / "target-model/model.safetensors")
    config = json.loads((tmp_path / "target-model/config.json").read_text())
    config["num_nextn_predict_layers"] = 1
    (tmp_path / "target-model/config.json").write_text(json.dumps(config))
    inputs = inspected(named(load(recipe)))
    assert inputs.target.info.stored_next_token_heads == 1
    here = context(tmp_path)
    stages(inputs)["convert-target"].action(here)
    kept = load_file(here.output / "model.safetensors")
    assert shapes.keys() <= kept.keys()
    assert {kept[name].dtype for name in shapes} == {getattr(torch, dtype)}


def test_a_quantized_drafter_is_refused(tmp_path):
    def eight_bits(directory):
        weights = load_file(write_medusa(directory) / "medusa_lm_head.safetensors")
        name = "0.1.weight"
        weights[name] = weights[name].to(torch.float8_e4m3fn)
        save_file(weights, directory / "medusa_lm_head.safetensors")

    source = inputs_of(tmp_path, "medusa", write=eight_bits).draft
    with pytest.raises(BuildError, match=r"\./drafter are quantized .*float8"):
        plan_conversion(source, "float16")
