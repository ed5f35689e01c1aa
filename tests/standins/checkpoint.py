"""How are Hugging Face checkpoints read, and TensorRT-LLM's written and read?"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.standins import weights
from tests.standins.weights import Tensor

Json = dict[str, Any]


@dataclass(frozen=True)
class HuggingFace:
    """A checkpoint as transformers stores it."""

    config: Json
    tensors: dict[str, Tensor]

    @property
    def family(self) -> str:
        return str(self.config.get("model_type", ""))


def read_json(path: Path) -> Json:
    loaded: Json = json.loads(path.read_text())
    return loaded


def read_hugging_face(directory: str | None) -> HuggingFace:
    """Read configuration and all weights.

    :raises AssertionError: no directory was given.
    :raises FileNotFoundError: a part is missing.
    """
    assert directory, "--model_dir is needed"
    folder = Path(directory)
    return HuggingFace(read_json(folder / "config.json"), read_tensors(folder))


def read_tensors(folder: Path) -> dict[str, Tensor]:
    """All weights of a folder: safetensors, else pickled ones."""
    found: dict[str, Tensor] = {}
    for path in sorted(folder.glob("*.safetensors")):
        found.update(weights.read(path)[0])
    if not found:
        for path in sorted([*folder.glob("*.bin"), *folder.glob("*.pt")]):
            found.update(weights.read_pickled(path))
    if not found:
        raise FileNotFoundError(f"no weights in {folder}")
    return found


def infer_dtype(asked: str | None, config: Json) -> str:
    """``auto`` is the source's type, or float16 where that is float32 or unknown.

    Where a script's default is not established, it is float16, the older one.
    """
    if asked != "auto":
        return asked or "float16"
    source = str(config.get("torch_dtype") or config.get("dtype") or "float16")
    return "float16" if source not in ("float16", "bfloat16") else source


def pretrained_config(config: Json, arguments: Json) -> Json:
    """What a checkpoint's config.json says of a plain model."""
    heads = config["num_attention_heads"]
    kv_heads = config.get("num_key_value_heads") or heads
    return {
        "architecture": config["architectures"][0],
        "dtype": infer_dtype(arguments["dtype"], config),
        "logits_dtype": "float32",
        "hidden_size": config["hidden_size"],
        "num_hidden_layers": config["num_hidden_layers"],
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "head_size": config.get("head_dim") or config["hidden_size"] // heads,
        "intermediate_size": config["intermediate_size"],
        "vocab_size": config["vocab_size"],
        "hidden_act": config.get("hidden_act", "silu"),
        "norm_epsilon": config.get("rms_norm_eps", 1e-6),
        "position_embedding_type": "rope_gpt_neox",
        "max_position_embeddings": config["max_position_embeddings"],
        "rotary_scaling": config.get("rope_scaling"),
        "use_parallel_embedding": arguments.get("use_parallel_embedding", False),
        "embedding_sharding_dim": arguments.get("embedding_sharding_dim", 0),
        "mapping": mapping(arguments, heads, kv_heads),
        "quantization": {"quant_algo": None, "kv_cache_quant_algo": None},
        "runtime_defaults": None,
    }


def mapping(arguments: Json, heads: int, kv_heads: int) -> Json:
    """How ranks share the model.

    :raises AssertionError: the heads cannot be shared evenly.
    """
    tensor, pipeline = arguments["tp_size"], arguments.get("pp_size", 1)
    context = arguments.get("cp_size", 1)
    assert heads % tensor == 0, f"num_attention_heads {heads} % tp_size {tensor}"
    assert kv_heads % tensor == 0 or tensor % kv_heads == 0, (
        f"num_key_value_heads {kv_heads} and tp_size {tensor}"
    )
    return {
        "world_size": tensor * pipeline * context,
        "tp_size": tensor,
        "pp_size": pipeline,
        "cp_size": context,
        "gpus_per_node": 8,
    }


@dataclass(frozen=True)
class Checkpoint:
    """A converted checkpoint, or what an engine is made of.

    :ivar hf_config: configuration that transformers can load the tensors with.
    :ivar made_by: the calls that made it, each with all of its arguments.
    """

    config: Json
    tensors: dict[str, Tensor]
    hf_config: Json
    made_by: tuple[Json, ...]

    @property
    def world_size(self) -> int:
        return int(self.config["mapping"]["world_size"])

    def metadata(self) -> dict[str, str]:
        return {
            "hf_config": json.dumps(self.hf_config),
            "made_by": json.dumps(self.made_by),
        }

    def write_ranks(self, folder: Path, suffix: str, **metadata: str) -> None:
        """Rank 0 carries everything, the others one small tensor."""
        placeholder = {"placeholder": Tensor("U8", (1,), b"\0")}
        for rank in range(self.world_size):
            tensors = self.tensors if rank == 0 else placeholder
            path = folder / f"rank{rank}{suffix}"
            weights.write(path, tensors, {**self.metadata(), **metadata})

    def write(self, output_dir: str) -> None:
        folder = Path(output_dir)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps(self.config, indent=4))
        self.write_ranks(folder, ".safetensors")


def read_checkpoint(directory: str) -> Checkpoint:
    """Read a converted checkpoint.

    :raises FileNotFoundError: the configuration or a rank's weights are missing.
    """
    folder = Path(directory)
    config = read_json(folder / "config.json")
    for rank in range(config["mapping"]["world_size"]):
        path = folder / f"rank{rank}.safetensors"
        if not path.is_file():
            raise FileNotFoundError(f"[Errno 2] No such file or directory: '{path}'")
    tensors, metadata = weights.read(folder / "rank0.safetensors")
    return Checkpoint(
        config,
        tensors,
        json.loads(metadata["hf_config"]),
        tuple(json.loads(metadata["made_by"])),
    )


def cast_all(tensors: dict[str, Tensor], dtype: str) -> dict[str, Tensor]:
    return {name: tensor.cast(dtype) for name, tensor in tensors.items()}


def require(names: Iterable[str], tensors: dict[str, Tensor]) -> None:
    """Look tensors up as the scripts do.

    :raises KeyError: with the name of the first that is missing.
    """
    for name in names:
        tensors[name]
