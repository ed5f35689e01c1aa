"""Whether the reference backend plans the right stages and knows what it needs."""

import importlib.metadata
import json
import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from safetensors.torch import save_file

from tests.build.projects import load, write_draft, write_project
from tests.models.tiny import TOKENS, tensors, write_sharded
from tests.reference.gguf_files import write_gguf
from trtspec.build.progress import SILENT
from trtspec.build.resolve import inspected, named
from trtspec.build.stage import StageContext
from trtspec.errors import BuildError, FindingsError
from trtspec.reference import backend as module
from trtspec.reference.backend import ReferenceBackend
from trtspec.reference.conversion import installed_version, plan_conversion

BACKEND = ReferenceBackend()


@pytest.fixture(autouse=True)
def _own_caches(caches, monkeypatch):
    monkeypatch.setenv("TRTSPEC_CACHE", str(caches / "trtspec"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def inputs_of(recipe):
    return inspected(named(load(recipe)))


def stages(recipe):
    return {stage.name: stage for stage in BACKEND.stages(inputs_of(recipe))}


def conversion(tmp_path, dtype="float32", change=None, **project):
    recipe = write_project(tmp_path, **project)
    if change:
        change(tmp_path / "target-model")
    return plan_conversion(inputs_of(recipe).target, dtype)


def context(tmp_path, inputs=None):
    (tmp_path / "out").mkdir()
    return StageContext(tmp_path / "out", inputs or {}, tmp_path / "log", SILENT)


def test_stages_and_the_folders_they_become(tmp_path):
    planned = stages(write_project(tmp_path, draft=True))
    assert {name: stage.folder for name, stage in planned.items()} == {
        "convert-target": "target",
        "convert-draft": "draft",
        "check-pair": "",
    }
    assert planned["check-pair"].uses == (
        planned["convert-target"],
        planned["convert-draft"],
    )


def test_method_without_draft_model_only_converts(tmp_path):
    assert list(stages(write_project(tmp_path))) == ["convert-target"]


def test_conversion_is_shared_by_recipes_that_differ_elsewhere(tmp_path):
    one = stages(write_project(tmp_path))
    other = stages(
        write_project(
            tmp_path, name="b", method={"method": "none"}, limits={"max_batch_size": 1}
        )
    )
    assert one["convert-target"].key == other["convert-target"].key


def test_conversion_of_another_dtype_or_content_is_another_stage(tmp_path):
    key = stages(write_project(tmp_path))["convert-target"].key
    assert stages(write_project(tmp_path, dtype="float16"))["convert-target"].key != key
    tokenizer = tmp_path / "target-model" / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text() + "\n")
    assert stages(write_project(tmp_path))["convert-target"].key != key


def test_check_counts_the_settings_it_looks_at(tmp_path):
    key = stages(write_project(tmp_path, draft=True))["check-pair"].key
    limits = {"max_batch_size": 1}
    changed = stages(write_project(tmp_path / "b", draft=True, limits=limits))
    assert changed["check-pair"].key != key


def test_planning_imports_neither_torch_nor_transformers(tmp_path):
    recipe = write_project(tmp_path, draft=True, dtype="bfloat16")
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from trtspec.build.plan import make_plan\n"
        "from trtspec.recipe import load_recipe\n"
        "from trtspec.reference.backend import ReferenceBackend\n"
        f"make_plan(load_recipe({str(recipe)!r}), ReferenceBackend(), Path('e'))\n"
        "slow = {'torch', 'transformers', 'scipy', 'huggingface_hub'}\n"
        "sys.exit(', '.join(slow & set(sys.modules)) or 0)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.stderr.strip() == ""
    assert result.returncode == 0


def test_same_dtype_is_copied_and_needs_no_library(tmp_path):
    planned = conversion(tmp_path)
    assert planned.way == "copy"
    assert planned.versions == {}
    assert planned.summary == "copy float32 safetensors"


def test_other_dtype_is_cast_by_torch(tmp_path):
    planned = conversion(tmp_path, "bfloat16")
    assert planned.way == "cast"
    assert set(planned.versions) == {"torch", "safetensors"}
    assert planned.summary == "cast float32 safetensors to bfloat16"


def test_one_tensor_of_another_type_is_enough_to_cast(tmp_path):
    def add_half(directory):
        weights = {n: torch.tensor(t).bfloat16() for n, t in tensors().items()}
        weights["model.norm.weight"] = weights["model.norm.weight"].float()
        save_file(weights, directory / "model.safetensors")

    assert conversion(tmp_path, "bfloat16", add_half).way == "cast"


def test_integers_do_not_ask_for_a_cast(tmp_path):
    def add_integers(directory):
        weights = {n: torch.tensor(t) for n, t in tensors().items()}
        save_file(
            {**weights, "counts": torch.arange(3)}, directory / "model.safetensors"
        )

    assert conversion(tmp_path, change=add_integers).way == "copy"


def test_gguf_is_loaded_and_its_versions_count(tmp_path):
    write_gguf(tmp_path / "target-model")
    planned = conversion(tmp_path, "bfloat16")
    assert planned.way == "load"
    assert {"gguf", "transformers", "tokenizers", "torch"} <= set(planned.versions)
    assert "GGUF (float32) to bfloat16" in planned.summary


def test_slow_tokenizer_is_made_fast_and_its_versions_count(tmp_path):
    def only_vocabulary(directory):
        (directory / "tokenizer.json").unlink()
        (directory / "vocab.json").write_text('{"a": 0}')

    planned = conversion(tmp_path, change=only_vocabulary)
    assert planned.make_tokenizer
    assert set(planned.versions) == {"tokenizers", "transformers"}
    assert planned.summary.endswith("make tokenizer.json")


def test_space_is_that_of_the_converted_weights(tmp_path):
    single, half = conversion(tmp_path), conversion(tmp_path, "float16")
    parameters = inputs_of(tmp_path / "tiny.yaml").target.info.parameters
    assert single.needs_bytes - half.needs_bytes == 2 * parameters


def test_quantized_weights_are_refused(tmp_path):
    def eight_bits(directory):
        weights = {n: torch.tensor(t) for n, t in tensors().items()}
        name = "model.layers.0.mlp.up_proj.weight"
        weights[name] = weights[name].to(torch.float8_e4m3fn)
        save_file(weights, directory / "model.safetensors")

    with pytest.raises(BuildError, match=r"\./target-model are quantized .*float8"):
        conversion(tmp_path, change=eight_bits)


def test_declared_quantization_is_refused(tmp_path):
    source = inputs_of(write_project(tmp_path)).target
    quantized = replace(source, info=replace(source.info, quantization="gptq"))
    with pytest.raises(BuildError, match="gptq"):
        plan_conversion(quantized, "float32")


def test_sharded_checkpoint_is_planned(tmp_path):
    write_sharded(tmp_path / "target-model")
    assert conversion(tmp_path, "float16").way == "cast"


def test_versions_are_those_of_the_installed_packages():
    versions = BACKEND.versions()
    assert versions["torch"] == importlib.metadata.version("torch")
    assert torch.__version__.startswith(versions["torch"])  # and its build, as +cpu
    assert versions["transformers"] == importlib.metadata.version("transformers")
    assert installed_version("no-such-package-of-ours") == "absent"


def test_nothing_is_missing_here():
    assert BACKEND.missing() == []


@pytest.mark.parametrize(
    ("absent", "formats", "expected"),
    [
        ({"torch"}, (), ['torch not installed: pip install "trtspec[reference]"']),
        ({"gguf"}, (), []),
        (
            {"gguf", "accelerate"},
            ("gguf",),
            ['gguf, accelerate not installed: pip install "trtspec[demo]"'],
        ),
        (
            {"transformers", "gguf"},
            ("gguf", "safetensors"),
            [
                'transformers not installed: pip install "trtspec[reference]"',
                'gguf not installed: pip install "trtspec[demo]"',
            ],
        ),
    ],
)
def test_missing_libraries_come_with_what_installs_them(
    monkeypatch, absent, formats, expected
):
    monkeypatch.setattr(
        module, "find_spec", lambda name: None if name in absent else True
    )
    found = [f"{p.what}: {p.action}" for p in BACKEND.missing(formats)]
    assert found == expected


def test_cast_runs_in_a_process_of_its_own_and_logs(tmp_path, capfd):
    stage = stages(write_project(tmp_path, dtype="bfloat16"))["convert-target"]
    here = context(tmp_path)
    stage.action(here)
    assert {path.name for path in here.output.iterdir()} == {
        "config.json", "model.safetensors", "tokenizer.json",
    }  # fmt: skip
    log = here.log_file.read_text()
    assert "cast float32 safetensors to bfloat16" in log
    assert "trtspec.reference.convert" in log
    assert capfd.readouterr() == ("", "")


def test_failed_conversion_shows_the_reason(tmp_path):
    stage = stages(write_project(tmp_path, dtype="bfloat16"))["convert-target"]
    (tmp_path / "target-model" / "tokenizer.json").unlink()
    with pytest.raises(BuildError, match=r"FileNotFoundError.*tokenizer\.json"):
        stage.action(context(tmp_path))


def pair(tmp_path, tokens):
    recipe = write_project(tmp_path, draft=True)
    write_draft(tmp_path / "other-draft", tokens)
    checked = stages(recipe)["check-pair"]
    converted = {
        "convert-target": tmp_path / "target-model",
        "convert-draft": tmp_path / "other-draft",
    }
    return checked, context(tmp_path, converted)


def test_pair_with_the_same_token_ids_passes(tmp_path):
    stage, here = pair(tmp_path, TOKENS)
    stage.action(here)
    findings = json.loads((here.output / "findings.json").read_text())
    assert {f["rule"] for f in findings} <= {"draft-size"}  # a toy is half its target


def test_pair_whose_converted_token_ids_differ_is_refused(tmp_path):
    stage, here = pair(tmp_path, tuple(reversed(TOKENS)))
    with pytest.raises(FindingsError):
        stage.action(here)
    assert list(here.output.iterdir()) == []
