"""A package ``modelopt`` with the calls that quantizing makes; it changes no weight."""

from pathlib import Path

QUANTIZATION = """
def _config(kind, num_bits):
    return {
        "quant_cfg": {"*weight_quantizer": {"num_bits": num_bits}, "default": {}},
        "algorithm": "max",
        "kind": kind,
    }


FP8_DEFAULT_CFG = _config("FP8", (4, 3))
NVFP4_DEFAULT_CFG = _config("NVFP4", (2, 1))
INT4_AWQ_CFG = _config("W4A16_AWQ", 4)
FP8_KV_CFG = {"quant_cfg": {"*kv": {"num_bits": (4, 3)}, "default": {"enable": False}}}
NVFP4_KV_CFG = {"quant_cfg": {"*kv": {"num_bits": (2, 1)}}}


def quantize(model, config, forward_loop=None):
    seen = []
    handle = model.register_forward_pre_hook(
        lambda module, args, kwargs: seen.append(args[0].tolist()), with_kwargs=True
    )
    forward_loop(model)
    handle.remove()
    assert seen, "nothing was calibrated"
    assert config["quant_cfg"]["default"] == {}, "it switches the weights off"
    model.quantized = (config, seen)
    return model
"""
EXPORT = """
import json
from pathlib import Path

NAMES = {(4, 3): "FP8", (2, 1): "NVFP4"}


def export_hf_checkpoint(model, dtype=None, export_dir="/tmp", **options):
    config, seen = model.quantized
    cache = config["quant_cfg"].get("*kv")
    said = {
        "quant_algo": config["kind"],
        "kv_cache_quant_algo": cache and NAMES[cache["num_bits"]],
    }
    model.save_pretrained(export_dir)
    for name, content in (
        ("hf_quant_config.json", {"quantization": said}),
        ("seen.json", seen),
    ):
        (Path(export_dir) / name).write_text(json.dumps(content))
"""


def write_modelopt(site: Path) -> Path:
    """Write the package; gives the folder for PYTHONPATH."""
    package = site / "modelopt"
    for name, text in {
        "__init__.py": "",
        "torch/__init__.py": "",
        "torch/quantization/__init__.py": QUANTIZATION,
        "torch/export/__init__.py": EXPORT,
    }.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    return site
