"""Published models as directories of headers: real shapes, and not one weight."""

import json
from pathlib import Path

from tests.models import public_heads, public_layouts
from tests.models.tiny import write_tokenizer

FOLDER = Path(__file__).parent / "public"
BYTES = {"F32": 4, "BF16": 2, "F16": 2, "F8_E4M3": 1, "U8": 1, "I64": 8, "BOOL": 1}
SINGLE = "model.safetensors"
INDEX = "model.safetensors.index.json"


def records(*, heads):
    """Read what is published of targets, or of heads, by name."""
    found = [json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))]
    return {record["name"]: record for record in found if ("kind" in record) == heads}


TARGETS = records(heads=False)
HEADS = records(heads=True)


def with_one_expert(target):
    """Leave out what no head asks about, and takes most of the time to read."""
    given = target["config"]
    one = {name: 1 for name in ("num_experts", "n_routed_experts") if name in given}
    return {**target, "config": {**given, **one}}


def write_target(directory, record, *, tokenizer=True):
    """Write a target's configuration, tokenizer and headers."""
    _write_config(directory, record)
    if tokenizer:
        write_tokenizer(directory)
    shapes = public_layouts.tensors(record["config"])
    if dtype := record.get("stored_as"):
        shapes = {
            name: (dtype if "_proj." in name else old, shape)
            for name, (old, shape) in shapes.items()
        }
    write_headers(directory, shapes, record.get("files", 1))
    return directory


def write_head(directory, record):
    """Write a drafter's configuration and headers."""
    _write_config(directory, record)
    kind = record["kind"]
    shapes = public_heads.tensors(kind, record["config"], record.get("sizes", {}))
    name = "medusa_lm_head.safetensors" if kind == "medusa" else SINGLE
    write_header(directory / name, shapes)
    if kind == "model":
        write_tokenizer(directory)
    return directory


def write_headers(directory, shapes, files):
    """Write a model's headers into as many files as it is published in."""
    if files == 1:
        write_header(directory / SINGLE, shapes)
        return
    names = [f"model-{n + 1:05}-of-{files:05}.safetensors" for n in range(files)]
    parts, places = {name: {} for name in names}, {}
    for number, (tensor, shape) in enumerate(shapes.items()):
        places[tensor] = names[number % files]
        parts[places[tensor]][tensor] = shape
    for name, part in parts.items():
        write_header(directory / name, part)
    (directory / INDEX).write_text(json.dumps({"weight_map": places}))


def write_header(path, shapes):
    """Write a safetensors file whose tensors are a hole of the right size."""
    header, end = {}, 0
    for name, (dtype, shape) in shapes.items():
        begin = end
        end += BYTES[dtype] * elements(shape)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    with path.open("wb") as stream:
        stream.write(len(text).to_bytes(8, "little") + text)
        stream.truncate(8 + len(text) + end)


def elements(shape):
    count = 1
    for size in shape:
        count *= size
    return count


def _write_config(directory, record):
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "config.json").write_text(json.dumps(record["config"]))
    for name, content in record.get("beside", {}).items():
        (directory / name).write_text(json.dumps(content))
