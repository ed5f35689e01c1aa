"""Runs the Dockerfile's install step in a plain venv that stands for NVIDIA's image.

    python scripts/check_image_pins.py                # 1.2.1
    python scripts/check_image_pins.py --release main --venv /tmp/like-main

No Docker engine is needed: the venv gets the versions of
deploy/image/pins/RELEASE.resolved.txt, then the RUN instruction of target gpu-base is
taken from the Dockerfile by a parser and run as it stands, with the venv's Python, and
folders of the venv for /wheels and /opt/trtspec. The step itself fails if a version
changed; this script compares once more, runs trtspec there, and prints what was added.

Takes some minutes and 1 GB, so it is no test of the suite. Needs the package
dockerfile-parse, and a package index.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PINS = ROOT / "deploy/image/pins"
STAGE = "gpu-base"
_MARK = "image-packages.txt"
"""What only the install step of a stage names."""
_TRIED = (
    ("--version",),
    ("doctor",),
    ("check", "recipes/llama-3.1-8b/eagle3.yaml", "--trtllm", "1.2.1"),
    ("check", "deploy/kubernetes/one-node/recipe.yaml", "--trtllm", "1.2.1"),
)


def stage_runs(dockerfile: Path, stage: str) -> list[str]:
    """Give the RUN instructions of a stage, joined to one line each."""
    from dockerfile_parse import DockerfileParser  # type: ignore[import-untyped]

    runs: list[str] = []
    inside = False
    with dockerfile.open("rb") as file:
        for step in DockerfileParser(fileobj=file).structure:
            if step["instruction"] == "FROM":
                inside = step["value"].split()[-1] == stage
            elif inside and step["instruction"] == "RUN":
                runs.append(step["value"])
    return runs


def install_step(dockerfile: Path = ROOT / "Dockerfile") -> str:
    """Give the shell command that installs trtspec into NVIDIA's image.

    :raises SystemExit: if there is not exactly one.
    """
    found = [run for run in stage_runs(dockerfile, STAGE) if _MARK in run]
    if len(found) != 1:
        sys.exit(f"{dockerfile}: stage {STAGE} has {len(found)} install steps")
    return re.sub(r"^(--[a-z]+=\S+\s+)+", "", found[0])  # BuildKit's flags


def in_folders(step: str, wheels: Path, own: Path) -> str:
    """Put the step's two absolute folders elsewhere."""
    return step.replace("/wheels/", f"{wheels}/").replace("/opt/trtspec/", f"{own}/")


def versions(text: str) -> dict[str, str]:
    """Read ``name==version`` lines, such as those of ``pip list --format=freeze``."""
    pairs = (line.split("==") for line in text.splitlines() if "==" in line)
    return {re.sub(r"[-_.]+", "-", name).lower(): given for name, given in pairs}


def changed(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """Say which packages have another version than before, or are gone."""
    return [
        f"{name}: {version} -> {after.get(name, 'gone')}"
        for name, version in before.items()
        if after.get(name) != version
    ]


def _run(*words: object, **settings: object) -> str:
    say = [str(word) for word in words]
    print("$", " ".join(say), file=sys.stderr)
    done = subprocess.run(say, check=False, text=True, capture_output=True, **settings)  # type: ignore[call-overload]
    if done.returncode:
        sys.exit(f"{say[0]} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return str(done.stdout)


def _like_image(venv: Path, release: str) -> Path:
    """Make the venv, with exactly the versions of a release; give its Python."""
    python = venv / "bin/python3"
    _run(sys.executable, "-m", "venv", "--clear", venv)
    pins = PINS / f"{release}.resolved.txt"
    _run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--requirement", pins)
    return python


def _sources(folder: Path) -> Path:
    """Copy what the Dockerfile's stage ``wheel`` copies; a build writes beside it."""
    shutil.copytree(ROOT / "trtspec", folder / "trtspec")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    return folder


def main() -> int:
    """Run all of it; 1 if a version changed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--release", default="1.2.1", help="a file of deploy/image/pins"
    )
    parser.add_argument("--venv", type=Path, default=ROOT / ".venv-image")
    given = parser.parse_args()
    venv = given.venv.absolute()
    python = _like_image(venv, given.release)
    wheels, own = venv / "wheels", venv / "opt"
    own.mkdir()
    source = _sources(venv / "src")
    _run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", wheels, source)
    before = versions(_run(python, "-m", "pip", "list", "--format=freeze"))
    path = f"{venv / 'bin'}{os.pathsep}{os.environ['PATH']}"
    step = in_folders(install_step(), wheels, own)
    _run("sh", "-ec", step, env={**os.environ, "PATH": path}, cwd=own)
    after = versions(_run(python, "-m", "pip", "list", "--format=freeze"))
    for words in _TRIED:
        print(_run(venv / "bin/trtspec", *words, cwd=ROOT))
    added = [f"{name} {after[name]}" for name in after if name not in before]
    print(f"{len(before)} packages before; added: {', '.join(added)}")
    wrong = changed(before, after)
    print("\n".join(wrong) or "no version changed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
