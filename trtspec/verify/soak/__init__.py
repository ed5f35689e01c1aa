"""Does an engine hold out: a load that goes up, down and anyhow, for a given time."""

from trtspec.verify.soak.record import Check, Level, Pace, Requests, SoakResult
from trtspec.verify.soak.run import run_soak

__all__ = ["Check", "Level", "Pace", "Requests", "SoakResult", "run_soak"]
