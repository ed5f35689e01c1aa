"""What trtspec knows of TensorRT-LLM, and how it drives it."""
