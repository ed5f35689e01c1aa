"""What a server tells Prometheus."""

from trtspec.serve.metrics.metrics import Identity, ServerMetrics

__all__ = ["Identity", "ServerMetrics"]
