"""Rules that both of TensorRT-LLM's backends have."""
