"""Recipes given to the code of ``trtspec check``, on checkpoints of headers alone."""

import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.check.samples import loaded
from tests.models import drafters, heads
from tests.models.large import write_headers, write_llama_70b
from tests.models.public import HEADS, TARGETS, with_one_expert, write_head
from tests.models.public import write_target as write_public
from tests.models.tiny import write_checkpoint, write_tokenizer
from trtspec.cli.checking import findings_of
from trtspec.gpu_kinds import gpu_request

NGRAM = {"method": "ngram", "draft_length": 4}
SUFFIX = {"method": "suffix", "draft_length": 4}
MTP = {"method": "mtp", "draft_length": 1}
NONE = {"method": "none"}
EAGLE3 = {"method": "eagle3", "model": "./eagle3", "draft_length": 3}
EAGLE = {"method": "eagle", "model": "./eagle"}
MEDUSA = {"method": "medusa", "model": "./medusa", "num_heads": 4}
PAIR = {"method": "draft_target", "model": "./small", "draft_length": 4}
LIMITS = {"max_batch_size": 8, "max_input_tokens": 1024, "max_total_tokens": 2048}
NEWEST = "1.4.0rc4"
TREE = [[0], [0, 0], [0, 0, 0], [0, 0, 0, 0]]


def _llama(directory, **config):
    write_tokenizer(heads.write_target(directory, **config))


def _small(directory, **config):
    tensors = {"model.embed_tokens.weight": (128256, 2048)}
    tensors |= heads.layer("model.layers.0.", 2048, 8192, keys=512)
    tensors |= {"model.norm.weight": (2048,), "lm_head.weight": (128256, 2048)}
    shape = {"hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 1}
    write_headers(directory, {**heads.LLAMA_8B, **shape, **config}, tensors)
    write_tokenizer(directory)


def _eagle3(directory, *, config=None, **layout):
    given = {"draft_vocab_size": layout.get("drafted", 32000), **(config or {})}
    tensors = heads.eagle3_tensors(**layout)
    tensors.pop("t2d", None)  # a hole marks no id; d2t of zeros is the first ids
    write_headers(directory, heads.eagle3_config(**given), tensors)


def _medusa(directory, count=4, **layout):
    tensors = heads.medusa_tensors(count, rows=128256, **layout)
    write_headers(directory, {}, tensors)
    weights = directory / "model.safetensors"
    weights.rename(directory / "medusa_lm_head.safetensors")


def _public(directory, name, **changes):
    if name in HEADS:
        return write_head(directory, HEADS[name])
    record = with_one_expert(TARGETS[name])
    config = {**record["config"], **changes}
    return write_public(directory, {**record, "config": config})


WRITERS = {
    "llama": _llama,
    "small": _small,
    "eagle3": _eagle3,
    "medusa": _medusa,
    "eagle": lambda to, **k: write_headers(
        to, heads.eagle3_config(), heads.eagle_tensors(**{"bias": True, **k})
    ),
    "tiny": write_checkpoint,
    "70b": write_llama_70b,
    "mtp": drafters.write_mtp,
    "dflash": drafters.write_dflash,
    "public": _public,
}
PUBLISHED = {
    "1b": "meta-llama/Llama-3.2-1B",
    "8b": "meta-llama/Llama-3.1-8B",
    "deepseek": "deepseek-ai/DeepSeek-V3",
    "dflash-of-qwen3": "z-lab/Qwen3-8B-DFlash-b16",
    "fp8": "nvidia/Llama-3.1-70B-Instruct-FP8",
    "gemma2": "google/gemma-2-9b-it",
    "gemma3": "google/gemma-3-1b-it",
    "glm": "zai-org/GLM-4.5",
    "gpt-oss": "openai/gpt-oss-20b",
    "head-of-8b": "yuhuili/EAGLE3-LLaMA3.1-Instruct-8B",
    "head-of-gpt-oss": "SpecForge gpt-oss-20B-eagle3",
    "mixtral": "mistralai/Mixtral-8x7B-v0.1",
    "qwen2": "Qwen/Qwen2.5-7B-Instruct",
    "qwen3": "Qwen/Qwen3-8B",
    "small-qwen3": "Qwen/Qwen3-0.6B",
}
"""Directory → the published checkpoint whose configuration and headers it gets."""


class Place:
    """A directory with checkpoints, each written when it is first asked for."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def put(self, name, kind=None, *arguments, **layout) -> Path:
        """Write a checkpoint of a kind, by default that of its name, once."""
        directory = self.root / name
        if directory.exists():
            return directory
        if kind is None and name in PUBLISHED:
            kind, arguments = "public", (PUBLISHED[name],)
        WRITERS[kind or name](directory, *arguments, **layout)
        return directory

    def check(
        self,
        speculation=NGRAM,
        version=None,
        *,
        backend=None,
        target="llama",
        gpu=None,
        requests=None,
        sections=None,
    ):
        """Give what ``trtspec check`` finds in such a recipe.

        :param target: a directory's name, or the keys of the section.
        :param requests: lines of the workload's file.
        """
        keys = {"model": f"./{target}"} if isinstance(target, str) else dict(target)
        for given in (keys["model"], speculation.get("model") or ""):
            name = given.removeprefix("./")
            if name in WRITERS or name in PUBLISHED:
                self.put(name)
        changes = {"limits": LIMITS, **(sections or {})}
        if requests is not None:
            lines = (json.dumps({"prompt": "a", **line}) for line in requests)
            (self.root / "requests.jsonl").write_text("\n".join(lines) + "\n")
            workload = {"prompts": "requests.jsonl", "output_tokens": 64}
            changes["workload"] = {**workload, **changes.get("workload", {})}
        recipe = loaded(
            self.root,
            backend=backend or ("pytorch" if version else "reference"),
            target={"dtype": "bfloat16", **keys},
            speculation=speculation,
            **changes,
        )
        return findings_of(recipe, trtllm=version, gpu=gpu and gpu_request(gpu))


def of(found, *rules):
    """Give the findings of rules."""
    return [finding for finding in found if finding.rule in rules]


def text_of(finding) -> str:
    """Give all that a finding says, in one line."""
    parts = (finding.what, finding.why, finding.action, finding.snippet)
    return re.sub(r"\s+", " ", " | ".join(filter(None, parts)))


def tells(found, rule, severity, *words):
    """Hold that a rule says these words, at this severity, of a place.

    :returns: the finding.
    """
    shown = [f"{f.severity} {f.rule}: {text_of(f)}" for f in found]
    same = [f for f in of(found, rule) if f.severity == severity]
    matching = [f for f in same if all(word in text_of(f) for word in words)]
    assert matching, (rule, severity, words, shown)
    finding = matching[0]
    assert finding.where
    assert finding.action or finding.why, finding
    json.dumps(asdict(finding), default=dict)
    return finding


def passes(found, *rules):
    """Hold that nothing blocks, and that these rules say nothing at all."""
    wrong = [f for f in found if f.blocks] + of(found, *rules)
    assert not wrong, [f"{f.severity} {f.rule}: {text_of(f)}" for f in wrong]


def ask(speculation, version=None, **keys):
    """Give the arguments of ``Place.check``."""
    return {"speculation": speculation, "version": version, **keys}


def bad(name, asked, *told):
    """Give a case: what is asked, and the rule, severity and words that it earns."""
    return pytest.param(asked, told, id=name)


def gap(name, asked, *told, reason):
    """Give a case whose right answer the product does not give yet."""
    mark = pytest.mark.xfail(strict=True, reason=reason, raises=AssertionError)
    return pytest.param(asked, told, id=name, marks=mark)


def good(name, asked, *rules):
    """Give an innocent case: what is asked, and the rules that must stay silent."""
    return pytest.param(asked, rules, id=name)


def faults(*cases):
    """Try each case of ``bad`` and ``gap``."""
    return pytest.mark.parametrize(("asked", "told"), cases)


def innocents(*cases):
    """Try each case of ``good``."""
    return pytest.mark.parametrize(("asked", "rules"), cases)


def on_pytorch(**options):
    """Give the recipe's section for backend pytorch."""
    return {"pytorch": options}


def on_engines(**options):
    """Give the recipe's section for backend tensorrt."""
    return {"engine": options}


def limited(**limits):
    """Give the recipe's limits, but for some as they are."""
    return {"limits": {**LIMITS, **limits}}
