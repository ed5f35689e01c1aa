"""Is speculation lossless by what configuration and environment say, asking nothing."""

from trtspec.verify.gate.asked import Asked
from trtspec.verify.gate.files import (
    KINDS,
    Configuration,
    configuration,
    read_configuration,
)
from trtspec.verify.gate.gate import gate, gate_artifact, gate_configuration
from trtspec.verify.gate.result import GateResult, Inspected

__all__ = [
    "KINDS",
    "Asked",
    "Configuration",
    "GateResult",
    "Inspected",
    "configuration",
    "gate",
    "gate_artifact",
    "gate_configuration",
    "read_configuration",
]
