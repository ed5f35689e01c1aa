"""The machine is described without torch, and absence is a fact."""

from __future__ import annotations

import subprocess
import sys

import pytest

from trtspec.bench import conditions
from trtspec.bench.conditions import (
    cpu_model,
    installed_version,
    record_conditions,
)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(conditions, "IDLE_SECONDS", 0.01)


def test_this_machine_is_described():
    found = record_conditions({"device": "cpu"})
    hardware = found.hardware
    assert hardware.cpu
    assert hardware.logical_cores is not None
    assert hardware.logical_cores >= 1
    assert hardware.memory_bytes > hardware.available_bytes > 0
    assert hardware.busy_cores >= 0
    assert found.python == sys.version.split()[0]
    assert found.runner == {"device": "cpu"}
    assert bool(hardware.gpus) != bool(hardware.no_gpus_because)


def test_versions_name_what_is_not_installed_too():
    versions = record_conditions({}).versions
    assert versions["numpy"]
    assert versions["trtspec"]
    assert "tensorrt_llm" in versions
    assert installed_version("surely-not-a-package") is None


def test_only_variables_that_are_set_are_listed(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    monkeypatch.setenv("HOME_SECRET", "x")
    environment = record_conditions({}).environment
    assert environment["OMP_NUM_THREADS"] == "3"
    assert "MKL_NUM_THREADS" not in environment
    assert "HOME_SECRET" not in environment


def test_the_cpu_model_comes_from_the_kernel(tmp_path):
    info = tmp_path / "cpuinfo"
    info.write_text("processor\t: 0\nmodel name\t: Toy CPU @ 1 GHz\nflags\t: a\n")
    assert cpu_model(info) == "Toy CPU @ 1 GHz"


def test_without_a_kernel_file_the_architecture_is_named(tmp_path):
    assert cpu_model(tmp_path / "nothing")


def test_bench_imports_neither_torch_nor_scipy():
    code = (
        "import sys; import trtspec.bench.measure, trtspec.bench.table; "
        "print([m for m in ('torch', 'transformers', 'scipy', 'rich') "
        "if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
