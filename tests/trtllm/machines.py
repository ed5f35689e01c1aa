"""A machine as the tests want it: what is installed is what they put there."""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path

from trtspec.gpus import Gpu
from trtspec.trtllm import examples, facts, probe, programs
from trtspec.trtllm.versions import parse

IMPORTED = 'raise RuntimeError("tensorrt_llm must not be imported to look at it")\n'
H200 = Gpu(
    name="NVIDIA H200",
    memory_bytes=139 * 2**30,
    driver="580.65.06",
    compute_capability="9.0",
    sm_clock_mhz=None,
    power_limit_watts=None,
)
NO_GPUS = ((), "no NVIDIA driver: library not found")


@dataclass(frozen=True)
class Machine:
    """``site`` is where Python packages go, ``bin`` is all of PATH."""

    root: Path

    @property
    def site(self):
        return self.root / "site"

    @property
    def bin(self):
        return self.root / "bin"

    @property
    def package(self):
        return self.site / "tensorrt_llm"

    @property
    def image_examples(self):
        return self.root / "app" / "tensorrt_llm" / "examples"

    def install(self, version="1.2.1", *, without=()):
        """Put a whole TensorRT-LLM there, but for some of its files."""
        files = {
            "__init__.py": IMPORTED,
            "version.py": f'# licence\n__version__ = "{version}"\n',
            "commands/build.py": "",
            "runtime/model_runner_cpp.py": "",
            "bindings.cpython-312-x86_64-linux-gnu.so": "",
            "bindings/executor.pyi": "",
            "bin/executorWorker": "",
        }
        for name in files.keys() - set(without):
            write(self.package / name, files[name])
        self.record("tensorrt_llm", version)
        for name in {"trtllm-build", "trtllm-serve"} - set(without):
            self.program(name)

    def record(self, name, version):
        """Put an installer's record of a package there."""
        folder = self.site / f"{name.replace('-', '_')}-{version}.dist-info"
        write(folder / "METADATA", f"Name: {name}\nVersion: {version}\n")

    def program(self, name, folder=None):
        """Put an executable on PATH, or in another folder."""
        path = (folder or self.bin) / name
        write(path, "#!/bin/sh\nexit 1\n")
        path.chmod(0o755)
        return path


def write(path, text=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def write_examples(root, version, *, names_version=True):
    """Make the examples folder of a version; each script has one flag."""
    for program in facts.PROGRAMS:
        if path := facts.script_path(program, parse(version)):
            write(root / path, 'parser.add_argument("--model_dir")\n')
    if names_version:
        write(root / "constraints.txt", f"tensorrt_llm=={version}\nevaluate~=0.4.1\n")
    return root


def bare_machine(monkeypatch, root, *, gpus=()):
    """Hide what this machine really has; ``Machine`` then adds to nothing."""
    machine = Machine(root)
    machine.site.mkdir()
    machine.bin.mkdir()

    def version(name):
        found = importlib.metadata.distributions(name=name, path=[str(machine.site)])
        for distribution in found:
            return distribution.version
        raise importlib.metadata.PackageNotFoundError(name)

    def spec(name):
        PathFinder.invalidate_caches()
        return PathFinder.find_spec(name, [str(machine.site)])

    found_gpus = (tuple(gpus), None) if gpus else NO_GPUS
    monkeypatch.setattr(probe, "metadata_version", version)
    monkeypatch.setattr(probe, "find_spec", spec)
    monkeypatch.setattr(probe, "find_gpus", lambda: found_gpus)
    monkeypatch.setattr(programs.sysconfig, "get_path", lambda _: str(root / "scripts"))
    monkeypatch.setattr(probe, "CUDA_FILE", root / "cuda" / "version.json")
    monkeypatch.setattr(probe, "IMAGE_FOLDER", machine.image_examples)
    monkeypatch.setattr(examples, "IMAGE_FOLDER", machine.image_examples)
    monkeypatch.setenv("PATH", str(machine.bin))
    monkeypatch.delenv(examples.VARIABLE, raising=False)
    return machine
