"""How a head's tensors are read from safetensors by their public names, strictly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor, nn

from trtspec.errors import RunError


def tensor_names(directory: Path) -> frozenset[str]:
    """List the tensors in a checkpoint's safetensors files."""
    names: set[str] = set()
    for path in sorted(directory.glob("*.safetensors")):
        with safe_open(str(path), framework="pt") as stored:
            names.update(stored.keys())
    return frozenset(names)


def read_tensors(directory: Path, wanted: Mapping[str, str]) -> dict[str, Tensor]:
    """Read some tensors of a checkpoint.

    :param wanted: public names, and what to call them.
    """
    tensors: dict[str, Tensor] = {}
    for path in sorted(directory.glob("*.safetensors")):
        with safe_open(str(path), framework="pt") as stored:
            for name in sorted(wanted.keys() & set(stored.keys())):
                tensors[wanted[name]] = stored.get_tensor(name)
    return tensors


@torch.no_grad()
def fill(
    module: nn.Module,
    tensors: Mapping[str, Tensor],
    directory: Path,
    public: Callable[[str], str] = str,
) -> None:
    """Give a module its weights: each tensor of it, and no other.

    :param tensors: by the module's own names.
    :param directory: where they come from, for messages.
    :param public: gives the checkpoint's name of a tensor, for messages.
    :raises RunError: if a tensor is missing, left over, of another shape, or not
        finite.
    """
    wanted = module.state_dict()
    given = dict(tensors)
    for name in wanted.keys() - given.keys():
        if (merged := _merge_experts(name, given)) is not None:
            given[name] = merged
    _require_same(
        directory, [public(n) for n in sorted(wanted.keys() - given.keys())], "lacks"
    )
    _require_same(
        directory, [public(n) for n in sorted(given.keys() - wanted.keys())], "has also"
    )
    for name, tensor in wanted.items():
        if tensor.shape != given[name].shape:
            raise RunError(
                f"{public(name)} has shape {list(given[name].shape)}",
                where=str(directory),
                allowed=f"{list(tensor.shape)}, by this target model and config.json",
                action="give a checkpoint that was trained for this target model",
            )
        if not bool(given[name].isfinite().all()):
            raise RunError(
                f"{public(name)} holds values that are not finite",
                where=str(directory),
                action="get the checkpoint again, or train the head anew",
            )
        tensor.copy_(given[name])


def _require_same(directory: Path, names: list[str], verb: str) -> None:
    if names:
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        raise RunError(
            f"the head's checkpoint {verb} the tensor {names[0]}{more}",
            where=str(directory),
            allowed="the tensors of a head of this kind, and no others",
            action="get the checkpoint again, or give one made for this target model",
        )


def _merge_experts(name: str, given: dict[str, Tensor]) -> Tensor | None:
    """Stack what checkpoints keep per expert: [experts, out, in]; takes them away.

    transformers 5 keeps all experts of a layer in one tensor, gate above up.
    """
    prefix, dot, kind = name.rpartition(".experts.")
    parts = {"gate_up_proj": ("gate_proj", "up_proj"), "down_proj": ("down_proj",)}
    if not dot or kind not in parts:
        return None
    stacked: list[Tensor] = []
    while True:
        keys = [f"{prefix}.experts.{len(stacked)}.{p}.weight" for p in parts[kind]]
        if not all(key in given for key in keys):
            return torch.stack(stacked) if stacked else None
        stacked.append(torch.cat([given.pop(key) for key in keys]))
