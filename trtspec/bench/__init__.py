"""Speculation on against off: load, paired runs, metrics, conditions, verdicts."""
