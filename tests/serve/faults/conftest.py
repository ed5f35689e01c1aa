"""What all fault tests share."""

from tests.serve.faults.rig import model

__all__ = ["model"]
