"""What the smoke test builds and runs, and what comes out of each recipe."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from smoke_tokens import Line

from trtspec.recipe.load import load_recipe

ROOT = Path(__file__).resolve().parent.parent
PROMPTS = 4
"""Prompts that are sent, all at once."""
BACKENDS = ("tensorrt", "pytorch", "reference")

# The smallest of its family with one query head per key-value head. The others have
# three, and the kernels that verify lookahead's tree count these in powers of two
# (decoderXQAImplPrecompiled.cpp: log2HeadGrpSize).
TARGET = "HuggingFaceTB/SmolLM2-1.7B-Instruct"
DRAFT = "HuggingFaceTB/SmolLM2-135M-Instruct"


class FailedError(Exception):
    """Something did not build or run; the text says what and where to look."""


@dataclass(frozen=True)
class Settings:
    """What the environment asks for; models, files and folders as absolute paths."""

    target: str
    draft: str
    dtype: str
    prompts: Path
    tokens: int
    backends: tuple[str, ...]
    recipes: tuple[Path, ...]
    logs: Path
    engines: Path


def read_settings() -> Settings:
    """Take the variables, or their defaults."""
    get = os.environ.get
    logs = Path(get("SMOKE_LOGS") or "gpu-smoke").absolute()
    prompts = ROOT / "recipes/workloads/code.jsonl"
    return Settings(
        target=_model(get("SMOKE_TARGET") or TARGET),
        draft=_model(get("SMOKE_DRAFT") or DRAFT),
        dtype=get("SMOKE_DTYPE") or "float16",
        prompts=Path(get("SMOKE_PROMPTS") or prompts).absolute(),
        tokens=int(get("SMOKE_TOKENS") or 64),
        backends=tuple((get("SMOKE_BACKENDS") or " ".join(BACKENDS)).split()),
        recipes=tuple(Path(p).absolute() for p in get("SMOKE_RECIPES", "").split()),
        logs=logs,
        engines=Path(get("SMOKE_ENGINES") or logs / "engines").absolute(),
    )


def _model(name: str) -> str:
    return str(Path(name).absolute()) if Path(name).is_dir() else name


def trtspec(log: Path, *arguments: object) -> str:
    """Run one command; its stdout comes back, both streams go to logs.

    :raises FailedError: with what it said of its error.
    """
    command = [sys.executable, "-m", "trtspec", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(f"$ {' '.join(command)}\n{done.stderr}")
    log.with_suffix(".out").write_text(done.stdout)
    if done.returncode:
        said = done.stderr.rpartition("error: ")[2].splitlines()
        # what a tool wrote is in the logs
        words = " ".join(x.strip() for x in said if not x.lstrip().startswith("|"))
        raise FailedError(f"exit {done.returncode}: {words} (log: {log})")
    return done.stdout


class Runs:
    """Recipes, built and run by ``trtspec``, each once."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._ran: dict[Path, tuple[Path, dict[str, Line]]] = {}

    def lines(self, recipe: Path) -> tuple[Path, dict[str, Line]]:
        """Give the artifact of a recipe, and what it made of each prompt.

        :raises FailedError: it did not build or run.
        """
        if recipe not in self._ran:
            loaded = load_recipe(recipe).recipe
            logs = self.settings.logs / loaded.name
            artifact = self._build(recipe, logs)
            own = loaded.backend == "reference"
            device = ("--device", _torch_device()) if own else ()
            output = trtspec(
                logs / "run.log",
                *("run", artifact, "--prompts", self.settings.prompts, "--raw"),
                *("--limit", PROMPTS, "--max-tokens", self.settings.tokens),
                *("--temperature", 0, "--ignore-eos", "--json", *device),
            )
            # TensorRT-LLM itself writes to stdout as well
            lines = [json.loads(x) for x in output.splitlines() if x.startswith("{")]
            # the last line may be what the engine counted of all of them
            by_id = {line["id"]: line for line in lines if "id" in line}
            self._ran[recipe] = artifact, by_id
        return self._ran[recipe]

    def _build(self, recipe: Path, logs: Path) -> Path:
        where = ("--engines", self.settings.engines)
        try:
            built = trtspec(logs / "build.log", "build", recipe, *where, "--json")
        finally:
            self._keep_stage_logs()
        return Path(json.loads(built)["artifact"])

    def _keep_stage_logs(self) -> None:
        """Copy what the stages wrote: engines may be thrown away, logs not."""
        stages, kept = self.settings.engines / ".stages", self.settings.logs / "stages"
        kept.mkdir(exist_ok=True)
        for log in stages.glob("*/stage.log"):
            (kept / f"{log.parent.name}.log").write_bytes(log.read_bytes())
        for log in stages.glob("logs/*.log"):  # of stages that failed
            (kept / log.name).write_bytes(log.read_bytes())


def _torch_device() -> str:
    """Where the reference engine runs: on the GPU if torch can use it."""
    code = "import torch, sys; sys.exit(not torch.cuda.is_available())"
    command = [sys.executable, "-c", code]
    found = subprocess.run(command, capture_output=True, check=False)
    return "cuda" if found.returncode == 0 else "cpu"
