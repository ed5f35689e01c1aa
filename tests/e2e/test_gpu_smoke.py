"""What scripts/gpu_smoke.sh says without a GPU, on stand-ins, and of wrong tokens."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import ROOT
from tests.models.tiny import write_checkpoint
from tests.standins import install
from tests.standins.samples import write_medusa

SCRIPT = ROOT / "scripts/gpu_smoke.sh"
DRIVER = """
class NVMLError(Exception):
    pass

NVML_CLOCK_SM = 1
memory = type("Memory", (), {{"total": 2**33}})

def refuse(*arguments):
    raise NVMLError("Driver Not Loaded")

nvmlInit = {init}
nvmlShutdown = lambda: None
nvmlDeviceGetCount = lambda: 1
nvmlDeviceGetHandleByIndex = lambda index: index
nvmlDeviceGetName = lambda handle: "stand-in GPU"
nvmlDeviceGetMemoryInfo = lambda handle: memory
nvmlSystemGetDriverVersion = lambda: "580.65"
nvmlDeviceGetCudaComputeCapability = lambda handle: (9, 0)
nvmlDeviceGetClockInfo = nvmlDeviceGetEnforcedPowerLimit = refuse
"""
"""Stands for nvidia-ml-py, so that the tests see the same GPUs on every machine."""


def write_driver(folder, init="lambda: None"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pynvml.py").write_text(DRIVER.format(init=init))
    return folder


@pytest.fixture
def machine(tmp_path):
    """Stand-ins of TensorRT-LLM 1.2.1, one GPU, a tiny pair of models."""
    standin = install(tmp_path / "standin", "1.2.1")
    write_driver(standin.site)
    for name in ("target", "draft"):
        write_checkpoint(tmp_path / name, max_position_embeddings=2048)
    prompts = [json.dumps({"id": f"p{n}", "prompt": f"t{n + 3}"}) for n in range(5)]
    (tmp_path / "prompts.jsonl").write_text("\n".join(prompts))
    return {
        **standin.environment(),
        "SMOKE_TARGET": "target",
        "SMOKE_DRAFT": "draft",
        "SMOKE_DTYPE": "bfloat16",
        "SMOKE_PROMPTS": "prompts.jsonl",
        "SMOKE_TOKENS": "12",
        "SMOKE_BACKENDS": "tensorrt",
        "OMP_NUM_THREADS": "1",
    }


def smoke(folder, environment):
    """Run the script; its exit code, its verdict and what it wrote to stderr."""
    done = subprocess.run(
        [SCRIPT],
        check=False,
        cwd=folder,
        env={"PYTHON": sys.executable, **environment},
        capture_output=True,
        text=True,
    )
    return done.returncode, json.loads(done.stdout), done.stderr


def by_name(verdict):
    return {check["name"]: check for check in verdict["checks"]}


def test_without_a_gpu_everything_is_skipped(tmp_path):
    site = write_driver(tmp_path / "site", init="refuse")
    code, verdict, said = smoke(tmp_path, {**os.environ, "PYTHONPATH": str(site)})
    assert (code, verdict["verdict"], verdict["gpus"]) == (4, "skipped", [])
    assert verdict["reason"] == "no GPU: no NVIDIA driver: Driver Not Loaded"
    assert {check["result"] for check in verdict["checks"]} == {"skipped"}
    assert {"tensorrt", "reference", "pytorch"} <= by_name(verdict).keys()
    assert "Traceback" not in said
    assert (Path(verdict["logs"]) / "doctor.out").is_file()


def test_without_an_interpreter_it_still_gives_a_verdict(tmp_path):
    code, verdict, _ = smoke(tmp_path, {**os.environ, "PYTHON": "no-such-python"})
    assert (code, verdict["verdict"]) == (4, "skipped")
    assert verdict["reason"] == "there is no no-such-python; set PYTHON"


def test_a_gpu_without_tensorrt_llm_skips_its_backend(tmp_path):
    site = write_driver(tmp_path / "site")
    environment = {**os.environ, "PYTHONPATH": str(site), "SMOKE_BACKENDS": "tensorrt"}
    code, verdict, _ = smoke(tmp_path, environment)
    assert (code, verdict["gpus"]) == (4, ["stand-in GPU"])
    assert "TensorRT-LLM is not installed" in by_name(verdict)["tensorrt"]["reason"]


def test_a_wrong_setting_is_a_failed_verdict_without_a_traceback(tmp_path, machine):
    code, verdict, said = smoke(tmp_path, {**machine, "SMOKE_TOKENS": "many"})
    assert (code, verdict["verdict"]) == (5, "failed")
    assert "many" in verdict["reason"]
    assert "Traceback" not in said


def write_medusa_recipes(folder):
    """A recipe with Medusa heads, and its off arm."""
    folder.mkdir()
    write_medusa(folder / "heads")
    for name, speculation in {
        "medusa": {"method": "medusa", "model": "heads"},
        "none": {"method": "none"},
    }.items():
        recipe = {
            "schema": "trtspec/v1",
            "name": f"tiny-{name}",
            "backend": "tensorrt",
            "target": {"model": "../target", "dtype": "bfloat16"},
            "speculation": speculation,
            "limits": {"max_input_tokens": 512, "max_total_tokens": 1024},
        }
        (folder / f"{name}.yaml").write_text(json.dumps(recipe))


@pytest.mark.slow
def test_every_method_passes_on_stand_ins(tmp_path, machine):
    write_medusa_recipes(tmp_path / "recipes")
    machine["SMOKE_RECIPES"] = "recipes/medusa.yaml"
    code, verdict, _ = smoke(tmp_path, machine)
    assert (code, verdict["verdict"]) == (0, "passed"), verdict
    assert verdict["gpus"] == ["stand-in GPU"]
    assert verdict["versions"]["tensorrt_llm"] == "1.2.1"
    checks = by_name(verdict)
    for name in ("ngram", "draft_target", "lookahead"):
        details = checks[f"tensorrt/{name}"]["details"]
        assert (details["prompts"], details["identical"]) == (4, 4)
        assert details["output_tokens"] == 48
        assert details["drafted"] > 0
    assert checks["tiny-medusa"]["details"]["identical"] == 4
    assert checks["reference"]["reason"] == "not in SMOKE_BACKENDS"
    skipped = {name for name, check in checks.items() if check["result"] == "skipped"}
    assert {"tensorrt/eagle", "tensorrt/redrafter"} <= skipped
    assert "tensorrt/medusa" not in checks
    kept = {log.name.rpartition("-")[0] for log in tmp_path.glob("gpu-smoke/stages/*")}
    assert kept >= {"tokenizer", "convert-target", "build-target", "build-draft"}


@pytest.mark.slow
def test_backend_pytorch_passes_on_stand_ins(tmp_path, machine):
    standin = install(tmp_path / "pytorch", "1.2.1", pytorch=True)
    write_driver(standin.site)
    paths = {key: standin.environment()[key] for key in ("PATH", "PYTHONPATH")}
    code, verdict, _ = smoke(
        tmp_path, {**machine, **paths, "SMOKE_BACKENDS": "pytorch"}
    )
    assert (code, verdict["verdict"]) == (0, "passed"), verdict
    checks = by_name(verdict)
    for name in ("ngram", "draft_target"):
        details = checks[f"pytorch/{name}"]["details"]
        assert (details["prompts"], details["identical"]) == (4, 4)
        assert details["accepted"] > 0
    assert checks["tensorrt"]["reason"] == "not in SMOKE_BACKENDS"


@pytest.mark.slow
def test_a_stage_that_fails_fails_the_verdict_and_says_why(tmp_path, machine):
    machine["STANDIN_FAIL"] = "build:gpu_out_of_memory"
    code, verdict, said = smoke(tmp_path, machine)
    assert (code, verdict["verdict"]) == (5, "failed")
    checks = by_name(verdict)
    assert "CUDA out of memory" in checks["tensorrt/none"]["reason"]
    assert checks["tensorrt/ngram"]["reason"] == "tensorrt/none did not run"
    assert "Traceback" not in said
    assert "CUDA out of memory" in "".join(
        log.read_text() for log in tmp_path.glob("gpu-smoke/stages/build-target-*.log")
    )


def line(tokens, drafted=3):
    counts = {"output_tokens": len(tokens), "steps": 2, "drafted": drafted}
    return {"id": "p0", "tokens": tokens, "accepted": 1, **counts}


@pytest.fixture
def compared(tmp_path, monkeypatch):
    """Compare two outputs of one prompt, with a given gap between the logits."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    script = importlib.import_module("gpu_smoke")
    monkeypatch.setenv("SMOKE_LOGS", str(tmp_path))
    monkeypatch.setenv("SMOKE_PROMPTS", str(tmp_path / "prompts.jsonl"))
    (tmp_path / "prompts.jsonl").write_text('{"id": "p0", "prompt": "t3"}\n')
    write_medusa_recipes(tmp_path / "recipes")
    on, off = (tmp_path / f"recipes/{name}.yaml" for name in ("medusa", "none"))

    def compare(without, with_speculation, gap=None):
        monkeypatch.setattr(script, "gap_of", lambda case: gap)
        lines = {off: {"p0": line(without, 0)}, on: {"p0": with_speculation}}
        smoke = script.Smoke(script.read_settings())
        monkeypatch.setattr(smoke.runs, "lines", lambda r: (tmp_path, lines[r]))
        check = smoke._check("medusa", on, off)
        return check.result, script.exit_code([check])

    return compare


def test_other_tokens_fail(compared):
    assert compared([1, 2, 3], line([1, 2, 4]), gap=3.0) == ("failed", 7)


def test_tokens_that_cannot_be_judged_fail(compared):
    assert compared([1, 2, 3], line([1, 2]), gap=None) == ("failed", 7)


def test_a_near_tie_passes(compared):
    assert compared([1, 2, 3], line([1, 2, 4]), gap=0.02) == ("passed", 0)


def test_a_run_without_drafts_fails(compared):
    assert compared([1, 2, 3], line([1, 2, 3], drafted=0)) == ("failed", 5)


def test_the_gap_is_that_of_the_models_logits(tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    from transformers import AutoModelForCausalLM

    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    tokens = importlib.import_module("smoke_tokens")
    target = write_checkpoint(tmp_path / "artifact" / "target")
    model = AutoModelForCausalLM.from_pretrained(target, dtype=torch.float32)
    with torch.inference_mode():
        logits = model(torch.tensor([[3, 5]])).logits[0, -1]
    case = tokens.Case(str(target), target.parent, "t3", [5, 1, 7], [5, 2, 7])
    expected = float(abs(logits[1] - logits[2]))
    assert tokens.gap_of(case) == pytest.approx(expected, abs=1e-4)
    assert tokens.gap_of(case._replace(on=[5])) is None
    assert tokens.gap_of(case._replace(target=str(tmp_path / "no"))) is None
