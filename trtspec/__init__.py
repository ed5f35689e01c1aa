"""trtspec: speculative decoding on TensorRT-LLM, built, run, measured and proven."""

__version__ = "0.1.0"
