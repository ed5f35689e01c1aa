"""Artifacts of TensorRT-LLM's two backends on stand-ins, and faults inside of them.

A fault is planted into what an engine does where it drafts, and nowhere else, or only
where it decodes plainly. Backend tensorrt runs one artifact as both arms: two engines
in one process are refused outside of orchestrator mode.
"""

from __future__ import annotations

import copy
import importlib
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from tests.standins import install
from tests.standins.engines import bench
from tests.standins.executor.active import Active
from tests.standins.llm import llm as standin_llm
from tests.standins.llm.stream import TrueStream
from tests.trtllm.engine.run import artifacts as engine_artifacts
from tests.trtllm.engine.run.on_standins import built
from tests.trtllm.pytorch.run import artifacts as pytorch_artifacts
from tests.trtllm.pytorch.run.artifacts import checkpoint, manifest
from trtspec.build.artifact import MANIFEST, RECIPE
from trtspec.recipe.dump import dump_recipe

SCRIPTS = Path(__file__).parents[2] / "scripts"
TEMPLATE = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
TEXTS = {
    "a": "w41 w18 w11 w46",
    "b": "w37 w32 w27 w42",
    "c": "w36 w17 w31",
    "d": "w10 w26 w26 w31",
}
"""Behind them the toy model is uncertain: else no fault of sampling shows."""
SERVED = "1.4.0rc4"
LIMITS = {"max_batch_size": 16, "max_input_tokens": 30, "max_total_tokens": 50}


@dataclass(frozen=True)
class World:
    """Artifacts, the target's checkpoint, and two ways to plant.

    :ivar plant: puts a rule of acceptance where drafts are verified.
    :ivar plainly: puts a rule where nothing is drafted.
    """

    artifacts: tuple[Path, ...]
    model: Path
    plant: Callable
    plainly: Callable


def prompts(folder: Path) -> Path:
    path = folder / "p.jsonl"
    lines = [json.dumps({"id": k, "prompt": v}) for k, v in TEXTS.items()]
    path.write_text("\n".join(lines))
    return path


def talks(folder: Path) -> Path:
    """Give a model's folder a chat template that adds nothing."""
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "chat_template": TEMPLATE}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


def executor_world(monkeypatch, folder: Path, **options) -> World:
    """Backend tensorrt, 1.2.1: draft tokens with their logits, of the same model."""
    standin = bench("1.2.1").standin
    standin.activate(monkeypatch)
    limits = {"max_batch_size": 4, "max_input_tokens": 20, "max_total_tokens": 40}
    drafting = {"use_draft_logits": True, **options}
    on = _engines(folder / "on", "draft_target", limits, drafting)
    stand_ins = _stand_ins(monkeypatch)
    usual = Active._accept

    def put(rule, *, drafting):
        def accept(self, tree, logits):
            if bool(len(tree)) is drafting:
                return stand_ins.ruled(self, tree, logits, rule)
            return usual(self, tree, logits)

        monkeypatch.setattr(Active, "_accept", accept)

    return World(
        (on,),
        _model(folder),
        lambda rule: put(rule, drafting=True),
        lambda rule: put(rule, drafting=False),
    )


def _engines(folder: Path, method: str, limits, options) -> Path:
    of = engine_artifacts.recipe(method, limits=limits, **options)
    target = of.target.model_copy(update={"dtype": "float32"})
    sampling = of.sampling.model_copy(update={"temperature": 0.7})
    of = of.model_copy(update={"target": target, "sampling": sampling})
    folder.mkdir()
    shutil.copytree(built(method), folder / "target")
    talks(engine_artifacts.write_tokenizer(folder / "tokenizer"))
    roles = ["target", "tokenizer"]
    if method == "draft_target":
        shutil.copytree(built("none"), folder / "draft")
        roles.append("draft")
    said = json.loads(manifest("1.2.1", fingerprint=_fingerprint(method)).to_json())
    said["stages"] = [_stage(folder, role) for role in roles]
    (folder / MANIFEST).write_text(json.dumps(said))
    (folder / RECIPE).write_text(dump_recipe(of))
    return folder


def _stage(folder: Path, role: str) -> dict:
    files = [path for path in (folder / role).rglob("*") if path.is_file()]
    outputs = {
        str(path.relative_to(folder / role)): sha256(path.read_bytes()).hexdigest()
        for path in files
    }
    shown = {"name": role, "key": "", "inputs": {}, "outputs": outputs, "folder": role}
    return shown | {"duration_s": 0.0, "reused": False}


def _fingerprint(method: str) -> str:
    return ("ab" if method == "none" else "cd") * 32


def llm_world(monkeypatch, folder: Path, **options) -> World:
    """Backend pytorch: its stand-in drafts with EAGLE-3."""
    assert not options, "it has none"
    install(folder / "installed", SERVED, pytorch=True).activate(monkeypatch)
    off, on = (_served(folder / name, method) for name, method in _METHODS.items())
    wrongly = _stand_ins(monkeypatch).wrongly
    usual, honoured = TrueStream._choose, standin_llm.honoured

    def marked(params, config, family, two_model):
        found = copy.copy(honoured(params, config, family, two_model))
        if found is not None:
            found.drafts = config is not None
        return found

    monkeypatch.setattr(standin_llm, "honoured", marked)

    def where(choose, drafts):
        def chosen(self, logits):
            there = self.sampling is not None and self.sampling.drafts is drafts
            return (choose if there else usual)(self, logits)

        monkeypatch.setattr(TrueStream, "_choose", chosen)

    return World(
        (off, on),
        _model(folder),
        lambda rule: where(wrongly(rule, drafts=True), drafts=True),
        lambda rule: where(wrongly(rule, drafts=False), drafts=False),
    )


_METHODS = {"off": "none", "on": "eagle3"}


def _served(folder: Path, method: str) -> Path:
    pytorch_artifacts.write_artifact(
        folder, SERVED, method, limits=LIMITS, fingerprint=_fingerprint(method)
    )
    (folder / "target").unlink()
    shutil.copytree(checkpoint(0), folder / "target", dirs_exist_ok=True)
    talks(folder / "target")
    return folder


def _model(folder: Path) -> Path:
    shutil.copytree(checkpoint(0), folder / "model")
    return talks(folder / "model")


def _stand_ins(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module("verify_bench.stand_ins")
