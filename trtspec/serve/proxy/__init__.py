"""One front before servers of TensorRT-LLM: pools, routing, screening, counters."""
