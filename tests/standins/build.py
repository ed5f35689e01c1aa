"""What does trtllm-build do?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.standins import plugins
from tests.standins.checkpoint import Checkpoint, read_checkpoint
from tests.standins.machine import Machine
from tests.standins.silent import spoil
from tests.standins.voice import say
from trtspec.trtllm import facts

Json = dict[str, Any]
UNSUPPORTED = ("model_config", "build_config", "model_cls_file", "model_cls_name")
COPIED = (
    "max_input_len",
    "max_batch_size",
    "max_beam_width",
    "max_num_tokens",
    "max_draft_len",
    "max_encoder_input_len",
    "profiling_verbosity",
    "strip_plan",
    "weight_sparsity",
    "weight_streaming",
    "input_timing_cache",
    "enable_debug_output",
    "monitor_memory",
)


def build(version: str, machine: Machine, arguments: Json, failure: str | None) -> None:
    """Compile a checkpoint to an engine.

    :raises Exception: whatever the builder would raise.
    """
    for name in UNSUPPORTED:
        if arguments.get(name):
            raise SystemExit(f"the stand-in takes no --{name}")
    assert arguments["checkpoint_dir"], "--checkpoint_dir or --model_config is needed"
    checkpoint = read_checkpoint(arguments["checkpoint_dir"])
    config = _build_config(checkpoint.config, machine, arguments)
    _count_workers(arguments["workers"], machine)
    if arguments.get("dry_run"):
        return
    document = {
        "version": version,
        "pretrained_config": checkpoint.config,
        "build_config": config,
    }
    _write(spoil(document, failure), checkpoint, machine, arguments, failure)
    say("[TRT-LLM] [I] Total time of building all engines: 00:00:01")


def _build_config(pretrained: Json, machine: Machine, arguments: Json) -> Json:
    quantization = pretrained["quantization"]
    plugins.require_supported(quantization, machine)
    if "FP8" in str(quantization["quant_algo"]) and machine.capability < 89:
        raise RuntimeError(
            "Networks with FP8 precision require hardware with FP8 support"
        )
    _require_consistent(arguments)
    config = {name: arguments[name] for name in COPIED if name in arguments}
    _gather(config, arguments)
    config["speculative_decoding_mode"] = _mode(pretrained, arguments)
    config["max_draft_len"] = _max_draft_len(pretrained, arguments)
    _require_legal(config, pretrained)
    written = plugins.plugin_config(arguments, pretrained["dtype"])
    plugins.require_on_gpu(written, machine)
    _lengths(config, pretrained, arguments, written["tokens_per_block"])
    config["plugin_config"] = written
    config["kv_cache_type"] = (arguments["kv_cache_type"] or "paged").upper()
    config["lora_config"] = {"lora_dir": arguments.get("lora_dir") or []}
    if pretrained["architecture"].startswith("ReDrafter"):
        padding = config["plugin_config"]["remove_input_padding"]
        assert padding, "ReDrafter only supports remove_input_padding"
    plugins.adjust(written, quantization, machine)
    plugins.choose_gemm(written, quantization, arguments["gemm_plugin"])
    if config["speculative_decoding_mode"] == facts.modes()["eagle"]:
        _turn_paged_context_on(written)
    return config


def _turn_paged_context_on(written: Json) -> None:
    if not written["use_paged_context_fmha"]:
        say("[TRT-LLM] [W] Paged Context FMHA is required for EAGLE. Turning it on")
        written["use_paged_context_fmha"] = True


def _require_consistent(arguments: Json) -> None:
    if arguments["multiple_profiles"] == "enable" and arguments.get("opt_num_tokens"):
        raise RuntimeError(
            "multiple_profiles is enabled, while opt_num_tokens is set. "
        )


def _gather(config: Json, arguments: Json) -> None:
    everything = arguments["gather_all_token_logits"]
    for name in ("gather_context_logits", "gather_generation_logits"):
        config[name] = arguments[name] or everything


def _mode(pretrained: Json, arguments: Json) -> int:
    asked, modes = arguments["speculative_decoding_mode"] or "none", facts.modes()
    forced = "explicit_draft_tokens"
    if pretrained["architecture"].startswith("ReDrafter") and asked != forced:
        say(f"[TRT-LLM] [W] speculative_decoding_mode is set to {forced.upper()}")
        asked = forced
    return modes[asked]


def _max_draft_len(pretrained: Json, arguments: Json) -> int:
    if pretrained["architecture"].startswith("ReDrafter"):
        beams = int(pretrained["redrafter_num_beams"])
        return beams * int(pretrained["redrafter_draft_len_per_beam"])
    return int(arguments["max_draft_len"] or pretrained.get("max_draft_len", 0))


def _require_legal(config: Json, pretrained: Json) -> None:
    """Refuse what the mode excludes.

    :raises RuntimeError: or AssertionError, as the builder does.
    """
    mode, modes = config["speculative_decoding_mode"], facts.modes()
    architecture = pretrained["architecture"]
    if config["gather_context_logits"] and config["max_draft_len"] > 0:
        raise RuntimeError(
            "Gather context logits is not support with draft len > 0. If want to get "
            "the accepted tokens' logits, please just enable gather_generation_logits"
        )
    if mode == modes["medusa"]:
        assert architecture == "MedusaForCausalLM", f"no Medusa in {architecture}"
    if mode == modes["explicit_draft_tokens"]:
        assert "redrafter_num_beams" in pretrained, f"no drafter in {architecture}"
    if mode == modes["eagle"]:
        assert "num_eagle_layers" in pretrained, "num_eagle_layers is not in the config"
        assert config["max_batch_size"] <= 512, "EAGLE supports batch size up to 512"
        assert config["max_draft_len"] <= 256, "EAGLE supports max_draft_len up to 256"
    if mode != modes["none"]:
        assert config["max_draft_len"] > 0, "the mode needs max_draft_len > 0"


def _lengths(config: Json, pretrained: Json, arguments: Json, block: int) -> None:
    """Take no more tokens than the batch can have, then make room for the drafts.

    :param block: tokens of a block of the KV cache.
    """
    longest = arguments["max_seq_len"] or _longest_sequence(pretrained)
    draft, batch = config["max_draft_len"], config["max_batch_size"]
    if config["max_input_len"] > longest:
        say(f"[TRT-LLM] [W] max_input_len is clipped to max_seq_len {longest}")
        config["max_input_len"] = longest
    if config["max_num_tokens"] > longest * batch:
        say(
            f"[TRT-LLM] [W] max_num_tokens ({config['max_num_tokens']}) shouldn't be "
            f"greater than max_seq_len * max_batch_size ({longest * batch})"
        )
        config["max_num_tokens"] = longest * batch
    config["max_num_tokens"] = max(config["max_num_tokens"], block)
    mode, modes = config["speculative_decoding_mode"], facts.modes()
    if mode != modes["none"]:
        longest += draft
        raised = max(config["max_num_tokens"], batch * (draft + 1))
        config["max_num_tokens"] = raised
    if mode == modes["eagle"]:
        longest += pretrained["num_eagle_layers"]
    config["max_seq_len"] = longest
    usual = min(batch * config["max_beam_width"], config["max_num_tokens"])
    config["opt_num_tokens"] = arguments.get("opt_num_tokens") or usual


def _longest_sequence(pretrained: Json) -> int:
    scaling = pretrained.get("rotary_scaling") or {}
    factor = scaling.get("factor", 1.0) if scaling.get("type") == "linear" else 1.0
    return int(pretrained["max_position_embeddings"] * factor)


def _count_workers(asked: int, machine: Machine) -> None:
    if asked > machine.gpus:
        say(f"[TRT-LLM] [W] workers {asked} is capped at {machine.gpus} GPUs")
    say(f"[TRT-LLM] [I] Building with {min(asked, machine.gpus)} workers")


def _write(
    document: Json,
    checkpoint: Checkpoint,
    machine: Machine,
    arguments: Json,
    failure: str | None,
) -> None:
    folder = Path(arguments["output_dir"])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(document, indent=4))
    Path(arguments.get("output_timing_cache", "model.cache")).write_bytes(b"cache")
    if failure == "no_engine":
        return
    for rank in range(checkpoint.world_size):
        say(f"[TRT-LLM] [I] Serializing engine to {folder}/rank{rank}.engine")
        if document["build_config"]["plugin_config"]["manage_weights"]:
            path = folder / f"rank{rank}_managed_weights.safetensors"
            path.write_bytes(b"")
    call = {"program": "trtllm-build", "arguments": arguments}
    engine = Checkpoint(
        checkpoint.config,
        checkpoint.tensors,
        checkpoint.hf_config,
        (*checkpoint.made_by, call),
    )
    capability = str(machine.capability)
    engine.write_ranks(folder, ".engine", gpu=capability, version=document["version"])
