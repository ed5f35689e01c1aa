"""How a checkpoint is quantized with NVIDIA ModelOpt: a program of its own.

Run as ``python -m trtspec.trtllm.pytorch.build.modelopt_program TASK``, with the task
as JSON. The calls are those of ModelOpt's own examples/llm_ptq/hf_ptq.py.
"""

from __future__ import annotations

import copy
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WEIGHTS = {
    "fp8": "FP8_DEFAULT_CFG",
    "nvfp4": "NVFP4_DEFAULT_CFG",
    "int4_awq": "INT4_AWQ_CFG",
}
"""A recipe's quantization → the configuration in modelopt.torch.quantization."""
CACHES = {"fp8": "FP8_KV_CFG", "nvfp4": "NVFP4_KV_CFG"}
"""A recipe's KV cache → the configuration in modelopt.torch.quantization."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be quantized to what.

    :param source: the checkpoint's directory.
    :param output: an empty folder to fill.
    :param settings: files of the checkpoint that are not weights.
    :param kv_cache: auto, or a key of ``CACHES``.
    :param prompts: a JSONL file.
    :param samples: most prompts of it that are used.
    :param max_tokens: what a longer prompt is cut to.
    :param chat_template: a file; None if the tokenizer has its own, or none.
    """

    source: str
    output: str
    settings: tuple[str, ...]
    quantization: str
    kv_cache: str
    dtype: str
    prompts: str
    samples: int
    max_tokens: int
    chat_template: str | None


def quantization_config(
    quantization: Any, weights: dict[str, Any], kv_cache: str
) -> dict[str, Any]:
    """Add the scales of a quantized KV cache to a configuration of the weights.

    :param quantization: the module modelopt.torch.quantization.
    :param weights: one of its configurations: up to ModelOpt 0.3x its quantizers are a
        map by pattern, later a list.
    """
    config = copy.deepcopy(weights)
    if kv_cache not in CACHES:
        return config
    cache = copy.deepcopy(getattr(quantization, CACHES[kv_cache])["quant_cfg"])
    if isinstance(cache, dict):
        cache.pop("default", None)  # it would switch the weights' quantizers off
        config["quant_cfg"].update(cache)
    else:
        config["quant_cfg"].extend(cache)
    return config


def quantize(task: Task) -> None:
    """Load, calibrate, quantize and write one checkpoint."""
    import modelopt.torch.quantization as mtq
    import torch
    from modelopt.torch.export import export_hf_checkpoint
    from transformers import AutoModelForCausalLM

    device_map = "auto" if torch.cuda.is_available() else None
    model = AutoModelForCausalLM.from_pretrained(
        task.source,
        torch_dtype=getattr(torch, task.dtype),
        device_map=device_map,
        local_files_only=True,
        trust_remote_code=False,
    ).eval()
    weights = getattr(mtq, WEIGHTS[task.quantization])
    config = quantization_config(mtq, weights, task.kv_cache)
    samples = [torch.tensor([ids]) for ids in calibration_tokens(task)]
    _say(f"calibrating with {len(samples)} prompts")
    model = mtq.quantize(model, config, forward_loop=_forward_loop(samples))
    with torch.inference_mode():
        export_hf_checkpoint(model, export_dir=task.output)
    _copy_settings(task)


def _forward_loop(samples: list[Any]) -> Callable[[Any], None]:
    def loop(model: Any) -> None:
        import torch

        with torch.no_grad():
            for number, tokens in enumerate(samples, start=1):
                model(tokens.to(model.device))
                _say(f"calibrated {number} of {len(samples)}")

    return loop


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def calibration_tokens(task: Task) -> list[list[int]]:
    """Tokenize the prompts as they will be sent: through the chat template."""
    from transformers import AutoTokenizer

    from trtspec.recipe.workload import load_prompts

    tokenizer = AutoTokenizer.from_pretrained(
        task.source, local_files_only=True, trust_remote_code=False
    )
    if task.chat_template is not None:
        tokenizer.chat_template = Path(task.chat_template).read_text(encoding="utf-8")
    found = []
    for prompt in load_prompts(Path(task.prompts))[: task.samples]:
        messages = [dict(message) for message in prompt.messages]
        if tokenizer.chat_template:
            text = tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True
            )
            ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        else:
            ids = tokenizer(messages[-1]["content"])["input_ids"]
        if ids:
            found.append(ids[: task.max_tokens])
    return found


def _copy_settings(task: Task) -> None:
    """Bring tokenizer and the like along; what ModelOpt wrote itself stays."""
    for name in task.settings:
        written = Path(task.output) / name
        if not written.exists():
            shutil.copyfile(Path(task.source) / name, written)


if __name__ == "__main__":
    quantize(Task(**json.loads(sys.argv[1])))
