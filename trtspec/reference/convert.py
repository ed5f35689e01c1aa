"""How a checkpoint's files are brought to one dtype, the same bytes every time.

Run as a program (``python -m trtspec.reference.convert``) so that what the libraries
print, their memory and their crashes stay out of the process that builds.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trtspec.models.json_file import read_json_object
from trtspec.reference.settings_files import normalise, write_json

if TYPE_CHECKING:
    from torch import Tensor

_LONGEST_MESSAGE = 400

SINGLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
PICKLED_INDEX = "pytorch_model.bin.index.json"

_PICKLED = (".pt", ".bin")
_RENAMED = {"medusa_lm_head.safetensors": SINGLE}
"""A drafter's file of one method → what it is called once it is converted."""


def copy_checkpoint(source: Path, output: Path, names: list[str], dtype: str) -> None:
    """Copy files whose tensors have the wanted dtype already; torch is not needed.

    :param names: the checkpoint's files, relative to ``source``.
    """
    for name in names:
        shutil.copyfile(source / name, output / _RENAMED.get(name, name))
    normalise(output, dtype)


def cast_checkpoint(source: Path, output: Path, names: list[str], dtype: str) -> None:
    """Convert the floating-point tensors of each weight file; names stay the same."""
    weights = [name for name in names if name.endswith(".safetensors")]
    others = [name for name in names if name not in weights]
    copy_checkpoint(source, output, others, dtype)
    total = sum(
        _cast_file(source / name, output / _RENAMED.get(name, name), dtype)
        for name in weights
    )
    if (output / INDEX).is_file():
        index = read_json_object(output / INDEX)
        index["metadata"] = {**index.get("metadata", {}), "total_size": total}
        write_json(output / INDEX, index)


def _cast_file(source: Path, output: Path, dtype: str) -> int:
    """Convert one file; gives the bytes of its tensors."""
    import torch
    from safetensors import safe_open
    from safetensors.torch import save_file

    wanted: torch.dtype = getattr(torch, dtype)
    tensors: dict[str, Tensor] = {}
    with safe_open(str(source), framework="pt") as stored:
        for name in stored.keys():  # noqa: SIM118 - not a dict
            tensor = stored.get_tensor(name)
            tensors[name] = tensor.to(wanted) if tensor.is_floating_point() else tensor
    save_file(tensors, str(output), metadata={"format": "pt"})
    return sum(tensor.nbytes for tensor in tensors.values())


def unpickle_checkpoint(
    source: Path, output: Path, names: list[str], dtype: str
) -> None:
    """Make one safetensors file of pickled tensors; no code of theirs is run.

    :raises ValueError: if a file holds anything but tensors by name.
    """
    import torch
    from safetensors.torch import save_file

    from trtspec.reference.unpickle import read_pickled

    weights = [name for name in names if name.endswith(_PICKLED)]
    others = [name for name in names if name not in (*weights, PICKLED_INDEX)]
    copy_checkpoint(source, output, others, dtype)
    tensors: dict[str, Tensor] = {}
    for name in weights:
        tensors |= read_pickled(source / name, getattr(torch, dtype))
    save_file(tensors, str(output / SINGLE), metadata={"format": "pt"})


def load_gguf(source: Path, output: Path, names: list[str], dtype: str) -> None:
    """Let transformers undo a GGUF's quantization in float32, then round to dtype."""
    import torch
    from safetensors.torch import save_file
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from trtspec.reference.gguf_tokenizer import write_tokenizer

    (file,) = (name for name in names if name.endswith(".gguf"))
    model: Any = AutoModelForCausalLM.from_pretrained(
        source,
        gguf_file=file,
        dtype=torch.float32,
        local_files_only=True,
        trust_remote_code=False,
    )
    # the tensors saved below are plain ones
    model.config.__dict__.pop("quantization_config", None)
    model.to(getattr(torch, dtype))
    model.config.save_pretrained(output)
    if model.generation_config is not None:
        model.generation_config.save_pretrained(output)
    if not write_tokenizer(source / file, output):
        tokenizer: Any = AutoTokenizer.from_pretrained(
            source, gguf_file=file, local_files_only=True, trust_remote_code=False
        )
        tokenizer.save_pretrained(output)
    save_file(_untied(model), str(output / SINGLE), metadata={"format": "pt"})
    normalise(output, dtype)


def _untied(model: Any) -> dict[str, Tensor]:
    """Give each weight once: of tied ones the first, from which the others follow.

    (``save_model`` would note the others in the file's metadata, in random order.)
    """
    weights: dict[object, tuple[str, Tensor]] = {}
    for name, tensor in model.state_dict().items():
        place = (tensor.data_ptr(), tensor.shape)
        weights.setdefault(place, (name, tensor.contiguous()))
    return dict(weights.values())


def make_tokenizer(source: Path, output: Path) -> None:
    """Make the fast tokenizer of a checkpoint that only has the slow one's files."""
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(
        source, local_files_only=True, trust_remote_code=False
    )
    if not tokenizer.is_fast:
        raise ValueError("transformers cannot make a fast tokenizer from these files")
    tokenizer.save_pretrained(output)


WAYS: dict[str, Callable[[Path, Path, list[str], str], None]] = {
    "copy": copy_checkpoint,
    "cast": cast_checkpoint,
    "load": load_gguf,
    "unpickle": unpickle_checkpoint,
}


def main(arguments: list[str]) -> None:
    """Convert as the JSON object in the only argument says.

    :raises SystemExit: with one line that says what went wrong; the builder shows it.
    """
    task = json.loads(arguments[0])
    source, output = Path(task["source"]), Path(task["output"])
    try:
        WAYS[task["way"]](source, output, task["names"], task["dtype"])
        if task["make_tokenizer"]:
            make_tokenizer(source, output)
            normalise(output, task["dtype"])
    except Exception as error:
        traceback.print_exc()
        message = textwrap.shorten(str(error), _LONGEST_MESSAGE)
        raise SystemExit(f"{type(error).__name__}: {message}") from error


def end_with_parent() -> None:
    """End this process when its standard input closes: the builder is gone."""

    def wait() -> None:
        # unbuffered: a reader's lock would be in the way when this process ends
        while os.read(sys.stdin.fileno(), 1):
            pass
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


if __name__ == "__main__":
    end_with_parent()
    main(sys.argv[1:])
