"""Published configurations and headers, spoilt somewhere, as directories."""

import json

from hypothesis import strategies as st

from tests.models import public_heads, public_layouts
from tests.models.public import BYTES, HEADS, INDEX, SINGLE, TARGETS, elements
from tests.models.tiny import write_tokenizer

SMALL = {
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 160,
    "draft_vocab_size": 32,
    "num_experts": 2,
    "num_local_experts": 2,
    "n_routed_experts": 2,
    "exit_dim": 128,
}
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.integers(-2, 3),
    st.floats(),
    st.sampled_from(["", "32", "auto", "\u0000", "é" * 20, [], {}, [None], {"a": []}]),
    st.lists(st.integers(-2, 70) | st.text(max_size=3), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)
DTYPES = st.sampled_from([*BYTES, "F4", "F64", "", "X", None, 8])


def shrunk(config):
    """Give a configuration with small sizes in place of its own."""
    small = {key: SMALL[key] for key in SMALL if key in config}
    if "head_dim" in config:
        small["head_dim"] = 16
    if "layer_types" in config:
        small["layer_types"] = config["layer_types"][: SMALL["num_hidden_layers"]]
    return {**config, **small}


def _published():
    for record in TARGETS.values():
        config = shrunk(record["config"])
        yield "model", config, public_layouts.tensors(config)
    for record in HEADS.values():
        config, kind = shrunk(record["config"]), record["kind"]
        sizes = {**record.get("sizes", {}), "hidden_size": 64, "vocabulary_rows": 160}
        yield kind, config, public_heads.tensors(kind, config, sizes)


PUBLISHED = list(_published())


@st.composite
def checkpoints(draw):
    """Give a kind, a configuration, headers, and what happens to the files."""
    kind, config, shapes = draw(st.sampled_from(PUBLISHED))
    config = dict(config)
    for _ in range(draw(st.integers(0, 3))):
        key = draw(st.sampled_from([*config, "text_config", "quantization_config"]))
        if draw(st.booleans()):
            config.pop(key, None)
        else:
            config[key] = draw(ODD)
    header = _header(shapes)
    for _ in range(draw(st.integers(0, 2))):
        name = draw(st.sampled_from(list(header)))
        field = draw(st.sampled_from(["shape", "dtype", "data_offsets", "", "gone"]))
        if field == "gone":
            del header[name]
        elif field:
            value = draw(DTYPES if field == "dtype" else ODD)
            header[name] = {**_entry(header[name]), field: value}
        else:
            header[name] = draw(ODD)
    return kind, config, header, draw(st.sampled_from(FILES))


def _entry(entry):
    return entry if isinstance(entry, dict) else {}


def _header(shapes):
    header, end = {}, 0
    for name, (dtype, shape) in shapes.items():
        begin, end = end, end + BYTES[dtype] * elements(shape)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}
    return header


def _whole(directory, name, header):
    text = json.dumps(header).encode("utf-8", "replace")
    ends = [_end(entry) for entry in header.values()]
    with (directory / name).open("wb") as stream:
        stream.write(len(text).to_bytes(8, "little") + text)
        stream.truncate(8 + len(text) + max(ends, default=0))


def _end(entry):
    offsets = _entry(entry).get("data_offsets")
    last = offsets[-1] if isinstance(offsets, list) and offsets else 0
    return last if type(last) is int and 0 <= last < 2**40 else 0


def _cut(directory, name, header):
    _whole(directory, name, header)
    data = (directory / name).read_bytes()[:4096]
    (directory / name).write_bytes(data[: len(data) // 2])


def _short(directory, name, header):
    _whole(directory, name, header)
    with (directory / name).open("r+b") as stream:
        stream.truncate((directory / name).stat().st_size - 1)


def _index(places):
    def write(directory, name, header):
        _whole(directory, "part.safetensors", header)
        content = places(header)
        text = content if isinstance(content, str) else json.dumps(content)
        (directory / INDEX).write_text(text)

    return write


def _nothing(directory, name, _header):
    (directory / name).write_bytes(b"")


def _pointer(directory, name, _header):
    text = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
    (directory / name).write_bytes(text)


FILES = (
    _whole, _whole, _whole, _whole, _cut, _short, _nothing, _pointer,
    _index(lambda header: {"weight_map": dict.fromkeys(header, "part.safetensors")}),
    _index(lambda header: {"weight_map": dict.fromkeys(header, INDEX)}),
    _index(lambda header: {"weight_map": dict.fromkeys(header, "absent.safetensors")}),
    _index(lambda header: {"weight_map": dict.fromkeys(header, "../part.safetensors")}),
    _index(lambda header: {"weight_map": {name: {} for name in header}}),
    _index(lambda header: {"weight_map": list(header)}),
    _index(lambda _header: "[" * 100_000),
    lambda directory, name, header: None,
)  # fmt: skip
"""What is on the disk: mostly all of it."""


def write(directory, kind, config, header, files):
    """Write a checkpoint as it was drawn."""
    for old in directory.iterdir():
        old.unlink()
    text = json.dumps(config)
    (directory / "config.json").write_text(text, encoding="utf-8", errors="replace")
    name = "medusa_lm_head.safetensors" if kind == "medusa" else SINGLE
    files(directory, name, header)
    if kind == "model":
        write_tokenizer(directory)
