"""Which forms of quantized weights a recipe can ask for."""

from typing import Literal

Quantization = Literal["none", "fp8", "nvfp4", "int4_awq", "int8_sq", "int8_wo"]
"""As TensorRT-LLM's quantize.py names them."""
