"""The files that ship trtspec, read as data."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
SCHEMAS = Path(__file__).parent / "schemas"
NODES = {
    "one-node": DEPLOY / "kubernetes/one-node",
    "several-nodes": DEPLOY / "kubernetes/several-nodes",
}


def manifests(folder):
    """Give every object of a kustomize folder's resources."""
    names = yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"]
    texts = ((folder / name).read_text() for name in names)
    return [found for text in texts for found in yaml.safe_load_all(text) if found]


def only(objects, kind):
    (found,) = (each for each in objects if each["kind"] == kind)
    return found


def pod_specs(objects):
    """Give the pod specs of all workloads, by a name."""
    found = {}
    for each in objects:
        if each["kind"] == "Deployment":
            found["serve"] = each["spec"]["template"]["spec"]
        elif each["kind"] == "LeaderWorkerSet":
            groups = each["spec"]["leaderWorkerTemplate"]
            found["leader"] = groups["leaderTemplate"]["spec"]
            found["worker"] = groups["workerTemplate"]["spec"]
    return found


def containers(spec):
    return [*spec.get("initContainers", ()), *spec["containers"]]


def schema(name):
    return json.loads((SCHEMAS / name).read_text())


def stages():
    """Give the Dockerfile's instructions by stage, as (instruction, value) pairs."""
    parse = pytest.importorskip(
        "dockerfile_parse", reason="dockerfile-parse is not installed"
    )
    with (ROOT / "Dockerfile").open("rb") as file:
        steps = parse.DockerfileParser(fileobj=file).structure
    found = {"": []}
    stage = ""
    for step in steps:
        if step["instruction"] == "COMMENT":
            continue
        if step["instruction"] == "FROM":
            stage = re.search(r"(?i)\bAS (\S+)", step["value"])[1]
            found[stage] = []
        found[stage].append((step["instruction"], step["value"]))
    return found


def tool(name):
    """Give a program beside this Python, or on the PATH; skip without it."""
    beside = Path(sys.executable).parent / name
    path = str(beside) if beside.exists() else shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path
