"""What does quantize.py of the examples do?"""

from __future__ import annotations

from typing import Any

from packaging.version import Version

from tests.standins.checkpoint import read_hugging_face
from tests.standins.convert import base_checkpoint, medusa_keys
from tests.standins.machine import Machine
from tests.standins.quantization import quantized
from tests.standins.voice import say
from trtspec.trtllm import facts

LEAST_CAPABILITY = {"fp8": 89, "fp8_pc_pt": 89, "w4a8_awq": 89, "nvfp4": 100}


def quantize(version: str, machine: Machine, arguments: dict[str, Any]) -> None:
    """Write a quantized checkpoint (its weights are only cast).

    :raises RuntimeError: the GPU is too old for the format.
    """
    needed = LEAST_CAPABILITY.get(arguments["qformat"], 0)
    if arguments["kv_cache_dtype"] == "fp8":
        needed = max(needed, 89)
    if machine.capability < needed and arguments["device"] == "cuda":
        raise RuntimeError(
            f"{arguments['qformat']} needs compute capability {needed / 10}, this GPU "
            f"has {machine.capability / 10}"
        )
    base = read_hugging_face(arguments["model_dir"])
    accepted = set(facts.targets("quantize", Version(version)))
    checkpoint = base_checkpoint(base, arguments, "quantize", accepted)
    checkpoint.config["quantization"] = quantized(arguments)
    if arguments["medusa_model_dir"]:
        keys = medusa_keys(arguments, arguments["max_draft_len"])
        checkpoint.config.update(keys, model_type=base.family)
    checkpoint.write(arguments["output_dir"])
    say(f"Quantized model exported to {arguments['output_dir']}")
