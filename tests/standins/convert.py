"""What do the convert_checkpoint.py of the examples do?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from packaging.version import Version

from tests.standins.checkpoint import (
    Checkpoint,
    HuggingFace,
    cast_all,
    pretrained_config,
    read_checkpoint,
    read_hugging_face,
    read_json,
    read_tensors,
    require,
)
from tests.standins.machine import Machine
from tests.standins.quantization import converted
from tests.standins.voice import say
from trtspec.trtllm import facts
from trtspec.trtllm.versions import contains

Json = dict[str, Any]
LLAMA_LIKE = {"llama", "mistral", "mixtral"}
QWEN_LIKE = {"qwen", "qwen2"}
TIED_HEAD_FAILS = "<0.19"
READS_ROTARY_BASE = ">=1.1"
"""Where the scripts of Medusa and EAGLE take it from the model, whatever is given."""
REDRAFTERS = {
    "LlamaForCausalLM": "ReDrafterForLLaMALM",
    "QWenForCausalLM": "ReDrafterForQWenLM",
    "Qwen2ForCausalLM": "ReDrafterForQWenLM",
}


def convert(program: str, version: str, machine: Machine, arguments: Json) -> None:
    """Convert as the script of one family or method does.

    :raises Exception: whatever the script would raise.
    """
    del machine
    for name in ("meta_ckpt_dir", "quant_ckpt_path"):
        if arguments.get(name):
            raise SystemExit(f"the stand-in takes no --{name}")
    CONVERTERS[program](Version(version), arguments).write(arguments["output_dir"])
    say(f"Total time of converting checkpoints: 00:00:01 ({arguments['workers']})")


def base_checkpoint(
    base: HuggingFace, arguments: Json, program: str, accepted: set[str]
) -> Checkpoint:
    """The checkpoint of a base model on its own.

    :raises ValueError: its family is not among those accepted.
    """
    if base.family not in accepted:
        raise ValueError(
            f"Unsupported architecture {base.config.get('architectures')} "
            f"(model_type {base.family!r}) in {program}/convert_checkpoint.py"
        )
    config = pretrained_config(base.config, arguments)
    config["quantization"] = converted(arguments)
    tensors = cast_all(base.tensors, config["dtype"])
    made_by = ({"program": program, "arguments": arguments},)
    return Checkpoint(config, tensors, base.config, made_by)


def _llama(version: Version, arguments: Json) -> Checkpoint:
    base = read_hugging_face(arguments["model_dir"])
    if arguments.get("smoothquant") and contains(TIED_HEAD_FAILS, version):
        require(("lm_head.weight",), base.tensors)
    return base_checkpoint(base, arguments, "llama", LLAMA_LIKE)


def _qwen(version: Version, arguments: Json) -> Checkpoint:
    base = read_hugging_face(arguments["model_dir"])
    return base_checkpoint(base, arguments, "qwen", QWEN_LIKE)


def require_modelopt(model_dir: str | None) -> None:
    """Without a drafter's folder, the base must be one ModelOpt checkpoint.

    :raises AssertionError: it is none.
    """
    described = Path(model_dir or "") / "hf_quant_config.json"
    producer = described.is_file() and read_json(described).get("producer", {})
    assert (producer or {}).get("name") == "modelopt", (
        "without the drafter's folder, model_dir must be a ModelOpt checkpoint"
    )


def medusa_keys(arguments: Json, max_draft_len: int) -> Json:
    """What Medusa adds to config.json, once the heads are there.

    :raises KeyError: there are fewer heads, or layers in a head, than asked for.
    """
    heads, layers = arguments["num_medusa_heads"], arguments["num_medusa_layers"]
    if folder := arguments["medusa_model_dir"]:
        described = read_json(Path(folder) / "config.json")
        layers = described.get("medusa_num_layers", layers)
        found = {_without_prefix(name) for name in read_tensors(Path(folder))}
        for head in range(heads):
            wanted = [f"{head}.{layer}.linear.weight" for layer in range(layers)]
            require([*wanted, f"{head}.{layers}.weight"], dict.fromkeys(found))
    assert max_draft_len > 0, "should have max_medusa_token_len > 0"
    return {
        "architecture": "MedusaForCausalLM",
        "max_draft_len": max_draft_len,
        "num_medusa_heads": heads,
        "num_medusa_layers": layers,
    }


def _without_prefix(name: str) -> str:
    return re.sub(r"^medusa_heads?\.", "", name)


def _medusa(version: Version, arguments: Json) -> Checkpoint:
    base = read_hugging_face(arguments["model_dir"])
    if not arguments["medusa_model_dir"]:
        require_modelopt(arguments["model_dir"])
    model_type = arguments.get("model_type", "llama")
    checkpoint = base_checkpoint(base, arguments, "medusa", {model_type})
    keys = medusa_keys(arguments, arguments["max_medusa_token_len"])
    checkpoint.config.update(keys, model_type=model_type)
    checkpoint.config.update(_rotary(version, base, arguments))
    return checkpoint


def _eagle(version: Version, arguments: Json) -> Checkpoint:
    assert arguments["pp_size"] == 1, "EAGLE does not support pipeline parallelism"
    assert arguments["max_draft_len"] <= 256, "Max draft len must be <= 256"
    assert not arguments.get("smoothquant"), "EAGLE does not support smoothquant"
    base = read_hugging_face(arguments["model_dir"])
    checkpoint = base_checkpoint(base, arguments, "eagle", {"llama"})
    drafter: Json = {}
    if folder := arguments["eagle_model_dir"]:
        drafter = read_json(Path(folder) / "config.json")
        require(("fc.weight", "fc.bias"), read_tensors(Path(folder)))
    else:
        require_modelopt(arguments["model_dir"])
    checkpoint.config.update(
        _rotary(version, base, arguments),
        architecture="EagleForCausalLM",
        max_draft_len=arguments["max_draft_len"],
        num_eagle_layers=arguments["num_eagle_layers"],
        max_non_leaves_per_layer=arguments.get("max_non_leaves_per_layer", 10),
        eagle_net_config={
            "architecture": "LlamaForCausalLM",
            "num_hidden_layers": drafter.get("num_hidden_layers", 1),
        },
    )
    return checkpoint


def _rotary(version: Version, base: HuggingFace, arguments: Json) -> Json:
    """What Medusa's and EAGLE's config.json says of the rotary encoding."""
    if not contains(READS_ROTARY_BASE, version):
        scaling = arguments["rotary_scaling"]
        kind = scaling and {"type": scaling[0], "factor": float(scaling[1])}
        return {"rotary_base": arguments["rotary_base"], "rotary_scaling": kind}
    scaling = base.config.get("rope_scaling")
    return {
        "rotary_base": base.config.get("rope_theta", 10000.0),
        "rotary_scaling": scaling and {"type": scaling["rope_type"]},
    }


def _redrafter(version: Version, arguments: Json) -> Checkpoint:
    drafter = Path(arguments["drafter_model_dir"])
    described = read_json(drafter / "config.json")
    read_tensors(drafter)
    base = _redrafter_base(version, arguments)
    name = base.config["architecture"]
    two_step = "base_model_checkpoint_dir" in arguments
    base.config.update(
        architecture=REDRAFTERS[name] if two_step else "ReDrafterForCausalLM",
        base_model_architecture=name,
        dtype=arguments["dtype"],
        redrafter_num_layers=described.get("num_draft_layers", 2),
        redrafter_hidden_size=described.get("hidden_size"),
        redrafter_exit_dim=described.get("exit_dim"),
        redrafter_is_rnn=described.get("rnn", False),
        redrafter_num_beams=arguments["redrafter_num_beams"],
        redrafter_draft_len_per_beam=arguments["redrafter_draft_len_per_beam"],
        redrafter_greedy_search=not arguments["redrafter_no_greedy_search"],
    )
    return base


def _redrafter_base(version: Version, arguments: Json) -> Checkpoint:
    accepted = set(facts.targets("redrafter", version))
    if "base_model_checkpoint_dir" not in arguments:
        base = read_hugging_face(arguments["model_dir"])
        return base_checkpoint(base, arguments, "redrafter", accepted)
    given = read_checkpoint(arguments["base_model_checkpoint_dir"])
    mapping, name = given.config["mapping"], given.config["architecture"]
    assert mapping["tp_size"] == arguments["tp_size"], (
        f"tp_size {arguments['tp_size']} differs from the base's {mapping['tp_size']}"
    )
    assert mapping["pp_size"] == 1, "ReDrafter does not support pipeline parallelism"
    if name not in REDRAFTERS:
        raise ValueError(f"Unsupported architecture {name} in redrafter")
    made_by = (*given.made_by, {"program": "redrafter", "arguments": arguments})
    tensors = cast_all(given.tensors, arguments["dtype"])
    return Checkpoint(given.config, tensors, given.hf_config, made_by)


CONVERTERS = {
    "llama": _llama,
    "qwen": _qwen,
    "medusa": _medusa,
    "eagle": _eagle,
    "redrafter": _redrafter,
}
